package history

import (
	"strings"
	"testing"
)

// TestNestedSpecialValuesAreCheap: reading nested maps, sets and tags once
// took time exponential in their depth.
func TestNestedSpecialValuesAreCheap(t *testing.T) {
	for _, form := range [][2]string{{`{"$set":[`, `]}`}, {`{"$map":[[1,`, `]]}`}, {`{"$tag":["t",`, `]}`}, {`[`, `]`}, {`{"a":`, `}`}} {
		const depth = 60
		v, err := ParseValue(strings.Repeat(form[0], depth) + "7" + strings.Repeat(form[1], depth))
		if err != nil {
			t.Fatal(err)
		}
		for range depth {
			if ms, ok := v.Members(); ok {
				v = ms[0].Value
			} else {
				elems, _ := v.Elems()
				v = elems[len(elems)-1]
			}
		}
		if v != Int(7) {
			t.Errorf("%s: the innermost value is %s", form[0], v.Text())
		}
	}
}

// TestCanonicalReadsBack: what Elems and Members find is what was put in.
func TestCanonicalReadsBack(t *testing.T) {
	obj, _ := Object(Member{String("$kw"), Int(1)}, Member{String("x"), Null})
	one, _ := Object(Member{String("$kw"), String("a")})
	parts := []Value{Int(-3), String(`a"],{\`), Null, True, False, Keyword("k/w"), Symbol("s"), Char("newline"), Array(), Set(Int(2), Int(1)),
		Ratio(Int(1), Int(2)), Tag("inst", String("]")), obj, one, String("")}
	big, _ := Number("18446744073709551615")
	dec, _ := Number("-1.5e100")
	parts = append(parts, big, dec)
	got, ok := Array(parts...).Elems()
	if !ok || len(got) != len(parts) {
		t.Fatalf("%d elements, want %d", len(got), len(parts))
	}
	for i := range parts {
		if got[i] != parts[i] {
			t.Errorf("element %d is %s (%v), want %s (%v)", i, got[i].Text(), got[i].Kind(), parts[i].Text(), parts[i].Kind())
		}
	}
	if back, err := ParseValue(Array(parts...).Text()); err != nil || back != Array(parts...) {
		t.Errorf("parsing the text gives %v, %v", back.Text(), err)
	}
	if ms, _ := obj.Members(); len(ms) != 2 || ms[0].Key != String("$kw") || ms[1].Value != Null {
		t.Errorf("members %v", ms)
	}
}
