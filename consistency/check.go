package consistency

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pinyon/engine"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
)

// DefaultTimeout is the budget of time when Options name none.
const DefaultTimeout = 60 * time.Second

// checker is one check on its way.
type checker struct {
	ctx       context.Context
	subject   *spec.Subject
	level     Level
	opts      Options
	view      *history.View // what is checked; a slice of the subject's with OnlyKey
	whole     []int32       // position in view -> position in the subject's View
	rules     *order.Rules
	live      engine.Live
	parts     atomic.Int64 // to decide, and decided, for progress
	done      atomic.Int64
	started   time.Time
	cancelled atomic.Bool  // ctx is done
	split     bool         // keys may be decided apart
	heap      func() int64 // live heap of the process at which searches stop
}

// CheckSubject is Check for an erased history, as the model registry binds it.
func CheckSubject(ctx context.Context, s *spec.Subject, level Level, o Options) (v *spec.Verdict, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, panicError(s, r)
		}
	}()
	c, err := newChecker(s, level, o)
	if err != nil {
		return nil, err
	}
	if c.opts.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.opts.Timeout)
		defer cancel()
	}
	c.ctx = ctx
	defer context.AfterFunc(ctx, func() { c.cancelled.Store(true) })()
	c.heap = sync.OnceValue(func() int64 { return heapLimit(c.opts.MaxMemory) })
	stop := c.watch()
	defer stop()
	verdict := c.verdict()
	switch {
	case level.all != nil:
		err = c.everyLevel(verdict)
	case level.views != nil:
		err = c.byViews(verdict)
	case o.Engine == "brute":
		err = c.brute(verdict)
	case c.split && !c.opts.NoSplit:
		err = c.perKey(verdict)
	default:
		err = c.together(verdict)
	}
	if err != nil {
		return nil, err
	}
	c.onlyConvicts(verdict)
	verdict.Kind = spec.Vacuous
	for _, p := range verdict.Parts {
		if !p.Skipped {
			verdict.Kind = spec.Worse(verdict.Kind, p.Kind)
		}
	}
	verdict.Elapsed = time.Since(c.started)
	return verdict, nil
}

// onlyConvicts takes back what one key alone cannot show: at a level that is
// not local, the other keys may still forbid what each key allows.
func (c *checker) onlyConvicts(v *spec.Verdict) {
	p := &v.Parts
	if !c.opts.HasOnlyKey || len(c.subject.View.KeyName) < 2 || c.split || len(*p) != 1 || (*p)[0].Kind != spec.Consistent {
		return
	}
	(*p)[0].Kind, (*p)[0].Witness = spec.Unknown, nil
	(*p)[0].Views, (*p)[0].Saw, (*p)[0].Arbitration = nil, nil, nil
	(*p)[0].Reason = "this key alone is possible, but the level is not local: together with the other keys it may not be"
}

func newChecker(s *spec.Subject, level Level, o Options) (*checker, error) {
	if level.Name == "" || level.Order == nil && level.views == nil && level.all == nil {
		return nil, errors.New("the level has no name or no order; take one from LookupLevel (and look at its error), or set Name and Order")
	}
	c := &checker{subject: s, level: level, opts: o, started: time.Now(), view: s.View}
	if err := c.defaults(); err != nil {
		return nil, err
	}
	c.whole = positions(s.View.N)
	code := -1
	if o.HasOnlyKey {
		if code = slices.Index(s.View.KeyName, o.OnlyKey); code < 0 {
			return nil, fmt.Errorf("no operation has the key %q", o.OnlyKey)
		}
	}
	if level.needsTimes(s.View) {
		if err := usableTimes(s, level); err != nil {
			return nil, err
		}
	}
	c.rules = order.NewRules(c.view)
	if level.Order != nil { // nil: it has no single order
		if err := level.Order(c.view, c.rules); err != nil {
			return nil, fmt.Errorf("level %s: %w", level.Name, err)
		}
	}
	for i := range o.Oracles {
		if err := o.Oracles[i].Apply(c.rules); err != nil {
			return nil, err
		}
	}
	c.softConflicts()
	c.split = c.splits()
	if code >= 0 { // only now: whether keys may stand alone is a matter of all of them
		c.whole = s.View.Keys()[code]
		c.view = s.View.Slice(c.whole)
		notices := c.rules.Notices // and findings are sliced
		c.rules = c.rules.Slice(c.whole, c.view)
		c.rules.Notices = notices
	}
	return c, nil
}

func (c *checker) defaults() error {
	o := &c.opts
	switch o.Engine {
	case "", "auto", "search", "sweep", "brute", wingGong:
	default:
		return fmt.Errorf("no engine is called %q; there are auto, search, sweep, wing-gong and brute", o.Engine)
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.MaxMemory == 0 {
		o.MaxMemory = DefaultMemory()
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	return nil
}

func positions(n int) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32(i)
	}
	return p
}

// usableTimes refuses a bound in time where there are no times to bound.
func usableTimes(s *spec.Subject, level Level) error {
	switch {
	case s.View.Untimed:
		return &history.Error{Msg: "level " + level.Name + " has a bound in time, and some events of the history have no time"}
	case s.View.Order == history.ByLine:
		return timesRunForwards(s)
	}
	return nil
}

// timesRunForwards refuses a bound in time on a history whose times disagree
// with the order of its lines.
func timesRunForwards(s *spec.Subject) error {
	v := s.View
	type event struct {
		seq, time int64
		op        int32
	}
	var events []event
	for i := range int32(v.N) {
		events = append(events, event{v.Call[i], v.Invoke[i], i})
		if !v.Info[i] {
			events = append(events, event{v.Ret[i], v.Return[i], i})
		}
	}
	slices.SortFunc(events, func(a, b event) int { return int(a.seq - b.seq) })
	for i := 1; i < len(events); i++ {
		if a, b := events[i-1], events[i]; b.time < a.time {
			return &history.Error{Msg: fmt.Sprintf("%s: an event at %s stands after one at %s, of %s; a level with a bound in time needs times that run forwards along the lines, or --order time",
				s.Where(b.op), order.At(b.time), order.At(a.time), s.Where(a.op))}
		}
	}
	return nil
}

func (c *checker) verdict() *spec.Verdict {
	v := &spec.Verdict{Model: c.subject.Model, Level: c.level.Name, Notices: c.rules.Notices}
	for _, o := range c.opts.Oracles {
		v.Oracles = append(v.Oracles, o.Name)
	}
	if v.Oracles != nil {
		v.Level = strings.Join(v.Oracles, "-") + "-" + v.Level
	}
	s := c.subject
	v.Counts = spec.Counts{OK: s.OK, Fail: s.Failed, Info: s.Unanswered, Constrained: s.Constrained, Keys: len(s.View.KeyName)}
	return v
}

// panicError turns what a user's function threw into an error.
func panicError(s *spec.Subject, r any) error {
	var e *spec.StepError
	if err, ok := r.(error); ok && errors.As(err, &e) {
		return fmt.Errorf("%s: %w", s.Where(e.Op), e)
	}
	return fmt.Errorf("a function of the level, oracle or model failed: %v", r)
}

// watch calls Options.Progress until the returned function is called.
func (c *checker) watch() (stop func()) {
	if c.opts.Progress == nil {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				c.opts.Progress(Progress{PartsDone: int(c.done.Load()), Parts: int(c.parts.Load()),
					States: c.live.States.Load(), Memory: c.live.Bytes.Load(), Elapsed: time.Since(c.started)})
			}
		}
	}()
	return func() { close(done); <-ended }
}
