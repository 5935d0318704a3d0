package kvstores

import (
	"cmp"
	"slices"
)

// epaxosExecution is the order in which a replica executes what is committed.
type epaxosExecution struct {
	bug     string
	state   Machine
	pending []*epaxosEntry         // committed, not executed, in the order of the commits
	done    map[operation]epaxosID // which instance a request was carried out as
	count   int64
	trace   []epaxosID // in the order of execution, where it is wanted
	traced  bool
}

func newEpaxosExecution(bug string) epaxosExecution {
	return epaxosExecution{bug: bug, state: Machine{}, done: map[operation]epaxosID{}}
}

// advance executes all that can be, and answers whoever waits for it; held.
func (e *epaxos) advance() {
	left := e.run.pending[:0]
	for _, x := range e.run.pending {
		if !x.executed && e.ripe(x) {
			e.executeFrom(x)
		}
		if !x.executed {
			left = append(left, x)
		}
	}
	clear(e.run.pending[len(left):])
	e.run.pending = left
}

// ripe reports whether what x was last seen to wait for is committed; held.
func (e *epaxos) ripe(x *epaxosEntry) bool {
	return x.missing == nil || x.missing.Inst < e.front[x.missing.Replica]
}

// executeFrom executes x and what comes before it, unless something that it
// depends on, itself or through others, is not committed yet.
func (e *epaxos) executeFrom(x *epaxosEntry) {
	list, missing := epaxosOrder(x, e.before, e.run.bug == noTieBreak)
	if missing != nil {
		x.missing = missing
		return
	}
	for _, y := range list {
		e.execute(y)
	}
}

// before returns what x depends on and is not executed yet, or an instance that
// must be committed before that is known.
func (e *epaxos) before(x *epaxosEntry) (list []*epaxosEntry, missing *epaxosID) {
	if x.Request == nil {
		return nil, nil
	}
	k := e.keys[x.Request.Key]
	skips := e.run.bug == skipCommitted && isRead(x.Request.F)
	for q, last := range x.Deps {
		if last >= e.front[q] && !skips {
			return nil, &epaxosID{q, last}
		}
		row := k.list[q]
		for k.done[q] < len(row) && row[k.done[q]].executed {
			k.done[q]++
		}
		for _, y := range row[k.done[q]:] {
			if y.ID.Inst > last {
				break
			}
			if !y.executed && y.Request != nil && y.Stage == committed {
				list = append(list, y)
			}
		}
	}
	return list, nil
}

// execute carries an entry out. A request that was carried out as another
// instance is not repeated, and who asked again is told nothing for sure.
func (e *epaxos) execute(x *epaxosEntry) {
	x.executed = true
	e.run.count++
	if e.run.traced {
		e.run.trace = append(e.run.trace, x.ID)
	}
	switch {
	case x.Request == nil:
		x.reply = unknown("no majority took it over; another node may have been asked for it")
	case e.repeated(x):
		x.reply = unknown("it was asked for before, and is carried out once")
	default:
		x.reply = e.run.state.Apply(*x.Request)
		if x.reply.Outcome == Fail { // it stands in the dependencies of others, which only an answer can say
			x.reply = unknown(x.reply.Error)
		}
	}
	for _, w := range e.waiting[x.ID] {
		w <- e.hinted(x)
	}
	delete(e.waiting, x.ID)
}

// repeated notes that a request is carried out, unless it has been.
func (e *epaxos) repeated(x *epaxosEntry) bool {
	if x.Request.Client == "" {
		return false
	}
	if _, known := e.run.done[x.Request.operation()]; known {
		return true
	}
	e.run.done[x.Request.operation()] = x.ID
	return false
}

// epaxosOrder returns root and all that it depends on, itself or through
// others, in the order of execution: strongly connected components of the
// dependencies in their order (Tarjan, "Depth-First Search and Linear Graph
// Algorithms", SIAM J. Comput. 1972, finds them so), and inside a component by
// seq, then by replica and instance. Where before says that something is
// missing, nothing can be executed yet. With asLearnt, which is a mistake, a
// component goes in the order of its commits.
func epaxosOrder(root *epaxosEntry, before func(*epaxosEntry) ([]*epaxosEntry, *epaxosID), asLearnt bool) (order []*epaxosEntry, missing *epaxosID) {
	t := tarjan{before: before, number: map[*epaxosEntry]int{}, low: map[*epaxosEntry]int{}}
	if missing = t.visit(root); missing != nil {
		return nil, missing
	}
	for _, component := range t.components {
		slices.SortFunc(component, func(a, b *epaxosEntry) int {
			if asLearnt {
				return cmp.Compare(a.learnt, b.learnt)
			}
			return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ID.Replica, b.ID.Replica), cmp.Compare(a.ID.Inst, b.ID.Inst))
		})
		order = append(order, component...)
	}
	return order, nil
}

type tarjan struct {
	before     func(*epaxosEntry) ([]*epaxosEntry, *epaxosID)
	number     map[*epaxosEntry]int // in the order of the visits, from 1
	low        map[*epaxosEntry]int // the least number that it reaches; 0 once its component is known
	stack      []*epaxosEntry
	components [][]*epaxosEntry
}

func (t *tarjan) visit(x *epaxosEntry) (missing *epaxosID) {
	list, missing := t.before(x)
	if missing != nil {
		return missing
	}
	n := len(t.number) + 1
	t.number[x], t.low[x] = n, n
	t.stack = append(t.stack, x)
	for _, y := range list {
		switch {
		case t.number[y] == 0:
			if missing = t.visit(y); missing != nil {
				return missing
			}
			t.low[x] = min(t.low[x], t.lowest(y))
		case t.low[y] != 0:
			t.low[x] = min(t.low[x], t.number[y])
		}
	}
	if t.low[x] == n {
		t.pop(x)
	}
	return nil
}

// lowest is what y reaches, or nothing below where its component is known.
func (t *tarjan) lowest(y *epaxosEntry) int {
	if t.low[y] == 0 {
		return t.number[y]
	}
	return t.low[y]
}

// pop takes the component of x from the stack.
func (t *tarjan) pop(x *epaxosEntry) {
	at := slices.Index(t.stack, x)
	component := slices.Clone(t.stack[at:])
	t.stack = t.stack[:at]
	for _, y := range component {
		t.low[y] = 0
	}
	t.components = append(t.components, component)
}
