package harness

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"

	"pinyon/faultnet"
)

// Evidence is what is known of one fault: that it was planned, whether it was
// applied, and whether it was seen to work. A fault is verified when its probe
// passed before, was blocked during, and passed after, and, for a link, when
// the store itself had used the link shortly before.
type Evidence struct {
	Step     faultnet.Step `json:"-"` // as it was applied: the leader by name
	Kind     faultnet.Kind `json:"kind"`
	Hits     string        `json:"hits"`           // the links or nodes
	From     int64         `json:"from,omitempty"` // when it was applied, ns since the run started
	To       int64         `json:"to,omitempty"`   // when it was taken back
	Applied  bool          `json:"applied"`
	Verified bool          `json:"verified"`
	Probes   []Probe       `json:"probes,omitempty"`
	Error    string        `json:"error,omitempty"` // why it was not applied, or not taken back
}

// Probe is the evidence of one link or node.
type Probe struct {
	At     string `json:"at"`     // the link or node
	Busy   bool   `json:"busy"`   // the store itself used it shortly before
	Before bool   `json:"before"` // an exchange passed before the fault
	During bool   `json:"during"` // none passed, or only with the delay, during it
	After  bool   `json:"after"`  // one passed after it
}

func (p Probe) holds() bool { return p.Before && p.During && p.After }

// judge says whether the fault worked: every probe tells so, and at least one
// link or node that the store used was hit.
func (e *Evidence) judge() {
	e.Verified = e.Applied && e.Error == "" && len(e.Probes) > 0
	busy := false
	for _, p := range e.Probes {
		e.Verified = e.Verified && p.holds()
		busy = busy || p.Busy
	}
	e.Verified = e.Verified && busy
}

// FaultCount counts the faults of one kind.
type FaultCount struct {
	Kind                       faultnet.Kind
	Planned, Applied, Verified int
}

// countFaults counts by kind, sorted by it.
func countFaults(list []Evidence) (counts []FaultCount) {
	at := map[faultnet.Kind]*FaultCount{}
	for _, e := range list {
		c := at[e.Kind]
		if c == nil {
			c = &FaultCount{Kind: e.Kind}
			at[e.Kind] = c
		}
		c.Planned++
		if e.Applied {
			c.Applied++
		}
		if e.Verified {
			c.Verified++
		}
	}
	for _, c := range at {
		counts = append(counts, *c)
	}
	slices.SortFunc(counts, func(a, b FaultCount) int { return cmp.Compare(a.Kind, b.Kind) })
	return counts
}

// writeFaults writes the evidence as JSON Lines.
func writeFaults(path string, list []Evidence) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	enc := json.NewEncoder(f)
	for _, e := range list {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	return f.Close()
}
