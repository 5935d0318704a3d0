package harness

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/kvstores"
)

// In a recorded history of every correct store, one read altered, one
// successful compare-and-set that succeeds twice, and one overwritten value
// that comes back are each convicted at the level that the store claims, and
// without its hints: the levels have teeth on what stores really do.
func TestTeeth(t *testing.T) {
	for _, s := range kvstores.Stores() {
		if s.Wrong != "" || s.Model != "kv" {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			target := fixtureOf(t, s.Name, "")
			c := Config{Target: target, Keys: 2, Ops: 300, Duration: 8 * time.Second, Timeout: 2 * time.Second, Seed: 3}
			c.Mix = Mix{{"get", 50}, {"put", 30}}
			if slices.Contains(target.Claim().Ops, "cas") {
				c.Mix = append(c.Mix, Share{"cas", 20})
			}
			path := recorded(t, c).History
			text, err := os.ReadFile(path)
			must(t, err)
			convict(t, "as recorded", parsed(t, text), spec.Consistent)
			for _, bite := range []struct {
				what string
				do   func(*history.Raw) bool
			}{{"one read altered", alterRead}, {"one cas that succeeds twice", doubleCas}, {"an overwritten value comes back", bringBack}} {
				h := parsed(t, text)
				if bite.what != "one cas that succeeds twice" || len(c.Mix) > 2 {
					if !bite.do(h) {
						t.Errorf("%s: nothing of the kind in %d operations", bite.what, len(h.Ops))
						continue
					}
					convict(t, bite.what, h, spec.Violation)
				}
			}
		})
	}
}

// convict checks h without its hints.
func convict(t *testing.T, what string, h *history.Raw, want spec.Kind) {
	t.Helper()
	for i := range h.Ops {
		h.Ops[i].Hints = nil
	}
	must(t, history.Validate(h))
	v, _, err := Checker{Oracles: []string{}, Budget: 20 * time.Second, Workers: 1}.check(t.Context(), h)
	if err != nil || v.Kind != want {
		t.Errorf("%s: %v %v, want %s (%d operations)", what, v, err, want, len(h.Ops))
	}
}

// alterRead lets one read return what nobody wrote.
func alterRead(h *history.Raw) bool {
	for i := len(h.Ops) / 2; i < len(h.Ops); i++ {
		if op := &h.Ops[i]; op.F == "get" && op.Outcome == history.OK {
			op.Out = history.Int(1 << 40)
			return true
		}
	}
	return false
}

// doubleCas lets a compare-and-set that succeeded do so again, for another
// client, right after.
func doubleCas(h *history.Raw) bool {
	for i, op := range h.Ops {
		if op.F != "cas" || op.Outcome != history.OK || op.Out != history.True {
			continue
		}
		process := 0
		for _, o := range h.Ops {
			process = max(process, o.Process+1)
		}
		op.Process = process
		op.Invoke = op.Return + h.Header.ClockError.All + 1
		op.Return = op.Invoke + 1
		h.Ops = append(h.Ops, op)
		h.Origins = append(h.Origins, h.Origins[i])
		if h.IDs != nil {
			h.IDs = append(h.IDs, slices.Max(h.IDs)+1)
		}
		if h.Processes != nil {
			h.Processes = append(h.Processes, history.String(fmt.Sprint("twice", process)))
		}
		slices.SortStableFunc(h.Ops, func(a, b history.Op[history.Value, history.Value]) int { return int(a.Invoke - b.Invoke) })
		h.IDs, h.Origins = nil, nil
		return true
	}
	return false
}

// bringBack lets the last read of some client return a value that it had seen
// long before, and had seen overwritten.
func bringBack(h *history.Raw) bool {
	type session struct {
		process int
		key     string
	}
	first := map[session]history.Value{}
	last := map[session]int{}
	best, age := -1, 0
	began, since := map[session]int{}, map[session]int{}
	for i, op := range h.Ops {
		if op.Outcome != history.OK || op.F != "get" && op.F != "put" {
			continue
		}
		s := session{op.Process, op.Key}
		value := op.In
		if op.F == "get" {
			value = op.Out
		}
		if _, ok := first[s]; !ok && value != history.Null {
			first[s], began[s] = value, i
		}
		if _, ok := last[s]; ok && op.F == "get" && since[s] > 3 && i-began[s] > age && op.Out != first[s] {
			best, age = i, i-began[s]
		}
		last[s] = i
		since[s]++
	}
	if best < 0 {
		return false
	}
	h.Ops[best].Out = first[session{h.Ops[best].Process, h.Ops[best].Key}]
	return true
}
