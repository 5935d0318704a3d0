package harness

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/kvstores"
)

// Case is one run of a campaign.
type Case struct {
	Store   string            `json:"store"`
	Bug     string            `json:"bug,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Faults  string            `json:"faults"`
	Level   string            `json:"level,omitempty"` // "": the claim
	Clients int               `json:"clients,omitempty"`
	Keys    int               `json:"keys,omitempty"`
	Rate    float64           `json:"rate,omitempty"`
	Seed    uint64            `json:"seed"`
}

// Name names a case, and its folder.
func (c Case) Name() string {
	parts := []string{c.Store}
	if c.Bug != "" {
		parts = append(parts, c.Bug)
	}
	for _, name := range slices.Sorted(keysOf(c.Options)) {
		parts = append(parts, name+c.Options[name])
	}
	parts = append(parts, c.Faults)
	if c.Level != "" {
		parts = append(parts, strings.NewReplacer(":", "-", "=", "").Replace(c.Level))
	}
	for _, n := range []struct {
		what string
		n    float64
	}{{"clients", float64(c.Clients)}, {"keys", float64(c.Keys)}, {"rate", c.Rate}} {
		if n.n != 0 {
			parts = append(parts, fmt.Sprintf("%s%g", n.what, n.n))
		}
	}
	return fmt.Sprintf("%s-seed%d", strings.Join(parts, "-"), c.Seed)
}

// CaseResult is what came of it.
type CaseResult struct {
	Case
	Verdict   string       `json:"verdict"` // of spec.Kind; "error" where there is none
	Against   string       `json:"against"` // the level, with its oracles
	Why       string       `json:"why,omitempty"`
	Ops       int64        `json:"ops"`
	Answered  int64        `json:"answered"`
	Unknown   int64        `json:"unanswered"`
	Cuts      int          `json:"cuts,omitempty"`      // cuts that left somebody a majority
	Served    int          `json:"served,omitempty"`    // operations that such nodes answered during a cut
	Effects   []FaultCount `json:"effects,omitempty"`   // the faults, by kind
	Strongest []string     `json:"strongest,omitempty"` // of a violation: levels that still hold
	FirstOps  int64        `json:"first_ops,omitempty"` // of a violation: operations until the first impossible return
	FirstTime float64      `json:"first_seconds,omitempty"`
	Bundle    string       `json:"bundle,omitempty"` // where the run is kept
}

// Passed reports whether the run found nothing.
func (r CaseResult) Passed() bool { return r.Verdict == spec.Consistent.String() }

// Campaign runs many cases, several at a time.
type Campaign struct {
	Dir       string // results.jsonl, and a bundle of every run that did not pass; "": nothing is kept
	Program   string // this binary
	Parallel  int
	Duration  time.Duration
	Budget    time.Duration // of one check
	Rate      float64       // of cases that name none
	Mix       Mix           // nil: that of each store
	Timeout   time.Duration // of one operation
	Strongest bool          // find which levels still hold, of a violation
	First     bool          // find the first impossible return
	Done      func(CaseResult)
	Say       func(format string, args ...any)
	// disarm, for tests, takes the teeth out of every injector.
	disarm bool
	_      struct{}
}

// Run runs the cases that have no result yet and returns the results of all,
// in the order of cases. When ctx ends, what has not begun is left out.
func (c *Campaign) Run(ctx context.Context, cases []Case) ([]CaseResult, error) {
	done, err := c.earlier()
	if err != nil {
		return nil, err
	}
	results := make([]*CaseResult, len(cases))
	var mutex sync.Mutex
	var failure error
	todo := make(chan int)
	var wg sync.WaitGroup
	for range max(c.Parallel, 1) {
		wg.Go(func() {
			for i := range todo {
				r := c.one(ctx, cases[i])
				mutex.Lock()
				if ctx.Err() == nil || r.Verdict == spec.Violation.String() {
					results[i] = &r
					failure = errors.Join(failure, c.keep(r))
					if c.Done != nil {
						c.Done(r)
					}
				}
				mutex.Unlock()
			}
		})
	}
	for i := range cases {
		if r, ok := done[cases[i].Name()]; ok {
			results[i] = &r
			continue
		}
		if ctx.Err() == nil {
			todo <- i
		}
	}
	close(todo)
	wg.Wait()
	var list []CaseResult
	for _, r := range results {
		if r != nil {
			list = append(list, *r)
		}
	}
	return list, failure
}

// earlier are the results that an interrupted campaign left, by name. A last
// line that was cut off is taken out, so that the next one begins on its own.
func (c *Campaign) earlier() (map[string]CaseResult, error) {
	if c.Dir == "" {
		return nil, nil
	}
	path := filepath.Join(c.Dir, "results.jsonl")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if whole := bytes.LastIndexByte(text, '\n') + 1; err == nil && whole < len(text) {
		err = os.Truncate(path, int64(whole))
	}
	if err != nil {
		return nil, err
	}
	list, err := ReadResults(path)
	if err != nil {
		return nil, err
	}
	m := map[string]CaseResult{}
	for _, r := range list {
		m[r.Name()] = r
	}
	return m, nil
}

// ReadResults reads the results of a campaign. A last line that was cut off by
// the end of its writer is left out.
func ReadResults(path string) ([]CaseResult, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []CaseResult
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	var bad error
	for n := 1; lines.Scan(); n++ {
		if bad != nil {
			return nil, bad
		}
		var r CaseResult
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			bad = fmt.Errorf("%s:%d: %w", path, n, err)
			continue
		}
		list = append(list, r)
	}
	return list, lines.Err()
}

func (c *Campaign) keep(r CaseResult) error {
	if c.Dir == "" {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(c.Dir, "results.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	line, err := json.Marshal(r)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	return errors.Join(err, f.Close())
}

// one runs and checks one case; its folder stays only where it did not pass.
func (c *Campaign) one(ctx context.Context, k Case) (r CaseResult) {
	r = CaseResult{Case: k, Verdict: "error"}
	dir, err := c.folder(k)
	if err == nil {
		err = c.record(ctx, k, dir, &r)
	}
	if err != nil {
		r.Verdict, r.Why = "error", err.Error()
	}
	if c.Dir == "" || r.Passed() {
		_ = os.RemoveAll(dir)
	} else {
		r.Bundle = dir
	}
	return r
}

func (c *Campaign) folder(k Case) (string, error) {
	if c.Dir == "" {
		return os.MkdirTemp("", "pinyon-")
	}
	dir := filepath.Join(c.Dir, k.Name())
	if err := os.RemoveAll(dir); err != nil { // of a run that was interrupted
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// config is that of one case, recorded in dir.
func (c *Campaign) config(k Case, dir string) (Config, error) {
	store, err := kvstores.Lookup(k.Store)
	if err != nil {
		return Config{}, err
	}
	cfg := Config{Target: Fixture(store, k.Bug, k.Options, c.Program), Dir: dir, Clients: k.Clients, Keys: k.Keys,
		Rate: cmp.Or(k.Rate, c.Rate), Mix: c.Mix, Duration: c.Duration, Timeout: c.Timeout, Seed: k.Seed, Faults: k.Faults, Level: k.Level, disarm: c.disarm}
	if k.Level != "" {
		cfg.Oracles = []string{}
	}
	return cfg, nil
}

// Vain is Config.Vain, of a case.
func (c *Campaign) Vain(k Case) error {
	cfg, err := c.config(k, "")
	if err != nil {
		return err
	}
	return cfg.Vain()
}

func (c *Campaign) record(ctx context.Context, k Case, dir string, r *CaseResult) error {
	cfg, err := c.config(k, dir)
	if err != nil {
		return err
	}
	claim := cfg.Target.Claim()
	sum, err := Record(ctx, cfg)
	if sum == nil {
		return err
	}
	r.Ops, r.Answered, r.Unknown, r.Effects = sum.OK+sum.Failed+sum.Unknown, sum.OK, sum.Unknown, sum.Faults
	if err != nil {
		return err
	}
	// An interrupted run is checked all the same.
	v, subject, err := Checker{Budget: c.Budget, Workers: 1}.Check(context.WithoutCancel(ctx), sum.History)
	if err != nil {
		return err
	}
	if r.Served, r.Cuts, err = c.served(sum, cfg.Nodes); err != nil {
		return err
	}
	r.Against = strings.Join(append([]string{cmp.Or(k.Level, claim.Level)}, cfg.oracles(claim)...), "+")
	r.Verdict, r.Why = v.Kind.String(), reasonOf(v)
	if why := sum.Vacuous(); why != "" && v.Kind == spec.Consistent {
		r.Verdict, r.Why = spec.Vacuous.String(), why
	}
	if v.Kind != spec.Violation {
		return nil
	}
	if c.First {
		r.FirstOps, r.FirstTime, err = firstImpossible(context.WithoutCancel(ctx), sum.History)
	}
	if c.Strongest && err == nil {
		r.Strongest, err = strongest(context.WithoutCancel(ctx), subject, c.Budget)
	}
	return err
}

// served reads what was recorded once more; see the function of this name.
func (c *Campaign) served(sum *Summary, nodes int) (ops, cuts int, err error) {
	file, err := os.Open(sum.History)
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	h, err := history.ReadNative(sum.History, file)
	if err != nil {
		return 0, 0, err
	}
	ops, cuts = served(h, Topology(cmp.Or(nodes, 3), cmp.Or(nodes, 3)).Nodes, sum.Evidence)
	return ops, cuts, nil
}

// reasonOf is why a verdict is undecided, of the first key that is.
func reasonOf(v *spec.Verdict) string {
	for _, k := range v.Parts {
		if k.Reason != "" {
			return k.Reason
		}
	}
	return ""
}

// oracles are those in force.
func (c *Config) oracles(claim Claim) []string {
	if c.Oracles != nil {
		return c.Oracles
	}
	return claim.Oracles
}

// Tally counts results.
type Tally struct {
	Runs, Passed, Violations, Unknown, Vacuous, Errors int
	Verified                                           int // faults that were seen to work
}

// TallyOf counts.
func TallyOf(list []CaseResult) (t Tally) {
	for _, r := range list {
		t.Runs++
		switch r.Verdict {
		case spec.Consistent.String():
			t.Passed++
		case spec.Violation.String():
			t.Violations++
		case spec.Unknown.String():
			t.Unknown++
		case spec.Vacuous.String():
			t.Vacuous++
		default:
			t.Errors++
		}
		for _, f := range r.Effects {
			t.Verified += f.Verified
		}
	}
	return t
}

// String says what the runs showed, and no more: without a failure in N runs
// the rate of failures is below 3/N with 95 % confidence (the rule of three,
// Hanley and Lippman-Hand, 1983). Of three runs or fewer that is nothing.
func (t Tally) String() string {
	s := fmt.Sprintf("%s, %s seen to work: %d passed, %s, %d unknown, %d vacuous, %d failed to run",
		many(t.Runs, "run"), many(t.Verified, "fault"), t.Passed, many(t.Violations, "violation"), t.Unknown, t.Vacuous, t.Errors)
	if t.Passed > 3 && t.Violations == 0 {
		s += fmt.Sprintf("; a violation comes in fewer than %.2g of such runs (95 %%)", 3/float64(t.Passed))
	}
	return s
}
