package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// made is a recording of operations on one key, one after the other unless the
// hints come with times of their own: "invoke answer hints".
func made(t *testing.T, ops ...string) *recording {
	t.Helper()
	var text strings.Builder
	text.WriteString(`{"pinyon":"history","version":1}` + "\n")
	for i, o := range ops {
		var from, to int
		var hints string
		if _, err := fmt.Sscanf(o, "%d %d %s", &from, &to, &hints); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, `{"event":"invoke","id":%d,"f":"put","key":"k","node":"n%d","time":%d}`+"\n", i, i%2, from)
		fmt.Fprintf(&text, `{"event":"complete","id":%d,"outcome":"ok","time":%d,"hints":%s}`+"\n", i, to, hints)
	}
	r, err := read(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPhenomena(t *testing.T) {
	for _, c := range []struct {
		ops  []string
		want string // "": no more than who answered
	}{
		{[]string{`0 1 {"replica":0,"inst":1,"deps":[0,1]}`, `0 1 {"replica":1,"inst":1,"deps":[1,0]}`}, "1 pairs of instances depend on each other"},
		{[]string{`0 1 {"replica":0,"inst":1,"deps":[0,0]}`, `0 1 {"replica":1,"inst":1,"deps":[1,0]}`}, ""},
		{[]string{`0 1 {"replica":0,"inst":1,"deps":[0,1,0]}`, `0 1 {"replica":1,"inst":1,"deps":[0,0,1]}`, `0 1 {"replica":2,"inst":1,"deps":[1,0,0]}`}, "1 threes depend on each other in turn"},
		{[]string{`0 1 {"replica":0,"inst":1,"deps":[0,1,1]}`, `0 1 {"replica":1,"inst":1,"deps":[1,0,1]}`, `0 1 {"replica":2,"inst":1,"deps":[1,1,0]}`}, "3 pairs of instances depend on each other"},
		{[]string{`0 1 {"seqIdx":[1,2,1],"view":1}`, `0 1 {"seqIdx":[2,1,2],"view":1}`}, "logs disagree on the order of 1 of 1 neighbours"},
		{[]string{`0 1 {"seqIdx":[1,2,1],"view":1}`, `0 1 {"seqIdx":[2,3,2],"view":1}`}, ""},
		{[]string{`0 1 {"view":1}`, `2 3 {"view":2}`}, "the view changed: 2 of them"},
		{[]string{`0 1 {"zxid":7}`, `2 3 {"zxid":4}`}, "1 answers lag behind what had been answered before they were asked for, by at most 3"},
		{[]string{`0 2 {"zxid":7}`, `2 3 {"zxid":4}`}, ""}, // it had not been answered yet
		{[]string{`0 1 {"carstamp":[1,0,0]}`, `0 1 {"carstamp":[1,1,0]}`}, "2 carstamps have the number of another one"},
		{[]string{`0 1 {"carstamp":[1,0,0]}`, `2 3 {"carstamp":[1,0,0]}`}, "1 carstamps are those of several operations"},
		{[]string{`0 1 {"carstamp":[1,0,0]}`, `2 3 {"carstamp":[2,0,0]}`}, ""},
	} {
		var found []string
		for _, s := range made(t, c.ops...).phenomena() {
			if !strings.Contains(s, "answered by 2 replicas") && !strings.Contains(s, "command leaders") {
				found = append(found, s)
			}
		}
		want := []string{c.want}
		if c.want == "" {
			want = nil
		}
		if !slices.Equal(found, want) {
			t.Errorf("%v: %q, want %q", c.ops, found, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, text := range []string{"{", `{"event":"complete","id":0,"outcome":"ok","hints":{"zxid":"seven"}}`} {
		if _, err := read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
