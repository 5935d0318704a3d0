package spec

import "slices"

// Discipline says which element of a container comes out next.
type Discipline uint8

// The disciplines. A log keeps what is added and is read by index.
const (
	NoDiscipline Discipline = iota
	FIFO                    // the one that was added first
	LIFO                    // the one that was added last
	ByPriority              // the greatest
	ByIndex                 // none: a log, whose entries keep their positions
)

// AccessKind is what one operation does to a container.
type AccessKind uint8

// What an operation does. The fields of Access that count stand in brackets.
const (
	AccessOther   AccessKind = iota // something that no kind here describes
	AccessNothing                   // no effect, and no information
	AccessAdd                       // adds an element (Value; log: Index, where the answer told it)
	AccessTake                      // takes the next element out (Value)
	AccessPeek                      // sees the next element (Value; log: the one at Index)
	AccessEmpty                     // sees that there is no element (log: none at Index)
	AccessUnknown                   // takes the next element or finds none: the answer is not known
	AccessList                      // log: sees all elements from Index on (List)
)

// Access is what one operation with this input and output does.
type Access struct {
	Kind  AccessKind
	Value any   // comparable
	Index int64 // of a log; -1: not known
	List  []any
}

// Container is a model's knowledge about a container that starts empty. The
// fast paths rest on it (docs/ARCHITECTURE.md, section 16), so it must say no
// more than the step does.
type Container[In, Out any] struct {
	Discipline Discipline
	// Access says what an operation does; out is nil when the answer is not
	// known. An element is added by Access.Value, and equal values are elements
	// that the answers cannot tell apart.
	Access func(in In, out *Out) Access
	// Compare orders elements by priority; 0 where neither comes out before the
	// other. For ByPriority only.
	Compare func(a, b any) int

	_ struct{}
}

// Accesses are what the operations of a View do to a container, by position,
// with values as numbers from 0 to Count-1.
type Accesses struct {
	Discipline Discipline
	Kind       []AccessKind
	Value      []int32           // -1: none
	Index      []int64           // ByIndex; else nil
	List       map[int32][]int32 // ByIndex: what AccessList saw
	Rank       []int32           // ByPriority: by value; the greatest comes out first
	Count      int
}

// Containers is implemented by a Machine over a container.
type Containers interface {
	Machine
	Replayer
	Accesses() *Accesses
}

// contained is typed for a model of a container.
type contained[S, In, Out any] struct{ *typed[S, In, Out] }

// Accesses implements Containers.
func (c *contained[S, In, Out]) Accesses() *Accesses {
	k, n := c.model.Container, c.view.N
	a := &Accesses{Discipline: k.Discipline, Kind: make([]AccessKind, n), Value: make([]int32, n)}
	if k.Discipline == ByIndex {
		a.Index, a.List = make([]int64, n), map[int32][]int32{}
	}
	var numbers numbering
	var values []any // by number; only where they are compared
	number := func(v any) int32 {
		x, fresh := numbers.of(v)
		if fresh && k.Discipline == ByPriority {
			values = append(values, v)
		}
		return x
	}
	for op := range int32(n) {
		what := c.access(op)
		a.Kind[op], a.Value[op] = what.Kind, -1
		switch what.Kind {
		case AccessAdd, AccessTake, AccessPeek:
			a.Value[op] = number(what.Value)
		case AccessList:
			list := make([]int32, len(what.List))
			for i, v := range what.List {
				list[i] = number(v)
			}
			a.List[op] = list
		}
		if a.Index != nil {
			a.Index[op] = what.Index
		}
	}
	a.Count = int(numbers.count)
	if k.Discipline == ByPriority {
		a.Rank = ranks(values, k.Compare)
	}
	return a
}

func (c *contained[S, In, Out]) access(op int32) Access {
	defer c.blame(op)
	return c.model.Container.Access(c.In[c.index[op]], c.out(op))
}

// ranks numbers values by priority; equal ones have equal numbers.
func ranks(values []any, compare func(a, b any) int) []int32 {
	order := make([]int32, len(values))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return compare(values[a], values[b]) })
	rank := make([]int32, len(values))
	for i := 1; i < len(order); i++ {
		rank[order[i]] = rank[order[i-1]]
		if compare(values[order[i-1]], values[order[i]]) != 0 {
			rank[order[i]]++
		}
	}
	return rank
}

// Replay implements Replayer.
func (c *contained[S, In, Out]) Replay(order []int32) int { return c.replay(order) }
