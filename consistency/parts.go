package consistency

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"pinyon/engine"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// task is one part to decide: some operations of the view, by position.
type task struct {
	key  string
	keep []int32
}

// tasks lists the keys in key order, those without operations too.
func (c *checker) tasks() []task {
	if len(c.view.KeyName) == 1 && (!c.opts.HasOnlyKey || c.view.KeyName[0] == c.opts.OnlyKey) {
		return []task{{c.view.KeyName[0], positions(c.view.N)}}
	}
	byKey := c.view.Keys()
	var ts []task
	for _, code := range c.view.KeyOrder() {
		if c.opts.HasOnlyKey && c.view.KeyName[code] != c.opts.OnlyKey {
			continue
		}
		ts = append(ts, task{c.view.KeyName[code], byKey[code]})
	}
	return ts
}

// decide decides one part with the rules of the level, and translates what it
// finds to positions in the subject's View.
func (c *checker) decide(ctx context.Context, t task, memory int64) (spec.Part, error) {
	return c.decideBy(ctx, t, memory, engine.Decide)
}

// decideBy is decide, with what decides.
func (c *checker) decideBy(ctx context.Context, t task, memory int64, by func(context.Context, engine.Task) (spec.Part, error)) (part spec.Part, err error) {
	start := time.Now()
	defer func() {
		if r := recover(); r != nil {
			err = c.partPanic(t, r)
		}
	}()
	view, rules := c.slice(t)
	machine, err := c.machine(ctx, view)
	if err != nil {
		return part, err
	}
	if c.opts.Engine == wingGong {
		machine = spec.Plain(machine)
	}
	var later engine.Later
	part, err = by(ctx, engine.Task{Rules: rules, Machine: machine, Eager: c.eager(), Live: &c.live, Focus: -1, Mute: c.opts.Mute, Later: &later,
		NoPaths: c.opts.Engine == "search" || c.opts.Engine == wingGong, Sweep: c.opts.Engine == "sweep", Limits: engine.Limits{States: c.opts.MaxStates, Memory: memory, Heap: c.heap, Forget: memory >= c.opts.MaxMemory}})
	if errors.Is(err, engine.ErrMalformed) {
		return part, c.malformed(t, part.Proof, err)
	}
	if c.opts.Engine == wingGong && part.Engine == "search" {
		part.Engine = wingGong
	}
	part.Key = t.key
	told := later.Explain != nil || part.Proof != nil && part.Proof.Kind == spec.ProofPattern
	if part.Kind == spec.Violation && told && c.level.prefix && c.opts.Oracles == nil && !c.opts.Mute {
		c.firstBadReturn(ctx, t, view, &part, later.Stuck)
	}
	if part.Explain == nil && later.Explain != nil {
		part.Explain = later.Explain()
	}
	hintedCore(part.Proof, rules)
	part.Translate(func(x int32) int32 { return c.whole[t.keep[x]] })
	part.Elapsed = time.Since(start)
	return part, err
}

// slice returns the View and the rules of a part. Most histories have one key,
// and then the part is the whole.
func (c *checker) slice(t task) (*history.View, *order.Rules) {
	other := func(s order.Source) bool { _, clock := s.Relation.(*order.Clock); return !clock }
	if len(t.keep) == c.view.N && !slices.ContainsFunc(c.rules.Hard, other) {
		return c.view, c.rules
	}
	view := c.view.Slice(t.keep)
	return view, c.rules.Slice(t.keep, view)
}

// hintedCore adds to the proof the order that hints say of its core, as nobody
// sees it in the operations.
func hintedCore(p *spec.Proof, r *order.Rules) {
	if p == nil || p.Kind != spec.ProofCore {
		return
	}
	var hints []order.Source
	for _, s := range r.Hard {
		if s.Hint {
			hints = append(hints, s)
		}
	}
	for _, a := range p.Ops {
		for _, b := range p.Ops {
			if s, ok := edge(hints, a, b); ok && a != b {
				p.Hinted = append(p.Hinted, spec.Edge{From: a, To: b, Source: s.Name, Why: s.Why(a, b)})
			}
		}
	}
}

// machine builds the machine of a view under the level's validity.
func (c *checker) machine(ctx context.Context, view *history.View) (spec.Machine, error) {
	m := c.subject.Machine(ctx, view, c.opts.Debug)
	if c.level.Validity.Over != nil {
		var err error
		if m, err = c.level.Validity.Over(m, view); err != nil {
			return nil, fmt.Errorf("level %s: %w", c.level.Name, err)
		}
	}
	return spec.Deterministic(m), nil
}

// wingGong is the engine that searches without any rule about reads, values or
// equal steps: the algorithm of the literature, to measure against.
const wingGong = "wing-gong"

// eager reports whether reads may be placed as soon as they are legal.
func (c *checker) eager() bool {
	return c.opts.Engine != wingGong && (c.level.Validity.Over == nil || c.level.Validity.EagerReads)
}

// partPanic names the operation of the history that a step failed for.
func (c *checker) partPanic(t task, r any) error {
	if e, ok := r.(*spec.StepError); ok {
		return fmt.Errorf("%s: %w", c.subject.Where(c.whole[t.keep[e.Op]]), e)
	}
	return panicError(c.subject, r)
}

// malformed describes a circle of session and real-time edges.
func (c *checker) malformed(t task, p *spec.Proof, err error) error {
	text := err.Error() + ":"
	for _, e := range p.Cycle {
		text += fmt.Sprintf(" %s before %s (%s: %s);", c.subject.Where(c.whole[t.keep[e.From]]),
			c.subject.Where(c.whole[t.keep[e.To]]), e.Source, e.Why)
	}
	return &history.Error{Msg: text}
}

// perKey decides every key on its own with a pool of workers. The outcome does
// not depend on their number: each key has its own limit of states; a key that
// exceeds its worker's share of the memory is decided again at the end, alone,
// with all of it, and forgets where that is too little; with FailFast, whatever comes after the first violation in
// key order is reported as skipped, decided or not.
func (c *checker) perKey(v *spec.Verdict) error {
	ts := c.tasks()
	v.Split = true
	parts, errs, err := c.pool(ts)
	if err != nil {
		return err
	}
	for i := range parts {
		if errs[i] != nil {
			return errs[i]
		}
		if c.opts.FailFast && parts[i].Kind == spec.Violation && !parts[i].Skipped {
			for j := i + 1; j < len(parts); j++ {
				parts[j] = spec.Part{Key: ts[j].key, Ops: len(ts[j].keep), Kind: spec.Unknown, Skipped: true, Reason: "not checked: stopped at the first violation"}
			}
			break
		}
	}
	v.Parts = parts
	return nil
}

// pool runs decide over the tasks.
func (c *checker) pool(ts []task) ([]spec.Part, []error, error) {
	workers := max(1, min(c.opts.Workers, len(ts)))
	share := max(1, c.opts.MaxMemory/int64(workers))
	parts, errs := make([]spec.Part, len(ts)), make([]error, len(ts))
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	q := &queue{n: len(ts), stopAt: len(ts)}
	c.parts.Store(int64(len(ts)))
	work := func() {
		for i := q.next(); i >= 0; i = q.next() {
			parts[i], errs[i] = c.decide(ctx, ts[i], share)
			c.done.Add(1)
			if errs[i] != nil || c.opts.FailFast && parts[i].Kind == spec.Violation {
				q.stop(i)
			}
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	for i := range parts {
		if workers > 1 && parts[i].Budget == "memory" && i < q.stopAt {
			parts[i], errs[i] = c.decide(ctx, ts[i], c.opts.MaxMemory)
		}
	}
	for i := range parts {
		finishPart(&parts[i])
	}
	return parts, errs, nil
}

// queue hands out task numbers in order, up to stopAt.
type queue struct {
	mu     sync.Mutex
	at, n  int
	stopAt int
}

func (q *queue) next() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.at >= q.n || q.at > q.stopAt {
		return -1
	}
	q.at++
	return q.at - 1
}

// stop ends the handing out after task i; earlier ones still run.
func (q *queue) stop(i int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopAt = min(q.stopAt, i)
}

func stateCount(n int64) string {
	if n == 1 {
		return "1 state"
	}
	return fmt.Sprintf("%d states", n)
}

// finishPart words the reason of an unknown part.
func finishPart(p *spec.Part) {
	if p.Kind == spec.Unknown && p.Reason == "" {
		p.Reason = fmt.Sprintf("the budget of %s ran out after %s; at best %d of %d operations were placed", p.Budget, stateCount(p.States), p.Placed, p.Ops)
		if p.Budget == "cancelled" {
			p.Reason = "cancelled after " + stateCount(p.States)
		}
	}
}

// together decides all keys in one order. With several keys, each is tried
// alone first, which may only convict; then the orders found are merged, or a
// fast path looks at all keys; only then the product of the keys is searched
// (docs/ARCHITECTURE.md, section 9).
func (c *checker) together(v *spec.Verdict) error {
	whole := task{keep: positions(c.view.N)}
	if c.opts.HasOnlyKey {
		whole.key = c.opts.OnlyKey
	}
	states := int64(0)
	auto := c.opts.Engine == "" || c.opts.Engine == "auto"
	if (auto || !c.opts.NoSplit) && c.severalKeys() {
		part, err := c.filter(whole, &states)
		if err != nil {
			return err
		}
		if part != nil {
			v.Parts = []spec.Part{*part}
			return nil
		}
	}
	part, err := c.decide(c.ctx, whole, c.opts.MaxMemory)
	if err != nil {
		return err
	}
	part.States += states
	finishPart(&part)
	v.Parts = []spec.Part{part}
	return nil
}

func (c *checker) severalKeys() bool {
	for _, k := range c.view.Key {
		if k != c.view.Key[0] {
			return true
		}
	}
	return false
}

// filter decides the keys apart. It returns the whole verdict when one of them
// is impossible alone or their orders merge, and nil when neither is so.
func (c *checker) filter(whole task, states *int64) (*spec.Part, error) {
	if part, err := c.circle(whole); part != nil || err != nil {
		return part, err
	}
	ts := c.tasks()
	parts, errs, err := c.pool(ts)
	if err != nil {
		return nil, err
	}
	merge := true
	for i := range parts {
		if errs[i] != nil {
			return nil, errs[i]
		}
		*states += parts[i].States
		if c.opts.FailFast && parts[i].Kind == spec.Violation {
			break // what ran beyond it depends on the workers
		}
		merge = merge && (parts[i].Kind == spec.Consistent || parts[i].Kind == spec.Vacuous)
	}
	for i := range parts {
		if parts[i].Kind == spec.Violation {
			p := parts[i]
			p.Culprit, p.Key, p.Ops, p.States = p.Key, whole.key, c.view.N, *states
			return &p, nil
		}
	}
	if !merge || c.level.spans || c.answered() == 0 {
		return nil, nil
	}
	if part, err := c.fast(whole, *states); part != nil || err != nil {
		return part, err
	}
	return c.merge(parts, *states)
}

// soonMerged is the number of operations up to which the orders of the keys are
// merged at once. To merge more takes longer than a fast path over all keys.
const soonMerged = 1000

// fast asks the fast paths about all keys together.
func (c *checker) fast(whole task, states int64) (*spec.Part, error) {
	if c.view.N <= soonMerged {
		return nil, nil
	}
	part, err := c.decideBy(c.ctx, whole, c.opts.MaxMemory, engine.Fast)
	if err != nil || part.Kind == spec.Unknown {
		return nil, err
	}
	part.States += states
	return &part, nil
}

// circle looks for contradicting hints and for a circle in the whole hard order,
// before any search.
func (c *checker) circle(whole task) (*spec.Part, error) {
	if len(c.rules.Findings) > 0 {
		part, err := c.decide(c.ctx, whole, c.opts.MaxMemory)
		return &part, err
	}
	g := order.NewGraph(c.view.N, c.rules.Hard, c.view.Info, c.view.Call, c.cancelled.Load)
	if g == nil || g.Cycle() == nil {
		return nil, nil
	}
	part, err := c.decide(c.ctx, whole, c.opts.MaxMemory)
	return &part, err
}

// merge tries to fit the orders of the keys into one that obeys all hard order.
func (c *checker) merge(parts []spec.Part, states int64) (*spec.Part, error) {
	placed := make(map[int32]bool, c.view.N)
	for _, p := range parts {
		for _, x := range p.Witness {
			placed[x] = true
		}
	}
	view, rules, whole := c.placed(placed)
	at := make(map[int32]int32, view.N) // subject position -> view position
	optional := make([]bool, view.N)
	for i, x := range whole {
		at[x], optional[i] = int32(i), !placed[x]
	}
	var pairs [][2]int32
	for _, p := range parts {
		for i, x := range p.Witness {
			if i > 0 {
				pairs = append(pairs, [2]int32{at[p.Witness[i-1]], at[x]})
			}
		}
	}
	edges, err := order.NewEdges(view.N, pairs, nil)
	if err != nil {
		return nil, err
	}
	sources := append(append([]order.Source(nil), rules.Hard...), order.Source{Relation: edges, Name: "merge"})
	g := order.NewGraph(view.N, sources, optional, view.Call, c.cancelled.Load)
	if g == nil {
		return nil, nil
	}
	line, ok := g.Linear()
	if !ok {
		return nil, nil
	}
	for i, x := range line {
		line[i] = whole[x]
	}
	return &spec.Part{Kind: spec.Consistent, Ops: c.view.N, Engine: "merge", States: states, Witness: line}, nil
}

// placed leaves out the operations that the orders of the keys do without, where
// none of them comes before another: then they forbid nothing, and there may be
// many of them. whole are the positions of what is left in the subject's View.
func (c *checker) placed(placed map[int32]bool) (view *history.View, rules *order.Rules, whole []int32) {
	var keep []int32
	for i, x := range c.whole {
		if placed[x] {
			keep, whole = append(keep, int32(i)), append(whole, x)
			continue
		}
		for _, s := range c.rules.Hard {
			switch r := s.Relation.(type) {
			case *order.Clock:
				if r.Out[i] != order.OutNever {
					return c.view, c.rules, c.whole
				}
			case *order.Edges:
				if len(r.To[i]) > 0 {
					return c.view, c.rules, c.whole
				}
			default:
				return c.view, c.rules, c.whole
			}
		}
	}
	view = c.view.Slice(keep)
	return view, c.rules.Slice(keep, view), whole
}
