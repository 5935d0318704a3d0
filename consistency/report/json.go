package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// Version is the version of the JSON document.
const Version = 1

// The document, in the order in which its fields are written. Everything but
// Stats depends on the input alone.
type document struct {
	Version int          `json:"version"`
	Files   []fileReport `json:"files"`
}

type fileReport struct {
	Path     string        `json:"path"`
	Format   string        `json:"format,omitempty"`
	Model    string        `json:"model,omitempty"`
	Level    string        `json:"level,omitempty"`
	Oracles  []string      `json:"oracles"`
	Rules    *rulesReport  `json:"rules,omitempty"`
	Verdict  string        `json:"verdict,omitempty"` // absent: there is an error
	Error    *errorReport  `json:"error,omitempty"`
	Summary  string        `json:"summary,omitempty"`
	Engine   string        `json:"engine,omitempty"`
	Split    bool          `json:"split"`
	Counts   *counts       `json:"counts,omitempty"`
	Keys     []keyReport   `json:"keys"`
	Findings []any         `json:"findings"`
	Notices  []string      `json:"notices"`
	Import   []string      `json:"import"`
	Budget   *budget       `json:"budget,omitempty"`
	Repeat   string        `json:"repeat,omitempty"`
	Stats    *stats        `json:"stats,omitempty"`
	Ladder   *ladderReport `json:"ladder,omitempty"` // with --level all
}

type errorReport struct {
	Code    int    `json:"code,omitempty"` // the exit status that it alone would give
	Message string `json:"message"`
	Path    string `json:"path,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

type rulesReport struct {
	Initial    string `json:"initial"`
	NilRead    string `json:"nil_read"`
	FailCas    string `json:"fail_cas"`
	Ties       string `json:"ties"`
	ClockError string `json:"clock_error"`
	Order      string `json:"order"`
	Numeric    string `json:"numeric"`
}

type counts struct {
	Operations  int `json:"operations"`
	OK          int `json:"ok"`
	Fail        int `json:"fail"`
	Info        int `json:"info"`
	Observed    int `json:"observed_cas"`
	Constrained int `json:"constrained"`
	Keys        int `json:"keys"`
}

type keyReport struct {
	Key         string             `json:"key"`
	Culprit     string             `json:"culprit,omitempty"` // the key that is impossible alone
	Verdict     string             `json:"verdict"`
	Skipped     bool               `json:"skipped,omitempty"`
	Operations  int                `json:"operations"`
	States      int64              `json:"states"`
	Engine      string             `json:"engine,omitempty"`
	Tried       string             `json:"tried,omitempty"` // the fast paths that left it to the search, and why
	Reason      string             `json:"reason,omitempty"`
	Budget      string             `json:"budget,omitempty"`
	Placed      int                `json:"placed,omitempty"`
	Proof       *proofReport       `json:"proof,omitempty"`
	Explanation *explanationReport `json:"explanation,omitempty"`
	Text        []string           `json:"text,omitempty"`
}

type proofReport struct {
	Kind      string       `json:"kind"`
	Cycle     []edgeReport `json:"cycle,omitempty"`
	Pattern   []operation  `json:"pattern,omitempty"`
	Words     string       `json:"words,omitempty"`   // what the pattern is
	Name      string       `json:"name,omitempty"`    // of the pattern
	Process   string       `json:"process,omitempty"` // the one that it is about
	Steps     []stepReport `json:"steps,omitempty"`   // that it rests on, each on those before it
	Hinted    []edgeReport `json:"hinted,omitempty"`  // order of a core by hints
	HintsOnly bool         `json:"hints_only,omitempty"`
	HintEdge  bool         `json:"hint_edge,omitempty"`
}

type edgeReport struct {
	From   operation `json:"from"`
	To     operation `json:"to"`
	Source string    `json:"source"`
	Why    string    `json:"why"`
}

type stepReport struct {
	From  int64  `json:"from"` // ids
	To    int64  `json:"to"`
	Why   string `json:"why"`
	Read  *int64 `json:"read,omitempty"`
	After *int64 `json:"after,omitempty"`
}

type explanationReport struct {
	Operation *operation      `json:"operation"`
	Previous  *operation      `json:"previous_ok"`
	AtReturn  bool            `json:"at_return"`
	State     string          `json:"state,omitempty"`
	Prefix    []int64         `json:"prefix"` // ids, in the order found
	Forced    []edgeReport    `json:"forced"` // hard order from its end to the operation, last step first
	Refused   []refusalReport `json:"refused"`
}

type refusalReport struct {
	Operation operation  `json:"operation"`
	After     *operation `json:"after,omitempty"`     // must come first
	Demander  *operation `json:"needed_by,omitempty"` // needs what would be overwritten
	Why       string     `json:"why"`
}

type operation struct {
	ID      int64  `json:"id"`
	Index   *int64 `json:"index,omitempty"` // of the completion, in an imported file
	Line    int32  `json:"line,omitempty"`
	Process string `json:"process"`
	Key     string `json:"key"`
	Text    string `json:"text"`
	Invoke  int64  `json:"invoke"`
	Return  *int64 `json:"return"` // null: no answer
	// Hints are all that the store returned, where an oracle is in force.
	Hints map[string]any `json:"hints,omitempty"`
}

type budget struct {
	Time   string `json:"time"`
	States int64  `json:"states"`
	Memory int64  `json:"memory"`
}

type stats struct {
	ElapsedNS int64   `json:"elapsed_ns"`
	KeysNS    []int64 `json:"keys_ns"` // in the order of keys
}

// hintValues are the hints of operation i: integers, arrays of integers, and
// anything else as text.
func hintValues(columns history.Columns, i int32) map[string]any {
	values := map[string]any{}
	for name, c := range columns {
		if n, ok := c.Int(i); ok {
			values[name] = n
		} else if list, ok := c.List(i); ok {
			values[name] = list
		} else if text, ok := c.Text(i); ok {
			values[name] = text
		}
	}
	return values
}

// JSON writes one document on all the files of a check. Fields outside of
// "stats" depend on the histories and the options alone.
func JSON(w io.Writer, ins []Input) error {
	d := document{Version: Version, Files: []fileReport{}}
	for i := range ins {
		d.Files = append(d.Files, ins[i].document())
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

func (in *Input) document() fileReport {
	f := fileReport{
		Path: in.Path, Format: in.Format, Level: in.Level, Oracles: orEmpty(in.Oracles), Import: orEmpty(in.Import),
		Keys: []keyReport{}, Findings: []any{}, Notices: []string{},
	}
	if in.Err != nil || in.Verdict == nil {
		f.Error = errorOf(in.Err)
		f.Error.Code = in.ErrCode
		return f
	}
	v, c, r := in.Verdict, in.Verdict.Counts, in.Rules
	f.Model, f.Verdict, f.Summary, f.Split, f.Notices = v.Model, v.Kind.String(), Summary(v), v.Split, orEmpty(in.notices())
	f.Rules = &rulesReport{r.Initial, r.NilRead, r.FailCas, r.Ties, r.ClockError, r.Order, r.Numeric}
	f.Counts = &counts{c.OK + c.Fail + c.Info, c.OK, c.Fail, c.Info, r.Observed, c.Constrained, c.Keys}
	f.Budget = &budget{in.Budget.Time.String(), in.Budget.States, in.Budget.Memory}
	f.Stats = &stats{ElapsedNS: v.Elapsed.Nanoseconds(), KeysNS: []int64{}}
	f.Repeat = in.repeat()
	f.Ladder = ladderOf(in.Ladder)
	f.Engine = engines(v)
	for i := range v.Parts {
		f.Keys = append(f.Keys, in.key(&v.Parts[i]))
		f.Stats.KeysNS = append(f.Stats.KeysNS, v.Parts[i].Elapsed.Nanoseconds())
	}
	return f
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// engines names what decided, once each.
func engines(v *spec.Verdict) string {
	var names []string
	for i := range v.Parts {
		if e := v.Parts[i].Engine; e != "" && !slices.Contains(names, e) {
			names = append(names, e)
		}
	}
	slices.Sort(names)
	s := ""
	for i, n := range names {
		if i > 0 {
			s += "+"
		}
		s += n
	}
	return s
}

func errorOf(err error) *errorReport {
	var e *history.Error
	if errors.As(err, &e) {
		return &errorReport{Message: err.Error(), Path: e.Path, Line: e.Line, Column: e.Col}
	}
	return &errorReport{Message: fmt.Sprint(err)}
}

func (in *Input) key(p *spec.Part) keyReport {
	k := keyReport{
		Key: p.Key, Culprit: p.Culprit, Verdict: p.Kind.String(), Skipped: p.Skipped, Operations: p.Ops, States: p.States,
		Engine: p.Engine, Tried: p.Tried, Reason: p.Reason, Budget: p.Budget, Placed: p.Placed,
	}
	if p.Kind == spec.Violation {
		k.Text = in.explain(p, true)
		k.Reason = in.sentence(p)
	}
	if p.Kind != spec.Unknown {
		k.Placed = 0
	}
	if p.Proof != nil {
		k.Proof = &proofReport{Kind: string(p.Proof.Kind), Words: p.Proof.Words, HintsOnly: p.Proof.HintsOnly, HintEdge: p.Proof.HintEdge}
		if p.Proof.Kind != spec.ProofCycle {
			k.Proof.HintsOnly, k.Proof.HintEdge = false, false
		}
		k.Proof.Name, k.Proof.Steps = string(p.Proof.Name), in.steps(p.Proof.Steps)
		if p.Proof.Name != "" {
			k.Proof.Process = p.Process
		}
		k.Proof.Cycle = append(k.Proof.Cycle, in.edges(p.Proof.Cycle)...)
		if len(p.Proof.Hinted) > 0 {
			k.Proof.Hinted = in.edges(p.Proof.Hinted)
		}
		for _, x := range p.Proof.Ops {
			k.Proof.Pattern = append(k.Proof.Pattern, in.operation(x))
		}
	}
	if p.Explain != nil {
		k.Explanation = in.explanation(p.Explain)
	}
	return k
}

func (in *Input) edges(edges []spec.Edge) []edgeReport {
	reports := []edgeReport{}
	for _, e := range edges {
		reports = append(reports, edgeReport{in.operation(e.From), in.operation(e.To), e.Source, e.Why})
	}
	return reports
}

func (in *Input) steps(steps []spec.Step) (reports []stepReport) {
	id := func(x int32) *int64 {
		if x < 0 {
			return nil
		}
		n := in.Subject.ID(x)
		return &n
	}
	for _, s := range steps {
		reports = append(reports, stepReport{in.Subject.ID(s.From), in.Subject.ID(s.To), string(s.Why), id(s.Read), id(s.After)})
	}
	return reports
}

func (in *Input) explanation(e *spec.Explanation) *explanationReport {
	r := &explanationReport{
		Operation: in.optional(e.Op), Previous: in.optional(e.Before), AtReturn: e.AtReturn, State: e.State,
		Prefix: []int64{}, Forced: in.edges(e.Forced), Refused: []refusalReport{},
	}
	for _, i := range e.Prefix {
		r.Prefix = append(r.Prefix, in.Subject.ID(i))
	}
	for _, no := range e.Refused {
		one := refusalReport{Operation: in.operation(no.Op), After: in.optional(no.After), Why: no.Why}
		if no.Demander != nil {
			one.Demander = in.optional(*no.Demander)
		}
		r.Refused = append(r.Refused, one)
	}
	return r
}

func (in *Input) optional(i int32) *operation {
	if i < 0 {
		return nil
	}
	o := in.operation(i)
	return &o
}

func (in *Input) operation(i int32) operation {
	v := in.Subject.View
	o := operation{ID: in.Subject.ID(i), Process: in.process(i), Key: v.KeyName[v.Key[i]], Text: in.Subject.Text(i), Invoke: v.Invoke[i]}
	if n, ok := in.index(i); ok {
		o.Index = &n
	}
	if origin, ok := in.Subject.Origin(i); ok {
		o.Line = origin.Line
	}
	if !v.Info[i] {
		o.Return = &v.Return[i]
	}
	if len(in.Oracles) > 0 {
		o.Hints = hintValues(v.Hints, i)
	}
	return o
}
