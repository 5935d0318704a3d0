package spec

import (
	"fmt"
	"time"
)

// Kind is the answer. Unknown and Vacuous are never a pass.
type Kind uint8

// Consistent: an order exists. Violation: none does. Unknown: a budget ran
// out. Vacuous: nothing was tested.
const (
	Consistent Kind = iota
	Violation
	Unknown
	Vacuous
)

func (k Kind) String() string {
	return [...]string{"consistent", "violation", "unknown", "vacuous"}[k]
}

// ParseKind is the inverse of String.
func ParseKind(s string) (Kind, error) {
	for k := Consistent; k <= Vacuous; k++ {
		if k.String() == s {
			return k, nil
		}
	}
	return 0, fmt.Errorf("%q is no verdict; expected consistent, violation, unknown or vacuous", s)
}

// Worse combines the verdicts of parts (docs/ARCHITECTURE.md, section 12): any violation is a
// violation; else any unknown is unknown; else any consistent is consistent;
// else vacuous.
func Worse(a, b Kind) Kind {
	rank := [...]int{Consistent: 1, Violation: 3, Unknown: 2, Vacuous: 0}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// Verdict is the answer for one history.
type Verdict struct {
	Kind    Kind
	Model   string
	Level   string   // "linearizable", or "etcd-linearizable" with oracles
	Oracles []string // in force
	Parts   []Part   // by key in key order, or one Part for the whole
	Split   bool     // parts are keys
	Counts  Counts
	Notices []string // what a reader must know: hints missing, soft conflicts
	Elapsed time.Duration
}

// Counts are operations of the whole history.
type Counts struct {
	OK, Fail, Info int
	Constrained    int // outputs that had to fit
	Keys           int
}

// Part is the verdict for one key, or for the whole history. Operations are
// positions in the Subject's View.
type Part struct {
	Key     string
	Kind    Kind
	Ops     int
	Engine  string // what decided: "search", "order", "brute", "merge", or the name of a fast path
	Tried   string // a fast path that did not decide, and why; "" where none knows the object
	States  int64  // configurations visited
	Reason  string // why unknown or vacuous; "" otherwise
	Budget  string // unknown: "states", "time", "memory", or "cancelled"
	Placed  int    // unknown: most operations placed
	Culprit string // violation of the whole that one key's operations show alone: the key
	Skipped bool   // not checked: --fail-fast stopped before it

	Witness []int32 // consistent: the order found; optional operations that never happened are left out
	// Views are the orders of the processes, at levels where each has its own;
	// Process is the one whose view is impossible, of a violation there.
	Views   []ViewOrder
	Process string
	// Saw says which write each operation saw, and Arbitration is an order of
	// the writes: consistent, at the levels that ask for them.
	Saw         []SawEdge
	Arbitration []int32
	// Orders are the witnesses at a level that is several levels at once, one
	// for each; Level is the one of them that a violation breaks.
	Orders  []LevelOrder
	Level   string
	Proof   *Proof // violation
	Explain *Explanation
	Elapsed time.Duration
}

// ViewOrder is the order in which one process may have seen the operations.
type ViewOrder struct {
	Process string
	Order   []int32
}

// LevelOrder is a witness for one level.
type LevelOrder struct {
	Level string
	Order []int32
}

// SawEdge says that an operation saw what Write left; -1: the initial value.
type SawEdge struct{ Op, Write int32 }

// Translate puts other positions in place of all operations of p, such as
// those of the whole for those of a part; negative ones stay.
func (p *Part) Translate(to func(x int32) int32) {
	up := func(x int32) int32 {
		if x < 0 {
			return x
		}
		return to(x)
	}
	list := func(xs []int32) {
		for i := range xs {
			xs[i] = up(xs[i])
		}
	}
	list(p.Witness)
	for _, v := range p.Views {
		list(v.Order)
	}
	for _, o := range p.Orders {
		list(o.Order)
	}
	for i, e := range p.Saw {
		p.Saw[i] = SawEdge{up(e.Op), up(e.Write)}
	}
	list(p.Arbitration)
	if p.Proof != nil {
		p.Proof.Translate(up)
	}
	if p.Explain != nil {
		p.Explain.Translate(up)
	}
}

// ProofKind says what refutes.
type ProofKind string

// The kinds of proof. A cycle needs no model; Exhausted is a search's word, at
// levels without a single order together with how one of its tries failed.
const (
	ProofCycle     ProofKind = "cycle"     // hard edges that form a circle
	ProofExhausted ProofKind = "exhausted" // every order was tried
	ProofCore      ProofKind = "core"      // a few operations that are impossible by themselves
	ProofPattern   ProofKind = "pattern"   // operations in a relation that the level forbids; see Words
	ProofHints     ProofKind = "hints"     // hints of a few operations that contradict each other without any order; see Words
)

// Proof refutes a part.
type Proof struct {
	Kind  ProofKind
	Cycle []Edge
	Ops   []int32 // of a pattern, a core or contradicting hints
	Words string  // what the pattern is, of its operations in order; what contradicts what
	// Name is the pattern, and Steps are what it rests on, each one on those
	// before it; empty for the findings of an analysis.
	Name  Pattern
	Steps []Step
	// Hinted is the order that hints say of the operations of a core.
	Hinted []Edge
	// HintsOnly: every edge of the cycle comes from hints ("hints contradict
	// each other"); HintEdge: at least one does.
	HintsOnly, HintEdge bool
}

// Translate puts other positions in place of all operations of p, as that of a
// Part does.
func (p *Proof) Translate(up func(x int32) int32) {
	for i, e := range p.Cycle {
		p.Cycle[i].From, p.Cycle[i].To = up(e.From), up(e.To)
	}
	for i, e := range p.Hinted {
		p.Hinted[i].From, p.Hinted[i].To = up(e.From), up(e.To)
	}
	for i := range p.Ops {
		p.Ops[i] = up(p.Ops[i])
	}
	for i, s := range p.Steps {
		p.Steps[i] = Step{From: up(s.From), To: up(s.To), Why: s.Why, Read: up(s.Read), After: up(s.After)}
	}
}

// Edge is one order constraint, from before to, with its reason.
type Edge struct {
	From, To int32
	Source   string // "real time", "session", or the oracle's name
	Why      string // the numbers behind it
}

// Explanation says in operations why no order exists, as far as the search
// got: the longest order found, and the operation that cannot follow.
type Explanation struct {
	Prefix  []int32 // an order of operations as long as any that was found
	Op      int32   // the operation that cannot be placed; -1: none stands out
	Before  int32   // the last operation with an answer before it; -1: none
	State   string  // the object's state after Prefix, in words
	Forced  []Edge  // hard order from updates at the end of Prefix to Op, last step first
	Refused []Refusal
	// AtReturn: the history up to the return of Op, and no further, is already
	// impossible, and up to the return before it, it is possible.
	AtReturn bool
}

// Translate is Part.Translate for an explanation.
func (e *Explanation) Translate(to func(x int32) int32) {
	for i, x := range e.Prefix {
		e.Prefix[i] = to(x)
	}
	for i, f := range e.Forced {
		e.Forced[i].From, e.Forced[i].To = to(f.From), to(f.To)
	}
	e.Op, e.Before = to(e.Op), to(e.Before)
	for i, r := range e.Refused {
		e.Refused[i].Op, e.Refused[i].After = to(r.Op), to(r.After)
		if r.Demander != nil {
			d := to(*r.Demander)
			e.Refused[i].Demander = &d
		}
	}
}

// Refusal says why one operation cannot come next.
type Refusal struct {
	Op    int32
	After int32 // the operation that must come first and has not; -1: none
	// Demander is the operation that still needs the value which Op would
	// overwrite for good; nil: that is not the reason.
	Demander *int32
	Why      string
}
