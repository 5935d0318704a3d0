// Package paths decides, in polynomial time, histories that a search may take
// forever on. A path knows one kind of object and answers with evidence that
// is checked before it leaves this package, or leaves the history to the
// search.
//
// The containers (queue, stack, priority queue) follow Bouajjani, Emmi, Enea,
// Hamza ("On Reducing Linearizability to State Reachability", ICALP 2015), Lee
// and Mathur ("Efficient Decrease-and-Conquer Linearizability Monitoring",
// OOPSLA 2025) and Abdulla and others ("Efficient Linearizability Monitoring",
// PLDI 2025), and add peeks and operations without an answer. The statements
// that the code rests on are in docs/ARCHITECTURE.md, section 16.
//
// Rules that hold everywhere:
//
//  1. Hard order is one interval order (order.Intervals): every operation takes
//     effect at a slot from in to out, ends included, and operations at one slot
//     in any order. All comparisons are of slots; nothing looks at times.
//  2. Consistent comes with an order of all required operations that was checked
//     against the hard order and replayed on a plain container and, up to
//     maxReplay operations, on the model.
//  3. A violation names operations that are impossible by themselves. The
//     caller checks that, too, where they are few.
//  4. When in doubt a path cannot tell, and says why.
package paths

import (
	"fmt"
	"strings"

	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// Path decides the histories of one kind of object.
type Path interface {
	// Name is what a verdict calls it.
	Name() string
	// Applies reports whether the path can be tried on p. Without a reason the
	// object is of another kind; otherwise the reason says what stands against
	// it.
	Applies(p *Problem) (ok bool, reason string)
	// Decide decides p, to which the path applies.
	Decide(p *Problem) Answer
}

// Problem is one history of one object under an order.
type Problem struct {
	Rules   *order.Rules
	Machine spec.Machine
	Graph   *order.Graph // the hard order without a circle, where it was made ready; may be nil
	Stop    func() bool  // asked now and then; nil: never

	timed    int8 // 1: in and out are known, -1: there are none
	in, out  []int64
	thinned  int8 // 1: thin is known, -1: there is none
	thin     []order.Source
	accesses *spec.Accesses
	locks    *spec.Locks
	members  *spec.Memberships
	tallies  *spec.Tallies
}

// Answer is what a path says.
type Answer struct {
	Kind    spec.Kind // Consistent, Violation, or Unknown: it cannot tell
	Witness []int32   // Consistent
	Core    []int32   // Violation: operations that are impossible by themselves, ascending
	// Words say what is wrong with the core where it is too large, or not closed
	// enough, to be looked at alone.
	Words  string
	Reason string // Unknown: why
	Broken bool   // Unknown: its evidence did not hold, which is a mistake of the path
}

// Late are the paths for what a short search left undecided.
var Late = []Path{sweepPath{}, stalePath{}}

// All are the paths that come before any search, in the order in which they are
// tried.
var All = []Path{
	&container{name: "queue", discipline: spec.FIFO, solve: solveQueue},
	&container{name: "stack", discipline: spec.LIFO, solve: solveStack},
	&container{name: "priority-queue", discipline: spec.ByPriority, solve: solvePriority},
	logPath{},
	orderedLogPath{},
	registerPath{},
	sweepPath{brief: true},
	mutexPath{},
	membersPath{},
	countPath{},
	manyPath{},
}

// Try asks some paths in turn. Where none decides, the answer is Unknown and
// its Reason tells what was tried; it is empty when no path knows the object.
func Try(p *Problem, list []Path) (a Answer, name string) {
	var reasons []string
	broken := false
	for _, path := range list {
		ok, reason := path.Applies(p)
		if ok {
			if a = path.Decide(p); a.Kind != spec.Unknown {
				if broken { // a mistake of one path is not hidden by another
					a.Reason = strings.Join(reasons, "; ")
				}
				return a, path.Name()
			}
			reason, broken = a.Reason, broken || a.Broken
		}
		if reason != "" {
			reasons = append(reasons, path.Name()+": "+reason)
		}
	}
	return Answer{Kind: spec.Unknown, Reason: strings.Join(reasons, "; "), Broken: broken}, ""
}

// Intervals is order.Intervals of the Rules, asked once.
func (p *Problem) Intervals() (in, out []int64, ok bool) {
	if p.timed == 0 {
		p.timed = -1
		if p.in, p.out, ok = order.Intervals(p.Rules); ok {
			p.timed = 1
		}
	}
	return p.in, p.out, p.timed > 0
}

// sparse is order.Graph.Sparse of the Rules, asked once.
func (p *Problem) sparse() (hard []order.Source, ok bool) {
	if p.thinned == 0 {
		p.thinned = -1
		g, v := p.Graph, p.Rules.View
		if g == nil {
			g = order.NewGraph(v.N, p.Rules.Hard, v.Info, v.Call, p.Stop)
		}
		if g != nil {
			if p.thin, ok = g.Sparse(); ok {
				p.thinned = 1
			}
		}
	}
	return p.thin, p.thinned > 0
}

// access is what the operations do, where the Machine knows; nil otherwise.
func (p *Problem) access() *spec.Accesses {
	if c, ok := p.Machine.(spec.Containers); ok && p.accesses == nil {
		p.accesses = c.Accesses()
	}
	return p.accesses
}

// readable is what every path over containers needs.
func (p *Problem) readable(d spec.Discipline) (ok bool, reason string) {
	if a := p.access(); a == nil || a.Discipline != d {
		return false, ""
	}
	if _, _, ok := p.Intervals(); !ok {
		return false, "the hard order is not one interval order"
	}
	return p.unique()
}

// unique reports whether the container holds one object only, whose elements
// all differ and whose operations are all understood.
func (p *Problem) unique() (ok bool, reason string) {
	v := p.Rules.View
	for _, k := range v.Key {
		if k != v.Key[0] {
			return false, "there are several keys"
		}
	}
	adds := make([]bool, p.accesses.Count)
	for i, kind := range p.accesses.Kind {
		switch {
		case kind == spec.AccessOther:
			return false, "an operation does what the path does not know"
		case kind == spec.AccessUnknown && !v.Info[i]:
			return false, "what an operation took out was not recorded"
		case kind != spec.AccessAdd:
		case adds[p.accesses.Value[i]]:
			return false, "two operations add the same element"
		default:
			adds[p.accesses.Value[i]] = true
		}
	}
	return true, ""
}

// stopped asks Stop.
func (p *Problem) stopped() bool { return p.Stop != nil && p.Stop() }

// check reports why line is no witness; "" when it is one. It looks at the
// times of each operation, at who is missing, and replays the line.
func (p *Problem) check(line []int32) string {
	in, out, _ := p.Intervals()
	seen := make([]bool, p.Rules.View.N)
	latest := int64(order.InNever)
	for _, x := range line {
		if seen[x] {
			return fmt.Sprintf("operation %d stands twice", x)
		}
		seen[x] = true
		if latest = max(latest, in[x]); out[x] < latest {
			return fmt.Sprintf("operation %d stands too late", x)
		}
	}
	for x, info := range p.Rules.View.Info {
		if !info && !seen[x] {
			return fmt.Sprintf("operation %d is missing", x)
		}
	}
	return p.replay(line)
}

// replay steps through line, on the plain container and on the model; "" where
// every step is legal.
func (p *Problem) replay(line []int32) string {
	at := replayed(p.accesses, line)
	if at == len(line) && at <= maxReplay {
		at = p.Machine.(spec.Containers).Replay(line)
	}
	if at < len(line) {
		return fmt.Sprintf("operation %d is not legal", line[at])
	}
	return ""
}

// maxReplay is the number of operations up to which an order is replayed on
// the model, too: its immutable states cost several microseconds a step.
const maxReplay = 50_000

// acceptOrder is accept where the hard order is a Graph.
func (p *Problem) acceptOrder(line []int32) Answer {
	why := ""
	f := p.Graph.NewFrontier()
	for _, x := range line {
		if !f.Ready(x) {
			why = fmt.Sprintf("operation %d stands too early or twice", x)
			break
		}
		f.Place(x)
	}
	if why == "" && f.Left > 0 {
		why = fmt.Sprintf("%d operations are missing", f.Left)
	}
	if why == "" {
		why = p.replay(line)
	}
	if why != "" {
		return Answer{Kind: spec.Unknown, Reason: "the order that it found does not hold: " + why, Broken: true}
	}
	return Answer{Kind: spec.Consistent, Witness: line}
}

// accept turns a line into an answer.
func (p *Problem) accept(line []int32) Answer {
	if why := p.check(line); why != "" {
		return Answer{Kind: spec.Unknown, Reason: "the order that it found does not hold: " + why, Broken: true}
	}
	return Answer{Kind: spec.Consistent, Witness: line}
}
