package importers

import (
	"math"
	"strconv"

	"pinyon/engine/history"
)

// builder pairs events into operations, in the order of the lines:
//
//  1. An invocation opens an operation of its process; a second one while it
//     is open is an error.
//  2. The next completion of that process closes it; one without an open
//     operation is an error.
//  3. After an Info the process is retired: what it does later belongs to a
//     process with a new name (p#2), because nothing orders it after the
//     operation that got no answer. Strict refuses it instead.
//  4. What is still open at the end stays Info.
//  5. An :info line of a process that never invokes is a note; an :ok or
//     :fail line of one is a completion without invocation.
type builder struct {
	src    *source
	opts   *Options
	rep    *Report
	events *eventList // once checkTimes ran, each has a time: recorded, or its position where a client's is missing
	keyed  bool
	// indexed: some event has an :index.
	indexed bool

	h       *history.Raw
	clients clients
	known   []history.Value        // processes, where there are no events
	names   map[history.Value]bool // of processes, those in the file included; nil until a new one is needed
	invoked []int32                // the event that invoked each operation
}

// clients are the processes that invoke something, in the order of their first
// invocation.
type clients struct {
	number map[history.Value]int32
	list   []client
}

// get returns what is known of a process, nil where it is no client.
func (c *clients) get(process history.Value) *client {
	n, known := c.number[process]
	if !known {
		return nil
	}
	return &c.list[n]
}

// add makes a client of a process, unless it is one, and returns its number.
func (c *clients) add(process history.Value) int32 {
	n, known := c.number[process]
	if !known {
		n = int32(len(c.list))
		c.number[process] = n
		c.list = append(c.list, client{open: -1, process: -1})
	}
	return n
}

// client is what is known of one process while events are paired.
type client struct {
	open    int32 // its operation in flight, -1: none
	process int32 // its current number in the history
	retired int32 // the line of its Info, 0: none
	lives   int32 // names used: p, p#2, ...
}

// build makes a history of the events of a file.
func build(src *source, events *eventList, o *Options, rep *Report) (*history.Raw, error) {
	b := &builder{src: src, opts: o, rep: rep, events: events, h: &history.Raw{}, clients: clients{number: map[history.Value]int32{}}}
	calls := 0
	for i := range events.n {
		if ev := events.at(i); ev.kind == evInvoke {
			calls++
			b.clients.add(ev.process)
		}
	}
	b.h.Notes = make([]history.Note, 0, b.countNotes())
	b.h.Ops, b.h.Origins, b.invoked = make([]rawOp, 0, calls), make([]history.Origin, 0, calls), make([]int32, 0, calls)
	if err := b.checkIndexes(); err != nil {
		return nil, err
	}
	if err := b.checkTimes(); err != nil {
		return nil, err
	}
	if err := b.decideKeyed(); err != nil {
		return nil, err
	}
	for i := range events.n {
		if err := src.interrupted(i); err != nil {
			return nil, err
		}
		if err := b.add(i); err != nil {
			return nil, err
		}
	}
	rep.warnRenamed()
	return b.h, nil
}

// countNotes says for how many notes there must be room.
func (b *builder) countNotes() (n int) {
	for i := range b.events.n {
		if ev := b.events.at(i); ev.kind == evInfo && b.clients.get(ev.process) == nil {
			n++
		}
	}
	return n
}

// checkIndexes refuses an :index that stands twice.
func (b *builder) checkIndexes() error {
	grows, last := true, int64(math.MinInt64)
	for i := range b.events.n {
		if ev := b.events.at(i); ev.hasIndex {
			grows, last, b.indexed = grows && ev.index > last, ev.index, true
		}
	}
	if grows {
		return nil // the usual, and it needs no table
	}
	seen := map[int64]int32{}
	for i := range b.events.n {
		ev := b.events.at(i)
		if !ev.hasIndex {
			continue
		}
		if line, twice := seen[ev.index]; twice {
			return b.src.errorOn(ev.line, "%s: :index %d stands twice, on lines %d and %d", ev.who(), ev.index, line, ev.line)
		}
		seen[ev.index] = ev.line
	}
	return nil
}

// checkTimes counts how often the times run backwards, and decides whether
// they can serve. Where one client event has no time, none is used: a mixture
// of nanoseconds and positions would mean nothing.
func (b *builder) checkTimes() error {
	timed, started, last := true, false, int64(0)
	for i := range b.events.n {
		ev := b.events.at(i)
		switch {
		case ev.hasTime:
			if started && ev.time < last {
				if b.rep.Inversions++; b.rep.Inversions == 1 {
					b.rep.FirstInversion = ev.line
				}
			}
			last, started = ev.time, true
		case b.clients.get(ev.process) != nil && b.rep.Order == history.ByTime:
			return b.src.errorOn(ev.line, "ordered by time, but this event of %s has no :time", ev.who())
		case b.clients.get(ev.process) != nil:
			timed = false
		}
		ev.time = last // a note without a time happened when the event above it did
	}
	b.rep.Timed = timed && started
	if b.rep.Timed {
		return nil
	}
	for i := range b.events.n {
		b.events.at(i).time = int64(i)
	}
	if started {
		b.rep.warn("some events have no time: the times of the others are not used, positions in the file stand for all")
	}
	return nil
}

// index returns what reports call event i: its :index, or its position.
func (b *builder) index(i int32) int64 {
	if ev := b.events.at(i); ev.hasIndex {
		return ev.index
	}
	return int64(i)
}

func (b *builder) add(i int32) error {
	ev := b.events.at(i)
	c := b.clients.get(ev.process)
	switch {
	case c == nil && ev.kind == evInfo, c != nil && c.open < 0 && ev.kind == evInfo && ev.process == history.Absent:
		b.note(i)
		return nil
	case c == nil || ev.kind != evInvoke && c.open < 0:
		return b.src.errorOn(ev.line, "%s completes %s (%s) without having invoked it", ev.who(), orOp(ev.f), ev.kind)
	case ev.seldom().malformed != nil:
		return ev.seldom().malformed
	case ev.kind == evInvoke:
		return b.invoke(i, c)
	}
	return b.complete(i, c)
}

func (b *builder) note(i int32) {
	ev := b.events.at(i)
	note := history.Note{Name: ev.f, From: ev.time, To: ev.time, Detail: ev.value, Line: int(ev.line)}
	if to := ev.seldom().to; to != history.Absent {
		note.To = history.Never
		if n, ok := to.Int64(); ok {
			note.To = n
		}
	}
	b.h.Notes = append(b.h.Notes, note)
}

func (b *builder) invoke(i int32, c *client) error {
	ev := b.events.at(i)
	if c.open >= 0 {
		first := b.events.at(b.invoked[c.open])
		return b.src.errorOn(ev.line, "%s invokes %s while its %s of line %d is still open", ev.who(), orOp(ev.f), orOp(first.f), first.line)
	}
	if err := b.name(ev, c); err != nil {
		return err
	}
	op := rawOp{Process: int(c.process), F: ev.f, Invoke: ev.time, Return: history.Never, Outcome: history.Info}
	if op.F == "" {
		if !microOps(ev.value) {
			return b.src.errorOn(ev.line, "%s: an invocation without :f", ev.who())
		}
		op.F = "txn" // Elle's files leave it out
	}
	value, err := b.unwrap(i, &op)
	if err != nil {
		return err
	}
	op.In = ev.own.input(input(op.F, value))
	b.takeID(ev)
	b.extras(&op, ev)
	c.open = int32(len(b.h.Ops))
	b.h.Ops = append(b.h.Ops, op)
	b.invoked = append(b.invoked, i)
	b.h.Origins = append(b.h.Origins, history.Origin{Line: ev.line, Seq: i, DoneSeq: -1})
	if b.indexed {
		b.h.Indexes = append(b.h.Indexes, b.index(i))
	}
	return nil
}

// takeID keeps the ids of a file that gives any; an operation without one has
// its position.
func (b *builder) takeID(ev *event) {
	id := ev.seldom().id
	given := id != history.Absent
	for n := len(b.h.IDs); (given || n > 0) && n <= len(b.h.Ops); n++ {
		b.h.IDs = append(b.h.IDs, int64(n))
	}
	if given {
		b.h.IDs[len(b.h.Ops)], _ = id.Int64()
	}
}

func orOp(f string) string {
	if f == "" {
		return "an operation"
	}
	return f
}

// name gives the client the process number for its next operation.
func (b *builder) name(ev *event, c *client) error {
	var name history.Value
	switch {
	case ev.process == history.Absent:
		// Nothing says which operations share a process, so none do.
		c.lives++
		name = b.nameless(c.lives)
	case c.lives == 0:
		c.lives = 1
		name = ev.process
	case c.retired == 0:
		return nil
	case b.opts.Strict:
		return b.src.errorOn(ev.line, "%s goes on after its operation without an answer (line %d)", ev.who(), c.retired)
	default:
		c.lives++
		name = b.fresh(ev.process.Label(), c.lives)
		b.rep.Renamed = append(b.rep.Renamed, name.Label())
	}
	c.retired = 0
	c.process = int32(len(b.h.Processes))
	b.h.Processes = append(b.h.Processes, name)
	return nil
}

// nameless returns a name for the nth operation that has no process: n itself,
// unless the file names others.
func (b *builder) nameless(n int32) history.Value {
	if b.names == nil {
		b.nameAll()
	}
	if len(b.names) == 1 {
		return history.Int(int64(n)) // a text takes many times as much
	}
	return b.fresh("op", n)
}

// fresh returns the name base#n, made longer until no process of the file has it.
func (b *builder) fresh(base string, n int32) history.Value {
	if b.names == nil {
		b.nameAll()
	}
	number := "#" + strconv.Itoa(int(n))
	name := history.String(base + number)
	for b.names[name] {
		base += "'"
		name = history.String(base + number)
	}
	b.names[name] = true
	return name
}

// nameAll collects the names of the processes of the file, those of notes too.
func (b *builder) nameAll() {
	b.names = map[history.Value]bool{}
	for _, process := range b.known {
		b.names[process] = true
	}
	if b.events == nil {
		return
	}
	for i := range b.events.n {
		b.names[b.events.at(i).process] = true
	}
}

func (b *builder) complete(i int32, c *client) error {
	ev := b.events.at(i)
	op, origin := &b.h.Ops[c.open], &b.h.Origins[c.open]
	call := b.events.at(b.invoked[c.open])
	if ev.f != "" && call.f != "" && ev.f != call.f {
		return b.src.errorOn(ev.line, "%s completes %s, but what it invoked on line %d is %s", ev.who(), ev.f, call.line, call.f)
	}
	defer func() { call.pair, ev.pair = nil, nil }() // nobody asks again
	op.Outcome = ev.kind.outcome()
	origin.DoneLine, origin.DoneSeq = ev.line, i
	if b.indexed {
		b.h.Indexes[c.open] = b.index(i)
	}
	c.open = -1
	b.extras(op, ev)
	switch ev.kind {
	case evOK:
		value, err := b.unwrapDone(ev, call)
		if err != nil {
			return err
		}
		in := call.value
		if b.keyed {
			in = call.tuple().value
		}
		op.In, op.Out = settle(op.F, in, value)
		op.In, op.Out = call.own.input(op.In), ev.own.output(op.Out)
	case evFail:
		origin.Refused = ev.value == call.value && ev.value != history.Null && ev.value != history.Absent && ev.error() == ""
		if said := ev.seldom().refused; said != history.Absent {
			origin.Refused = said == history.True
		}
	case evInfo:
		c.retired = ev.line
	}
	if ev.kind != evInfo {
		op.Return = ev.time
	}
	if op.Error == "" && ev.kind != evOK && ev.value != call.value && ev.value.Kind() == history.KindKeyword {
		op.Error = b.src.written(ev.value) // :timed-out in place of the value
	}
	return nil
}
