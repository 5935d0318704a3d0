package faultnet

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the files below testdata")

func encode(t testing.TB, s Schedule) string {
	t.Helper()
	var b bytes.Buffer
	must(t, Encode(&b, s))
	return b.String()
}

// TestPinnedSchedules: seed 7 means these bytes, in every version.
func TestPinnedSchedules(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		s, err := Plan(name, 7, cluster(3), 8*time.Second)
		must(t, err)
		path := filepath.Join("testdata", name+".jsonl")
		if *update {
			must(t, os.WriteFile(path, []byte(encode(t, s)), 0o644))
		}
		want, err := os.ReadFile(path)
		must(t, err)
		if got := encode(t, s); got != string(want) {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}

// TestRoundTrip: what was written is read back, of every profile.
func TestRoundTrip(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		plans(t, name, func(s Schedule) {
			if s.Seed%15 != 0 {
				return // enough is enough
			}
			text := encode(t, s)
			back, err := Decode(strings.NewReader(text), "x")
			if err != nil || !reflect.DeepEqual(back, s) {
				t.Errorf("%v\n%+v\n%+v", err, back, s)
			}
			if again := encode(t, back); again != text {
				t.Errorf("%s\nbecomes\n%s", text, again)
			}
		})
	})
}

const someHeader = `{"pinyon":"schedule","version":1,"profile":"mine","seed":3,"duration":"8s","nodes":["n1","n2","n3"],"clients":[{"name":"c1","node":"n1"}]}` + "\n"

// TestDecodeByHand: what a person writes need not be what Encode writes.
func TestDecodeByHand(t *testing.T) {
	text := strings.TrimSuffix(someHeader, "\n") + "\r\n" +
		` { "kind" : "delay", "links":["*>n2","c1>n1"], "way":"forward", "delay":"0.05s", "at":"1000ms", "for":"1m0s" } `
	text = strings.Replace(text, `"8s"`, `"2m"`, 1)
	s, err := Decode(strings.NewReader(text), "mine.jsonl") // without a last newline
	must(t, err)
	want := Step{At: time.Second, For: time.Minute, Kind: Delay, Way: Forward, Links: []Link{{"*", "n2"}, {"c1", "n1"}}, Delay: 50 * time.Millisecond}
	if len(s.Steps) != 1 || !reflect.DeepEqual(s.Steps[0], want) || s.Duration != 2*time.Minute || s.Profile != "mine" || s.Seed != 3 {
		t.Errorf("%+v\nwant the step %+v", s, want)
	}
}

// mistake is a text that is no schedule, and what Decode says of it.
type mistake struct{ text, want string }

// TestDecodeRefuses: each mistake by its line, and what was expected instead.
func TestDecodeRefuses(t *testing.T) {
	for _, c := range append(headerMistakes(t), stepMistakes()...) {
		s, err := Decode(strings.NewReader(c.text), "x")
		if err == nil || !strings.Contains(err.Error(), c.want) || !reflect.DeepEqual(s, Schedule{}) {
			t.Errorf("%.300s\ngives %v\nwant  %s", c.text, err, c.want)
		}
	}
	if _, err := Decode(failing{}, "x"); !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "x:1: ") {
		t.Errorf("a reader that fails: %v", err)
	}
}

func headerMistakes(t *testing.T) []mistake {
	head := func(old, new string) string {
		if !strings.Contains(someHeader, old) {
			t.Fatalf("no %s", old)
		}
		return strings.Replace(someHeader, old, new, 1)
	}
	return []mistake{
		{"", `x:1: an empty file; expected a header, {"pinyon":"schedule"`},
		{"\n", "x:1: the line ends early; expected a JSON object"},
		{"[1]\n", "x:1: another JSON value; expected a JSON object"},
		{head(`"schedule"`, `"history"`), `x:1: pinyon is "history"; expected "schedule"`},
		{head(`"version":1`, `"version":2`), "x:1: version 2; expected 1"},
		{head(`"version":1`, `"version":1.5`), "x:1: version: 1.5; expected an integer"},
		{head(`"seed":3`, `"seed":-3`), "x:1: seed: -3; expected an integer, 0 or more"},
		{head(`"seed":3,`, ``), `x:1: no field "seed"; expected pinyon, version, profile, seed, duration, nodes, clients`},
		{head(`"8s"`, `8`), `x:1: duration: 8; expected a duration as a string, like "1.2s"`},
		{head(`"8s"`, `"-8s"`), "x:1: duration -8s; expected one above 0"},
		{head(`"8s"`, `"8"`), `x:1: duration: "8"; expected a duration like "1.2s"`},
		{head(`"n2",`, `"",`), "x:1: an empty name; expected the name of a node or client"},
		{head(`"n2",`, `"n1",`), `x:1: "n1" is the name of two nodes or clients`},
		{head(`["n1","n2","n3"]`, `[]`), "x:1: a topology without nodes"},
		{head(`["n1","n2","n3"]`, `null`), "x:1: nodes: null; expected an array"},
		{head(`"n2"`, `2`), "x:1: nodes: element 1: 2; expected a string"},
		{head(`"node":"n1"`, `"node":"n9"`), `x:1: client "c1" dials "n9"; expected one of the nodes`},
		{head(`,"node":"n1"`, ``), `x:1: clients: element 0: no field "node"; expected name, node`},
		{head(`"seed"`, `"Seed"`), `x:1: unknown field "Seed"; expected pinyon,`},
	}
}

func stepMistakes() []mistake {
	step := func(s string) string {
		return someHeader + `{"at":"1s","for":"1s","kind":"pause","nodes":["n1"]}` + "\n" + s + "\n"
	}
	const two = `{"at":"2s","for":"1s",`
	return []mistake{
		{step(two), "x:3: the line ends early; expected the name of a field"},
		{step(two + `"kind":"pause","nodes":["n1"]`), "x:3: the line ends early; expected the end of the object"},
		{step(two + `"kind":"pause","nodes":["n1"]} {}`), "x:3: something after the object; expected the end of the line"},
		{step(""), "x:3: the line ends early; expected a JSON object"},
		{step(two + `"kind":"pause","nods":["n1"]}`), `x:3: unknown field "nods"; expected at, for, kind, way, links, nodes, delay, jitter, bytes_per_second, offset`},
		{step(two + `"kind":"pause","nodes":["n1"],"at":"2s"}`), `x:3: field "at" stands twice; expected it once`},
		{step(two + `"kind":"pause","nodes":["n1"],"way":null}`), "x:3: way: null; expected a string"},
		{step(two + `"kind":"cut","links":["n1>n2"]}`), `x:3: kind "cut"; expected one of delay, drop, stall, reset, refuse, throttle, kill, pause, clock`},
		{step(two + `"kind":"pass","links":["n1>n2"]}`), `x:3: kind "pass"; expected one of delay,`},
		{step(two + `"kind":"drop","way":"up","links":["n1>n2"]}`), `x:3: way: way "up": expected both, forward, backward`},
		{step(two + `"kind":"pause","nodes":["n9"]}`), `x:3: pause: unknown node "n9"; expected leader or one of ["n1" "n2" "n3"]`},
		{step(two + `"kind":"pause","nodes":["*"]}`), `x:3: pause: unknown node "*"`},
		{step(two + `"kind":"pause","nodes":["n2","n2"]}`), `x:3: pause: node "n2" stands twice`},
		{step(two + `"kind":"pause"}`), "x:3: pause: 0 links, 0 nodes; expected nodes only"},
		{step(two + `"kind":"pause","nodes":["n1"],"links":["n1>n2"]}`), "x:3: pause: 1 links, 1 nodes; expected nodes only"},
		{step(two + `"kind":"drop","nodes":["n1"]}`), "x:3: drop: 1 nodes, 0 links; expected links only"},
		{step(two + `"kind":"drop","links":["n1>"]}`), `x:3: links: element 0: link "n1>": an empty name`},
		{step(two + `"kind":"drop","links":["n1"]}`), `x:3: links: element 0: "n1" is no link; expected FROM>TO, as in n1>n2`},
		{step(two + `"kind":"drop","links":["n1>n1"]}`), `x:3: links: element 0: link "n1>n1": both ends are the same`},
		{step(two + `"kind":"drop","links":["n1>n9"]}`), `x:3: drop: unknown link "n1>n9"; expected one between the nodes`},
		{step(two + `"kind":"drop","links":["c1>n2"]}`), `x:3: drop: unknown link "c1>n2"`},
		{step(two + `"kind":"drop","links":["n1>n2","n1>n2"]}`), `x:3: drop: link "n1>n2" stands twice`},
		{step(`{"at":"-2s","for":"1s","kind":"pause","nodes":["n1"]}`), "x:3: at -2s; expected 0 or later"},
		{step(`{"at":"2s","for":"-1s","kind":"pause","nodes":["n1"]}`), "x:3: for -1s; expected more than 0"},
		{step(`{"at":"2s","for":"0s","kind":"pause","nodes":["n1"]}`), "x:3: for 0s; expected more than 0"},
		{step(`{"at":"2s","for":"6001ms","kind":"pause","nodes":["n1"]}`), "x:3: at 2s for 6.001s; expected an end within the run's 8s"},
		{step(`{"at":"2s","for":"2562047h47m16s","kind":"pause","nodes":["n1"]}`), "expected an end within the run's 8s"},
		{step(`{"at":"900ms","for":"1s","kind":"pause","nodes":["n2"]}`), "x:3: at 900ms is before the line above; expected steps in the order"},
		{step(`{"at":"1.5s","for":"1s","kind":"kill","nodes":["n1"]}`), "x:3: it begins at 1.5s on n1, which line 2 holds until 2s"},
		{step(`{"at":"1.5s","for":"1s","kind":"kill","nodes":["leader"]}`), "x:3: it begins at 1.5s on n1, which line 2 holds until 2s; expected one after the other (leader may be any node)"},
		{step(two+`"kind":"drop","links":["*>n1"]}`) + `{"at":"2.5s","for":"1s","kind":"stall","way":"backward","links":["n3>n1"]}`, "x:4: it begins at 2.5s on n3>n1 backward, which line 3 holds until 3s"},
		{step(two + `"kind":"delay","links":["n1>n2"]}`), "x:3: delay: delay and jitter are both 0"},
		{step(two + `"kind":"delay","delay":"-1s","links":["n1>n2"]}`), "x:3: delay: delay -1s, jitter 0s: expected none below 0"},
		{step(two + `"kind":"drop","delay":"1s","links":["n1>n2"]}`), "x:3: drop: takes neither delay nor jitter"},
		{step(two + `"kind":"throttle","links":["n1>n2"]}`), "x:3: throttle: 0 bytes per second: expected at least 1"},
		{step(two + `"kind":"clock","nodes":["n1"]}`), "x:3: clock: offset 0s; expected one that is not 0, with clock only"},
		{step(two + `"kind":"pause","offset":"1s","nodes":["n1"]}`), "x:3: pause: offset 1s; expected one that is not 0, with clock only"},
		{step(two + `"kind":"drop","offset":"1s","links":["n1>n2"]}`), "x:3: drop: offset 1s; expected it with clock only"},
		{step(two + `"kind":"kill","way":"forward","nodes":["n1"]}`), "x:3: kill: way, delay, jitter or bytes_per_second; expected them with faults of links only"},
		{step(two + "\"kind\":\"pause\",\"nodes\":[\"\xff\"]}"), "x:3: not UTF-8"},
		{step(strings.Repeat(" ", maxLine)), "x:3: a line of more than 16777216 bytes; expected one step a line"},
	}
}

var errBroken = errors.New("broken")

// failing neither reads nor writes.
type failing struct{}

func (failing) Read([]byte) (int, error)  { return 0, errBroken }
func (failing) Write([]byte) (int, error) { return 0, errBroken }

// TestEncodeRefuses: nothing is written that could not be read.
func TestEncodeRefuses(t *testing.T) {
	good, err := Plan("flaky", 1, cluster(3), 8*time.Second)
	must(t, err)
	if err := Encode(failing{}, good); !errors.Is(err, errBroken) {
		t.Errorf("a writer that fails: %v", err)
	}
	for want, spoil := range map[string]func(s *Schedule){
		"schedule: version 0; expected 1":               func(s *Schedule) { s.Version = 0 },
		"schedule: step 1: kind \"\"; expected one of":  func(s *Schedule) { s.Steps[1].Kind = "" },
		"schedule: step 1: it begins at 0s, before the": func(s *Schedule) { s.Steps[1].At = 0 },
		"which step 0 holds until":                      func(s *Schedule) { s.Steps[1] = s.Steps[0] },
	} {
		bad := good
		bad.Steps = append([]Step(nil), good.Steps...)
		spoil(&bad)
		var b bytes.Buffer
		if err := Encode(&b, bad); err == nil || !strings.Contains(err.Error(), want) || b.Len() > 0 {
			t.Errorf("%v, %d bytes written; want %s", err, b.Len(), want)
		}
	}
}

// FuzzDecode: whatever is read can be written and means the same; whatever is
// not says in which line.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	must(f, err)
	for _, path := range files {
		text, err := os.ReadFile(path)
		must(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Decode(bytes.NewReader(text), "x")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x:") {
				t.Errorf("an error without a line: %v", err)
			}
			return
		}
		out := encode(t, s)
		back, err := Decode(strings.NewReader(out), "x")
		if err != nil || encode(t, back) != out {
			t.Errorf("%s\nis read as\n%s\nand then %v", text, out, err)
		}
		for _, leader := range []string{"", s.Topology.Nodes[0]} {
			for _, step := range s.Steps {
				if r := step.Resolve(s.Topology, leader); r.NeedsLeader() {
					t.Errorf("%+v still needs the leader", r)
				}
			}
		}
	})
}
