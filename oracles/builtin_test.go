package oracles

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pinyon/engine/history"
	"pinyon/engine/order"
)

var builtinRuns = flag.Int("oracles.runs", 3_000, "random histories for each built-in oracle and its file")

// arrays are the hints that are arrays.
var arrays = []string{"deps", "seqIdx", "DIdx", "carstamp"}

// hinted makes operations with random hints of the given names: few values, so
// that ties and circles are common, now and then extremes, missing hints, and
// arrays that are too short.
func hinted(r *rand.Rand, names []string, n int) *history.View { return unevenly(r, names, n, 4) }

// unevenly is hinted, with fewer than so many elements in arrays that are too short.
func unevenly(r *rand.Rand, names []string, n, lengths int) *history.View {
	h := &history.Of[int, int]{}
	var read []bool
	uneven, wild := r.IntN(4) == 0, r.IntN(8) == 0
	number := func() history.Value {
		if wild {
			return history.Int(extremes[r.IntN(len(extremes))])
		}
		return history.Int(int64(r.IntN(5)))
	}
	for i := range n {
		invoke := int64(r.IntN(40))
		o := history.Op[int, int]{Process: i, F: []string{"put", "get", "append"}[r.IntN(3)], Key: fmt.Sprint(r.IntN(2)),
			Invoke: invoke, Return: invoke + int64(r.IntN(12))}
		if r.IntN(24) == 0 {
			o.Outcome = history.Info
		}
		for _, name := range names {
			switch {
			case r.IntN(40) == 0 || o.Outcome == history.Info:
			case slices.Contains(arrays, name):
				length := 3
				if uneven {
					length = r.IntN(lengths)
				}
				var list []history.Value
				for range length {
					list = append(list, number())
				}
				o.Hints = append(o.Hints, history.Hint{Name: name, Value: history.Array(list...)})
			case name == "leader" || name == "replica":
				o.Hints = append(o.Hints, history.Hint{Name: name, Value: history.Int(int64(r.IntN(3)))})
			default:
				o.Hints = append(o.Hints, history.Hint{Name: name, Value: number()})
			}
		}
		h.Ops, read = append(h.Ops, o), append(read, o.F == "get" && o.Outcome != history.Info)
	}
	v := history.NewView(h)
	v.Read = read
	for range v.N {
		v.In, v.Out = append(v.In, history.Int(int64(r.IntN(3)))), append(v.Out, history.Int(int64(r.IntN(3))))
	}
	return v
}

// fileOf loads the YAML form of a built-in oracle.
func fileOf(t *testing.T, name string) order.Oracle {
	t.Helper()
	path := "../testdata/oracles/" + name + ".yaml"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o, err := Load(path, data)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// findings are those of some rules, as text.
func findings(r *order.Rules) (list []string) {
	for _, f := range r.Findings {
		list = append(list, fmt.Sprint(f))
	}
	return list
}

// names of sources, each once, in order.
func sourceNames(sources []order.Source) (names []string) {
	for _, s := range sources {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// The built-in oracles and their YAML files order the same pairs, by rules of
// the same names, and find the same.
func TestBuiltinsEqualTheirFiles(t *testing.T) {
	for k, info := range Infos() {
		t.Run(info.Name, func(t *testing.T) {
			r, file := twinRand(uint64(4+k)), fileOf(t, info.Name)
			native, err := Lookup(info.Name)
			if err != nil {
				t.Fatal(err)
			}
			if file.Name != native.Name || file.AllKeys != native.AllKeys {
				t.Errorf("name or scope differ")
			}
			var count, found [2]int
			for range *builtinRuns {
				v := hinted(r, info.Hints, 8)
				x, errX := apply(file, v)
				y, errY := apply(native, v)
				if errX != nil || errY != nil {
					t.Fatalf("%v %v", errX, errY)
				}
				if !slices.Equal(findings(x), findings(y)) {
					t.Fatalf("findings differ:\n%v\n%v", findings(x), findings(y))
				}
				found[min(1, len(x.Findings))]++
				for _, pair := range [][2][]order.Source{{x.Hard, y.Hard}, {x.Soft, y.Soft}} {
					if !slices.Equal(sourceNames(pair[0]), sourceNames(pair[1])) {
						t.Fatalf("rules are named %v in YAML, %v in Go", sourceNames(pair[0]), sourceNames(pair[1]))
					}
				}
				sameOrder(t, v, x.Hard, y.Hard, &count)
				sameOrder(t, v, x.Soft, y.Soft, &[2]int{})
			}
			t.Logf("pairs unordered %d, ordered %d; histories without findings %d, with %d", count[0], count[1], found[0], found[1])
			if all := count[0] + count[1]; min(count[0], count[1])*100 < 15*all {
				t.Error("one kind of pairs is hardly tested")
			}
		})
	}
}

// sameOrder compares two lists of sources, rule by rule.
func sameOrder(t *testing.T, v *history.View, x, y []order.Source, count *[2]int) {
	t.Helper()
	for _, name := range sourceNames(x) {
		of := func(sources []order.Source) (list []order.Source) {
			for _, s := range sources {
				if s.Name == name {
					list = append(list, s)
				}
			}
			return list
		}
		xs, ys := of(x), of(y)
		for a := range int32(v.N) {
			for b := range int32(v.N) {
				p := a != b && precedes(xs, a, b)
				if q := a != b && precedes(ys, a, b); p != q {
					t.Fatalf("%s: %d before %d: %v in YAML, %v in Go\n%s", name, a, b, p, q, described(v))
				}
			}
		}
	}
	for a := range int32(v.N) {
		for b := range int32(v.N) {
			if a == b || v.Key[a] != v.Key[b] {
				continue
			}
			if precedes(x, a, b) {
				count[1]++
			} else {
				count[0]++
			}
		}
	}
}

// described lists the operations of a View with their hints.
func described(v *history.View) string {
	var b strings.Builder
	for i := range int32(v.N) {
		fmt.Fprintf(&b, "%d: key %s, read %v, info %v, [%d, %d]", i, v.KeyName[v.Key[i]], v.Read[i], v.Info[i], v.Call[i], v.Ret[i])
		for _, name := range v.Hints.Names() {
			if text, ok := v.Hints[name].Text(i); ok {
				fmt.Fprintf(&b, " %s %s", name, text)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
