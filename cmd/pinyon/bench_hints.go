package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/harness"
	"pinyon/kvstores"
	"pinyon/models"
)

// hintsSuite is the suite whose histories are recorded, not generated.
const hintsSuite = "hints"

// hintNodes is how many replicas a recorded store has.
const hintNodes = 5

// hintSystem is a store that returns hints, and how it is recorded.
type hintSystem struct {
	store kvstores.Store
	level string
	// many: three recordings of each setting and twice the time.
	many    bool
	clients []int // with half reads
	most    int   // clients with other shares of reads
}

// hintSystems are the fixture stores that have an oracle, but for those that
// have the hints of another under a second name.
func hintSystems(only string) (list []hintSystem) {
	for _, s := range kvstores.Stores() {
		level, oracle := s.Claims(nil)
		if oracle == "" || !strings.Contains(s.Name, only) {
			continue
		}
		sys := hintSystem{store: s, level: level, many: s.Name == "kvholipaxos", clients: []int{8, 12, 16, 20}, most: 16}
		if s.Model == "log" {
			sys.many, sys.clients, sys.most = true, []int{4, 6, 8, 10}, 8
		}
		list = append(list, sys)
	}
	return list
}

// hintSetting is one load on a store.
type hintSetting struct {
	clients int
	reads   float64
}

func (s hintSystem) settings() (list []hintSetting) {
	for _, c := range s.clients {
		list = append(list, hintSetting{c, .5})
	}
	for _, r := range []float64{.01, .33, .66, .99} {
		list = append(list, hintSetting{s.most, r})
	}
	return list
}

// variant is one way to check a recording.
type variant struct {
	name string
	with func(j *benchJob)
	soft bool // only for oracles that have a soft order
}

// hintVariants are the comparisons of the Pine paper (2026), figures 7 to 9,
// and everything on. Wing and Gong's search knows nothing of the object, as the
// paper's does; the other engines do.
func hintVariants(oracle string) []variant {
	hints := []string{oracle}
	return []variant{
		{name: "wing-gong, no hints", with: func(j *benchJob) { j.Engine = "wing-gong" }},
		{name: "wing-gong, hints", with: func(j *benchJob) { j.Engine, j.Oracles = "wing-gong", hints }},
		{name: "wing-gong, hints, no soft order", with: func(j *benchJob) { j.Engine, j.Oracles, j.NoSoft = "wing-gong", hints, true }, soft: true},
		{name: "wing-gong, times modified by hints", with: func(j *benchJob) { j.Engine, j.Oracles, j.Modified = "wing-gong", hints, true }},
		{name: "search, no hints", with: func(j *benchJob) { j.Engine = "search" }},
		{name: "search, hints", with: func(j *benchJob) { j.Engine, j.Oracles = "search", hints }},
		{name: "all, no hints", with: func(*benchJob) {}},
		{name: "all, hints", with: func(j *benchJob) { j.Oracles = hints }},
	}
}

// hintCases records what is not recorded yet, and gives the cases.
func (a *app) hintCases(ctx context.Context, f *benchFlags) (cases []benchCase, err error) {
	for _, s := range hintSystems(f.only) {
		_, oracle := s.store.Claims(nil)
		for _, set := range s.settings() {
			files, err := a.recordings(ctx, f, s, set)
			if err != nil {
				return nil, err
			}
			for _, v := range hintVariants(oracle) {
				if v.soft && !slices.Contains(softOracles, oracle) {
					continue
				}
				setting := fmt.Sprintf("%s, %d clients, reads %.2f", s.store.Name, set.clients, set.reads)
				c := benchCase{suite: hintsSuite, name: setting + ", " + v.name, setting: setting, variant: v.name,
					files: files, clients: set.clients, job: benchJob{Level: s.level}, ladder: s.store.Name + v.name}
				v.with(&c.job)
				c.rival = v.name == "all, no hints" && s.level == "linearizable"
				if set.reads == .5 {
					c.line = s.store.Name + ", " + v.name
				}
				cases = append(cases, c)
			}
		}
	}
	if cases == nil {
		return nil, usagef("--only %q: no store with hints has that in its name", f.only)
	}
	return cases, nil
}

// softOracles are those with a soft order.
var softOracles = []string{"epaxos-revisited", "erwin", "skyros"}

// recordings are the histories of one setting; each is recorded once and kept
// in f.record.
func (a *app) recordings(ctx context.Context, f *benchFlags, s hintSystem, set hintSetting) (files []string, err error) {
	runs, duration := 1, 15*time.Second
	if s.many {
		runs, duration = 3, 30*time.Second
	}
	if f.long {
		runs, duration = 3, 2*time.Minute
	}
	if f.recordFor > 0 {
		runs, duration = 1, f.recordFor
	}
	if err := os.MkdirAll(f.record, 0o777); err != nil {
		return nil, unwritten(err)
	}
	for seed := range uint64(runs) {
		path := filepath.Join(f.record, fmt.Sprintf("%s-clients%d-reads%g-%s-seed%d.jsonl", s.store.Name, set.clients, set.reads, duration, seed+1))
		if _, err := os.Stat(path); err != nil {
			if err := a.recordHints(ctx, s, set, duration, seed+1, path); err != nil {
				return nil, fmt.Errorf("recording %s: %w", path, err)
			}
		}
		files = append(files, path)
	}
	return files, nil
}

// recordHints records a healthy store of five replicas under one hot object.
func (a *app) recordHints(ctx context.Context, s hintSystem, set hintSetting, duration time.Duration, seed uint64, path string) error {
	program, err := ownProgram()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pinyon-record")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	a.say("recording %s", filepath.Base(path))
	write := "put"
	if s.store.Model == "log" {
		write = "append"
	}
	reads := int(100*set.reads + .5)
	sum, err := harness.Record(ctx, harness.Config{Target: harness.Fixture(s.store, "", nil, program), Dir: dir, Nodes: hintNodes,
		Clients: max(set.clients, hintNodes), Keys: 1, Duration: duration, Timeout: 5 * time.Second, Seed: seed,
		Mix: harness.Mix{{F: "get", Parts: reads}, {F: write, Parts: 100 - reads}}})
	if err == nil && sum.Interrupted > 0 { // it would be taken for a whole one
		err = context.Canceled
	}
	if err != nil {
		return err
	}
	return exactCopy(path, sum.History)
}

// exactCopy keeps a recording as if the clock had no steps, which a rival cannot
// allow for: everybody reads the same bytes.
func exactCopy(to, from string) error {
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	defer file.Close()
	h, err := history.ReadNative(from, file)
	if err != nil {
		return err
	}
	h.Header.ClockError = history.ClockError{}
	out, err := os.Create(to)
	if err != nil {
		return unwritten(err)
	}
	return errors.Join(history.WriteNative(out, h), out.Close())
}

// oracles are those of a job, by name.
func (j *benchJob) oracles() (list []order.Oracle, err error) {
	for _, name := range j.Oracles {
		o, err := findOracle(name)
		if err != nil {
			return nil, err
		}
		if j.NoSoft {
			o = withoutSoft(o)
		}
		list = append(list, o)
	}
	return list, nil
}

// withoutSoft is an oracle whose soft order is left out.
func withoutSoft(o order.Oracle) order.Oracle {
	all := o.Order
	o.Order = func(v *history.View, r *order.Rules) error {
		err := all(v, r)
		r.Soft = nil
		return err
	}
	return o
}

// modify writes the order that oracles give into the times of a history, as
// testers do whose checker knows real time only: an operation ends no later
// than each that comes after it, and begins no earlier than each that comes
// before it. That keeps what the oracles order apart where it can, but two
// operations whose times still overlap lose their order.
func modify(h *history.Raw, list []order.Oracle) error {
	e, err := models.Lookup(h.Header.Model)
	if err != nil {
		return err
	}
	s, err := e.Bind(h, models.Options{Initial: h.Header.Initial, NilRead: h.Header.NilRead})
	if err != nil {
		return err
	}
	v := s.View
	for _, o := range list {
		r := &order.Rules{View: v}
		if err := o.Order(v, r); err != nil {
			return err
		}
		if len(r.Findings) > 0 {
			return errors.New("the hints contradict each other; there is no order to write into the times")
		}
		for _, source := range r.Hard {
			tighten(v, source)
		}
	}
	for i := range v.N {
		op := &h.Ops[v.Ops[i]]
		op.Invoke = v.Call[i]
		if op.Outcome != history.Info {
			op.Return = v.Ret[i]
		}
	}
	return nil
}

// tighten narrows the times in v by every pair of one relation.
func tighten(v *history.View, r order.Relation) {
	call, ret := slices.Clone(v.Call), slices.Clone(v.Ret)
	for a := range int32(v.N) {
		for b := range int32(v.N) {
			if a != b && r.Precedes(a, b) {
				ret[a] = min(ret[a], v.Ret[b])
				call[b] = max(call[b], v.Call[a])
			}
		}
	}
	for i := range call {
		if call[i] <= ret[i] { // otherwise the hints contradict real time; the check shall see the times as they were
			v.Call[i], v.Ret[i] = call[i], ret[i]
		}
	}
}
