package spec

// LockKind is what one operation does to a lock with owners.
type LockKind uint8

// What an operation does to a lock.
const (
	LockOther LockKind = iota // something that no kind here describes
	LockTake                  // takes it for Owner
	LockGive                  // Owner gives it back, who must hold it
	LockFail                  // sees that it cannot be had
	LockMaybe                 // takes it for Owner or not: the answer is not known
)

// LockUse is what one operation with this input and output does to a lock.
type LockUse struct {
	Kind  LockKind
	Owner any   // comparable
	Token int64 // of a take, where the lock is Fenced: greater than all before
}

// Lock is a model's knowledge about a lock that is free at first, that one
// owner holds at a time, and that only its holder gives back. The fast paths
// rest on it (docs/ARCHITECTURE.md, section 16), so it must say no more than
// the step does.
type Lock[In, Out any] struct {
	Reentrant bool // its holder may take it again, and gives it back as often
	Fenced    bool
	Use       func(in In, out *Out) LockUse

	_ struct{}
}

// MemberKind is what one operation does to a member of a set, which is there
// or not.
type MemberKind uint8

// What an operation does to a member. Enter and Leave are impossible where they
// would change nothing; Put and Drop are not.
const (
	MemberOther   MemberKind = iota // something that no kind here describes
	MemberNothing                   // no effect, and no information
	MemberEnter                     // it was not there and is now
	MemberLeave                     // it was there and is not now
	MemberIn                        // sees that it is there
	MemberOut                       // sees that it is not there
	MemberPut                       // it is there now
	MemberDrop                      // it is not there now
)

// MemberUse is what one operation with this input and output does.
type MemberUse struct {
	Kind   MemberKind
	Member any // comparable
}

// Members is a model's knowledge about an object made of parts that are there
// or not and do not see each other: the elements of a set, or one lock that
// anyone may release.
type Members[In, Out any] struct {
	Initial func(member any) bool // there at first; nil: none is
	Use     func(in In, out *Out) MemberUse

	_ struct{}
}

// CountKind is what one operation does to a number.
type CountKind uint8

// What an operation does to a number. The fields of CountUse that count stand
// in brackets.
const (
	CountOther   CountKind = iota // something that no kind here describes
	CountNothing                  // no effect, and no information
	CountAdd                      // adds (By)
	CountRead                     // sees it (Sum)
	CountAddGet                   // adds and sees the sum (By, Sum)
)

// CountUse is what one operation with this input and output does.
type CountUse struct {
	Kind    CountKind
	By, Sum int64
}

// Count is a model's knowledge about a number that is added to and read.
type Count[In, Out any] struct {
	Initial int64
	Use     func(in In, out *Out) CountUse

	_ struct{}
}

// Locks are what the operations of a View do to a lock, by position.
type Locks struct {
	Reentrant, Fenced bool
	Kind              []LockKind
	Owner             []int32 // -1: none
	Token             []int64
	Owners            int
}

// Memberships are what the operations of a View do to members, by position.
type Memberships struct {
	Kind   []MemberKind
	Member []int32 // -1: none
	Start  []bool  // by member
}

// Tallies are what the operations of a View do to a number, by position.
type Tallies struct {
	Initial int64
	Uses    []CountUse
}

// Effects is implemented by a Machine that knows a lock, members or a number;
// what it does not know is nil.
type Effects interface {
	Machine
	Replayer
	Locks() *Locks
	Members() *Memberships
	Tallies() *Tallies
}

// effective is typed for a model with such knowledge.
type effective[S, In, Out any] struct{ *typed[S, In, Out] }

// Replay implements Replayer.
func (e *effective[S, In, Out]) Replay(order []int32) int { return e.replay(order) }

// Locks implements Effects.
func (e *effective[S, In, Out]) Locks() *Locks {
	k, n := e.model.Lock, e.view.N
	if k == nil {
		return nil
	}
	l := &Locks{Reentrant: k.Reentrant, Fenced: k.Fenced, Kind: make([]LockKind, n), Owner: make([]int32, n), Token: make([]int64, n)}
	var owners numbering
	for op := range int32(n) {
		use := ask(e.typed, op, k.Use)
		if l.Kind[op], l.Owner[op], l.Token[op] = use.Kind, -1, use.Token; use.Owner != nil {
			l.Owner[op], _ = owners.of(use.Owner)
		}
	}
	l.Owners = int(owners.count)
	return l
}

// Members implements Effects.
func (e *effective[S, In, Out]) Members() *Memberships {
	k, n := e.model.Members, e.view.N
	if k == nil {
		return nil
	}
	m := &Memberships{Kind: make([]MemberKind, n), Member: make([]int32, n)}
	var members numbering
	for op := range int32(n) {
		use := ask(e.typed, op, k.Use)
		if m.Kind[op], m.Member[op] = use.Kind, -1; use.Kind > MemberNothing {
			x, fresh := members.of(use.Member)
			if m.Member[op] = x; fresh {
				m.Start = append(m.Start, k.Initial != nil && k.Initial(use.Member))
			}
		}
	}
	return m
}

// Tallies implements Effects.
func (e *effective[S, In, Out]) Tallies() *Tallies {
	if e.model.Count == nil {
		return nil
	}
	c := &Tallies{Initial: e.model.Count.Initial, Uses: make([]CountUse, e.view.N)}
	for op := range c.Uses {
		c.Uses[op] = ask(e.typed, int32(op), e.model.Count.Use)
	}
	return c
}

// ask asks the model about one operation.
func ask[S, In, Out, Use any](t *typed[S, In, Out], op int32, use func(in In, out *Out) Use) Use {
	defer t.blame(op)
	return use(t.In[t.index[op]], t.out(op))
}
