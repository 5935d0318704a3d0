package kvstores

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// replicaOf is a replica among n that nobody speaks to.
func replicaOf(t *testing.T, n, self int, bug string) *epaxos {
	t.Helper()
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("n%d", i+1))
	}
	e, err := makeEpaxos(Config{ID: names[self], Nodes: names, Bug: bug, Clock: new(Clock), Log: io.Discard}, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	e.run.traced = true
	return e
}

// putOf is a put by a client of its own.
func putOf(key string, i int) *Request {
	return &Request{Client: fmt.Sprint(i), Seq: 1, F: "put", Key: key, In: marshal(i)}
}

// getOf is a get by a client of its own.
func getOf(key string, i int) *Request {
	return &Request{Client: fmt.Sprint(i), Seq: 1, F: "get", Key: key}
}

// epaxosPlan is what was decided of some instances, and its twin by inspection:
// reaches[a][b] says that a depends on b, perhaps through others.
type epaxosPlan struct {
	ops     []epaxosMessage
	reaches [][]bool
}

// randomPlan has instances of three replicas on two keys, some of which do
// nothing, with random seqs and dependencies.
func randomPlan(r *rand.Rand) epaxosPlan {
	var p epaxosPlan
	counts := make([]int, 3)
	for range 1 + r.IntN(9) {
		q := r.IntN(3)
		m := epaxosMessage{ID: epaxosID{q, int64(counts[q])}}
		counts[q]++
		key := fmt.Sprint("k", r.IntN(2))
		switch r.IntN(8) {
		case 0:
		case 1, 2:
			m.Request = getOf(key, len(p.ops))
		default:
			m.Request = putOf(key, len(p.ops))
		}
		m.Seq = int64(1 + r.IntN(4))
		p.ops = append(p.ops, m)
	}
	sparse := r.IntN(2) == 0
	for i := range p.ops {
		p.ops[i].Deps = []int64{-1, -1, -1}
		for q := range 3 {
			if p.ops[i].Request != nil && !(sparse && r.IntN(2) == 0) {
				p.ops[i].Deps[q] = int64(r.IntN(counts[q]+1)) - 1
			}
		}
	}
	p.close()
	return p
}

func (p *epaxosPlan) close() {
	n := len(p.ops)
	p.reaches = make([][]bool, n)
	for i, b := range p.ops {
		p.reaches[i] = make([]bool, n)
		for j, a := range p.ops {
			p.reaches[i][j] = b.Request != nil && a.Request != nil && b.Request.Key == a.Request.Key && a.ID.Inst <= b.Deps[a.ID.Replica]
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				p.reaches[i][j] = p.reaches[i][j] || p.reaches[i][k] && p.reaches[k][j]
			}
		}
	}
}

// comes says how two are executed: below 0: a first; 0: as it happens.
func (p *epaxosPlan) comes(a, b int) int {
	switch x, y := p.ops[a], p.ops[b]; {
	case p.reaches[a][b] && p.reaches[b][a]:
		return cmp.Or(cmp.Compare(x.Seq, y.Seq), cmp.Compare(x.ID.Replica, y.ID.Replica), cmp.Compare(x.ID.Inst, y.ID.Inst))
	case p.reaches[a][b]:
		return 1
	case p.reaches[b][a]:
		return -1
	}
	return 0
}

// may reports whether a can be executed where known are committed: all that it
// depends on is, and all instances of which that cannot be told otherwise.
func (p *epaxosPlan) may(a int, known map[epaxosID]bool) bool {
	for b := range p.ops {
		if b != a && !p.reaches[a][b] {
			continue
		}
		if !known[p.ops[b].ID] {
			return false
		}
		for q, last := range p.ops[b].Deps {
			for i := range last + 1 {
				if !known[epaxosID{q, i}] {
					return false
				}
			}
		}
	}
	return true
}

// A replica executes all that can be at any moment, and in the right order,
// whatever the order in which it learns of the commits.
func TestEpaxosExecutionEqualsTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 5))
	executed, waits, cycles := 0, 0, map[int]int{}
	for range 4000 {
		p := randomPlan(r)
		e := replicaOf(t, 3, 0, "")
		known := map[epaxosID]bool{}
		for _, i := range r.Perm(len(p.ops)) {
			if err := e.learn(p.ops[i]); err != nil {
				t.Fatal(err)
			}
			known[p.ops[i].ID] = true
			for a, m := range p.ops {
				want := known[m.ID] && p.may(a, known)
				if got := slices.Contains(e.run.trace, m.ID); got != want {
					t.Fatalf("%v of %+v is executed: %v, want %v, where %v are known", m.ID, p.ops, got, want, known)
				}
				switch {
				case want:
					executed++
				case known[m.ID]:
					waits++
				}
			}
		}
		place := map[epaxosID]int{}
		for i, id := range e.run.trace {
			place[id] = i
		}
		for a := range p.ops {
			size := 1
			for b := range p.ops {
				if c := p.comes(a, b); a != b && c != 0 && (c < 0) != (place[p.ops[a].ID] < place[p.ops[b].ID]) {
					t.Fatalf("%v and %v of %+v were executed in the order %v", p.ops[a].ID, p.ops[b].ID, p.ops, e.run.trace)
				}
				if a != b && p.reaches[a][b] && p.reaches[b][a] {
					size++
				}
			}
			cycles[size]++
		}
	}
	t.Logf("%d times executed, %d times waiting; operations in components by size: %v", executed, waits, cycles)
	if all := executed + waits; executed*100 < 15*all || waits*100 < 15*all || cycles[2] < 500 || cycles[3] < 500 {
		t.Error("too few of one kind")
	}
}

// attempt is one replica's attempt to decide an instance, a message at a time.
type attempt struct {
	m     epaxosMessage
	phase string
	left  []int // replicas that have not been asked
	said  []*epaxosEntry
}

func (a *attempt) enter(phase string, n int, r *rand.Rand) {
	a.phase, a.left, a.said = phase, r.Perm(n), nil
}

// step delivers the next message of a and goes on where enough have answered.
// done: its value is decided; lasts: the attempt goes on.
func (a *attempt) step(t *testing.T, nodes []*epaxos, r *rand.Rand) (done, lasts bool) {
	if len(a.left) == 0 {
		return false, false
	}
	e := nodes[a.left[0]]
	a.left = a.left[1:]
	vote, err := map[string]func(epaxosMessage) (epaxosVote, error){"preaccept": e.preAccept, "accept": e.accept, "prepare": e.prepare}[a.phase](a.m)
	if err != nil {
		t.Fatal(err)
	}
	if !vote.Granted {
		return false, false
	}
	a.said = append(a.said, vote.Entry)
	first := a.phase == "preaccept" && a.m.Ballot == 0
	switch {
	case first && !e.heard(a.said, r.IntN(4) == 0) || !first && !e.most(a.said, false):
		return false, true
	case a.phase == "accept":
		return true, false
	case a.phase == "preaccept":
		if a.m.epaxosValue = union(a.said); first && e.fast(a.said) {
			return true, false
		}
		a.enter("accept", len(nodes), r)
		return false, true
	}
	sure := false
	a.m.epaxosValue, sure = chosen(a.said)
	a.enter(map[bool]string{true: "accept", false: "preaccept"}[sure], len(nodes), r)
	return false, true
}

// lost is a store whose messages come in any order or not at all, and what was
// decided in it so far.
type lost struct {
	t       *testing.T
	r       *rand.Rand
	nodes   []*epaxos
	ids     []epaxosID
	open    []*attempt
	decided map[epaxosID]epaxosValue

	again, fast, nothing int
}

// begin has a node lead a put.
func (l *lost) begin() {
	q := l.r.IntN(len(l.nodes))
	x := l.nodes[q].reserve(*putOf(fmt.Sprint("k", l.r.IntN(4)/3), len(l.ids)))
	if _, err := l.nodes[q].keep(x); err != nil {
		l.t.Fatal(err)
	}
	l.ids = append(l.ids, x.ID)
	a := &attempt{m: epaxosMessage{ID: x.ID, epaxosValue: x.epaxosValue}}
	a.enter("preaccept", len(l.nodes), l.r)
	l.open = append(l.open, a.asked(q, x))
}

// revive has a node recover an instance.
func (l *lost) revive() {
	id, by := l.ids[l.r.IntN(len(l.ids))], l.nodes[l.r.IntN(len(l.nodes))]
	a := &attempt{m: epaxosMessage{ID: id, Ballot: by.ballot(id), epaxosValue: epaxosValue{Deps: by.none()}}}
	a.enter("prepare", len(l.nodes), l.r)
	vote, err := by.prepare(a.m)
	if err != nil || !vote.Granted {
		l.t.Fatalf("%+v %v", vote, err)
	}
	l.open = append(l.open, a.asked(by.self, vote.Entry))
}

// asked notes the answer of a replica that need not be asked any more.
func (a *attempt) asked(self int, x *epaxosEntry) *attempt {
	copied := *x
	a.left, a.said = slices.DeleteFunc(a.left, func(i int) bool { return i == self }), []*epaxosEntry{&copied}
	return a
}

// note takes a decision down.
func (l *lost) note(a *attempt) {
	old, twice := l.decided[a.m.ID]
	if twice {
		l.again++
		if !reflect.DeepEqual(old, a.m.epaxosValue) {
			l.t.Fatalf("instance %v was decided as %+v and as %+v", a.m.ID, old, a.m.epaxosValue)
		}
	}
	l.decided[a.m.ID] = a.m.epaxosValue
	switch {
	case a.phase == "preaccept":
		l.fast++
	case a.m.Request == nil:
		l.nothing++
	}
}

// related requires that of two decided requests that conflict one depends on
// the other.
func (l *lost) related() {
	for a, v := range l.decided {
		for b, w := range l.decided {
			if a != b && v.Request != nil && w.Request != nil && v.Request.Key == w.Request.Key &&
				v.Deps[b.Replica] < b.Inst && w.Deps[a.Replica] < a.Inst {
				l.t.Fatalf("%v %+v and %v %+v were decided, and neither depends on the other", a, v, b, w)
			}
		}
	}
}

// Whatever is lost and whoever gives up in the middle, no instance is decided
// twice, and of two decided requests that conflict one depends on the other.
func TestEpaxosDecidesOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	total, again, fast, nothing := 0, 0, 0, 0
	for range 3000 {
		l := &lost{t: t, r: r, decided: map[epaxosID]epaxosValue{}}
		n := 3 + 2*r.IntN(2)
		for i := range n {
			l.nodes = append(l.nodes, replicaOf(t, n, i, ""))
		}
		begins, revivals := 1+r.IntN(4), r.IntN(5)
		for l.begin(); len(l.open) > 0; {
			if begins > 0 && r.IntN(4) == 0 {
				begins--
				l.begin()
			}
			if revivals > 0 && r.IntN(6) == 0 {
				revivals--
				l.revive()
			}
			k := r.IntN(len(l.open))
			a := l.open[k]
			done, lasts := a.step(t, l.nodes, r)
			if done {
				total++
				l.note(a)
			}
			if !lasts || r.IntN(40) == 0 {
				l.open = slices.Delete(l.open, k, k+1)
			}
		}
		l.related()
		again, fast, nothing = again+l.again, fast+l.fast, nothing+l.nothing
	}
	t.Logf("%d decisions, %d of them again, %d fast, %d of nothing", total, again, fast, nothing)
	if again < 300 || fast < 300 || nothing < 100 {
		t.Error("too few of one kind")
	}
}

// cycle is two puts that depend on each other, with equal seqs.
func cycleOf() (a, b epaxosMessage) {
	a = epaxosMessage{ID: epaxosID{0, 0}, epaxosValue: epaxosValue{Request: putOf("x", 1), Seq: 1, Deps: []int64{-1, 0, -1}}}
	b = epaxosMessage{ID: epaxosID{1, 0}, epaxosValue: epaxosValue{Request: putOf("x", 2), Seq: 1, Deps: []int64{0, -1, -1}}}
	return a, b
}

// Two replicas that learn of a cycle in different orders end in one state, and
// without a tie-break in two.
func TestEpaxosBreaksTies(t *testing.T) {
	for _, bug := range []string{"", noTieBreak} {
		a, b := cycleOf()
		e, f := replicaOf(t, 3, 0, bug), replicaOf(t, 3, 1, bug)
		for _, m := range []epaxosMessage{a, b} {
			_ = e.learn(m)
		}
		for _, m := range []epaxosMessage{b, a} {
			_ = f.learn(m)
		}
		if alike := same(e.run.state["x"], f.run.state["x"]); alike != (bug == "") {
			t.Errorf("bug %q: %s and %s", bug, e.run.state["x"], f.run.state["x"])
		}
	}
}

// A get waits for a write that it depends on, and with the bug does not.
func TestEpaxosWaitsForDependencies(t *testing.T) {
	for _, bug := range []string{"", skipCommitted} {
		e := replicaOf(t, 3, 0, bug)
		put := epaxosMessage{ID: epaxosID{1, 0}, epaxosValue: epaxosValue{Request: putOf("x", 1), Seq: 1, Deps: []int64{-1, -1, -1}}}
		get := epaxosMessage{ID: epaxosID{0, 0}, epaxosValue: epaxosValue{Request: getOf("x", 2), Seq: 2, Deps: []int64{-1, 0, -1}}}
		reply := make(chan Reply, 1)
		e.waiting[get.ID] = append(e.waiting[get.ID], reply)
		_ = e.learn(get)
		early := len(reply) == 1
		_ = e.learn(put)
		got := <-reply
		want := map[bool]string{true: "null", false: "1"}[bug != ""]
		if early != (bug != "") || got.Outcome != OK || string(got.Out) != want {
			t.Errorf("bug %q: answered early: %v, %+v, want %s", bug, early, got, want)
		}
		if text, _ := json.Marshal(got.Hints); string(text) != `{"deps":[-1,0,-1],"inst":0,"replica":0,"seq":2}` {
			t.Errorf("hints %s", text)
		}
	}
}

// What conflicts: same key, and not both gets; with the bug nor both puts.
func TestEpaxosConflicts(t *testing.T) {
	for _, bug := range []string{"", blindWrites} {
		e := replicaOf(t, 3, 0, bug)
		_ = e.learn(epaxosMessage{ID: epaxosID{0, 0}, epaxosValue: epaxosValue{Request: putOf("x", 1), Seq: 3, Deps: e.none()}})
		_ = e.learn(epaxosMessage{ID: epaxosID{1, 0}, epaxosValue: epaxosValue{Request: getOf("x", 2), Seq: 4, Deps: []int64{0, -1, -1}}})
		cas := &Request{F: "cas", Key: "x", In: json.RawMessage("[1,2]")}
		for _, c := range []struct {
			r    *Request
			seq  int64
			deps []int64
		}{
			{putOf("x", 3), 5, map[bool][]int64{true: {0, 0, -1}, false: {-1, 0, -1}}[bug == ""]},
			{getOf("x", 3), 5, []int64{0, -1, -1}},
			{cas, 5, []int64{0, 0, -1}},
			{putOf("y", 3), 1, []int64{-1, -1, -1}},
		} {
			seq, deps := e.conflicts(epaxosID{2, 0}, epaxosValue{Request: c.r, Deps: e.none()})
			if seq != c.seq || !slices.Equal(deps, c.deps) {
				t.Errorf("bug %q: %s of %s: seq %d, deps %v; want %d, %v", bug, c.r.F, c.r.Key, seq, deps, c.seq, c.deps)
			}
		}
	}
}

// A replica votes in no ballot below its promise, and an accept is not undone
// by a message of its ballot that was sent before.
func TestEpaxosVotes(t *testing.T) {
	e := replicaOf(t, 3, 0, "")
	m := epaxosMessage{ID: epaxosID{1, 0}, epaxosValue: epaxosValue{Request: putOf("x", 1), Seq: 1, Deps: e.none()}}
	for _, c := range []struct {
		ask     func(epaxosMessage) (epaxosVote, error)
		ballot  int64
		granted bool
	}{
		{e.accept, 0, true}, {e.preAccept, 0, false}, {e.prepare, 5, true}, {e.prepare, 5, false}, {e.preAccept, 4, false},
		{e.accept, 4, false}, {e.preAccept, 5, true}, {e.accept, 5, true}, {e.preAccept, 5, false}, {e.accept, 7, true},
	} {
		m.Ballot = c.ballot
		if v, err := c.ask(m); err != nil || v.Granted != c.granted {
			t.Fatalf("ballot %d: %v %v, want %v; it is %+v", c.ballot, v.Granted, err, c.granted, v.Entry)
		}
	}
	if err := e.learn(m); err != nil {
		t.Fatal(err)
	}
	m.Ballot = 10
	if v, err := e.accept(m); err != nil || v.Granted || v.Entry.Stage != committed {
		t.Errorf("after the commit: %+v %v", v, err)
	}
	if m.Seq = 9; e.learn(m) == nil {
		t.Error("another decision of one instance was taken")
	}
	if m.Deps = m.Deps[:2]; e.learn(m) == nil {
		t.Error("a decision with dependencies on two replicas of three was taken")
	}
}

// What two instances ask for is carried out once, and the other says so.
func TestEpaxosExecutesOnce(t *testing.T) {
	e := replicaOf(t, 3, 0, "")
	add := &Request{Client: "c", Seq: 3, F: "add", Key: "x", In: json.RawMessage("2")}
	var replies []Reply
	for i := range int64(2) {
		m := epaxosMessage{ID: epaxosID{0, i}, epaxosValue: epaxosValue{Request: add, Seq: i + 1, Deps: []int64{i - 1, -1, -1}}}
		reply := make(chan Reply, 1)
		e.waiting[m.ID] = append(e.waiting[m.ID], reply)
		if err := e.learn(m); err != nil {
			t.Fatal(err)
		}
		replies = append(replies, <-reply)
	}
	if string(e.run.state["x"]) != "2" || replies[0].Outcome != OK || replies[1].Outcome != Info {
		t.Errorf("x is %s, the replies %+v", e.run.state["x"], replies)
	}
}

// What a replica accepted or promised it still knows after a kill.
func TestEpaxosJournal(t *testing.T) {
	dir := t.TempDir()
	open := func() *epaxos {
		e, err := makeEpaxos(Config{ID: "n1", Nodes: []string{"n1", "n2", "n3"}, Dir: dir, Clock: new(Clock), Log: io.Discard}, false)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open()
	id := epaxosID{1, 0}
	value := epaxosValue{Request: putOf("x", 1), Seq: 4, Deps: []int64{-1, -1, -1}}
	if v, err := e.accept(epaxosMessage{ID: id, Ballot: 4, epaxosValue: value}); err != nil || !v.Granted {
		t.Fatal(v, err)
	}
	if v, err := e.prepare(epaxosMessage{ID: id, Ballot: 8}); err != nil || !v.Granted || v.Entry.Stage != accepted || v.Entry.Ballot != 4 {
		t.Fatal(v, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open()
	defer e.Close()
	x := e.at(id)
	if x == nil || x.Promised != 8 || x.Ballot != 4 || x.Stage != accepted || x.Seq != 4 {
		t.Fatalf("after a restart: %+v", x)
	}
	if v, err := e.accept(epaxosMessage{ID: id, Ballot: 7, epaxosValue: value}); err != nil || v.Granted {
		t.Errorf("it accepted in a ballot below its promise: %+v %v", v, err)
	}
	if y := e.reserve(*putOf("x", 2)); y.Seq != 5 || !slices.Equal(y.Deps, []int64{-1, 0, -1}) {
		t.Errorf("the next put has %d, %v", y.Seq, y.Deps)
	}
}
