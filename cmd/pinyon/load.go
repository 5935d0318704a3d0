package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pinyon/consistency/report"
	"pinyon/engine/history"
	"pinyon/engine/history/importers"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/models"
	"pinyon/oracles"
)

// loaded is a history read under the rules in force.
type loaded struct {
	raw    *history.Raw
	report *importers.Report
	rules  report.Rules
	claim  history.Header // as the file has it
	// modelText is the file of the model; "" where it is built in.
	modelText string
}

// load reads the history at path and settles its rules: flags outrank the
// header, the header outranks what the format implies. The rules in force then
// stand in the header.
func (a *app) load(path string, f *readFlags) (*loaded, error) {
	h, rep, err := importers.Load(path, importers.Options{
		Format: f.format, Map: f.mapping, Keyed: f.keyed.value, Order: f.order.value, Strict: f.strict, Stdin: a.stdin, Context: a.ctx,
	})
	if errors.Is(err, context.Canceled) {
		return nil, &status{exitUnknown, fmt.Errorf("%s: interrupted while it was read", path)}
	}
	if err != nil {
		return nil, missingFile(err)
	}
	h.Untimed = !rep.Timed
	l := &loaded{raw: h, report: rep, claim: h.Header}
	l.settle(f)
	if h.Header.FailCas == "observe" {
		l.rules.Observed = history.ObserveRefusedCas(h)
	}
	if f.numeric.value == "equal" {
		history.FoldNumbers(h)
	}
	if err := history.Validate(h); err != nil {
		return nil, err
	}
	return l, nil
}

// notices are what the import did that a reader would not expect.
func (l *loaded) notices() []string {
	list := slices.Clone(l.report.Warnings)
	if n := l.report.Skipped; n > 0 {
		list = append(list, fmt.Sprintf("lines that are no operations and were skipped: %d (-v shows the first)", n))
	}
	if n := len(l.report.Dropped); n > 0 {
		list = append(list, fmt.Sprintf("%d fields were dropped that no hint can hold (-v lists them)", n))
	}
	return list
}

// missingFile words the error of a file that cannot be opened.
func missingFile(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return &status{exitNoInput, fmt.Errorf("%s: %w", path.Path, path.Err)}
	}
	if code := codeOf(err); code != exitFailure {
		return err
	}
	return &status{exitNoInput, err}
}

// claimedFile words the error of a file that the header names and that is not
// there: whoever asked for the check did not name it, and may not know of it.
func (l *loaded) claimedFile(what string, err error) error {
	if codeOf(err) != exitNoInput {
		return err
	}
	return &status{exitNoInput, fmt.Errorf("%s: header: %s %w (it is looked for beside the history; --%s overrides the header)", l.raw.Path, what, err, what)}
}

// settle writes the rules in force into the header.
func (l *loaded) settle(f *readFlags) {
	head, d := &l.raw.Header, l.report.Defaults
	if f.hasInit {
		head.Initial = f.initial
	} else if head.Initial == history.Absent {
		head.Initial = d.Initial
	}
	head.NilRead = firstOf(f.nilRead.value, head.NilRead, d.NilRead, "absent")
	head.FailCas = firstOf(f.failCas.value, head.FailCas, d.FailCas, "drop")
	switch {
	case f.ties.value == "precede":
		head.Ties, head.HasTies = history.TiesPrecede, true
	case f.ties.value == "concurrent":
		head.Ties, head.HasTies = history.TiesConcurrent, true
	case !head.HasTies:
		head.Ties = d.Ties
	}
	if f.hasClockErr {
		head.ClockError = history.ClockError{All: int64(f.clock)}
	}
	head.Model = firstOf(f.model, head.Model)
	l.rules = report.Rules{
		NilRead: head.NilRead, FailCas: head.FailCas, Ties: head.Ties.String(), Order: l.raw.Order.String(),
		Numeric: f.numeric.value, ClockError: clockErrorText(head.ClockError),
	}
}

func firstOf(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

func clockErrorText(c history.ClockError) string {
	if c.ByNode != nil {
		return "by node"
	}
	return time.Duration(c.All).String()
}

// noModel is what reports and proofs of an empty history without a model say.
const noModel = "none"

// bind gives the history its model. An empty history is vacuous under any.
func (l *loaded) bind(f *readFlags) (*spec.Subject, error) {
	head := &l.raw.Header
	name := firstOf(head.Model, modelOfFormat[l.report.Format])
	head.Model = name
	if name == "" && len(l.raw.Ops) == 0 {
		s, err := models.All()[0].Bind(l.raw, models.Options{})
		if err == nil {
			s.Model = noModel
		}
		l.rules.Initial = "none"
		if head.Initial != history.Absent {
			l.rules.Initial = head.Initial.Text()
		}
		return s, err
	}
	if name == "" {
		return nil, usagef("%s: the history names no model; choose one with --model: %s", l.raw.Path, strings.Join(modelNames(), ", "))
	}
	e, err := l.model(f)
	if err != nil {
		return nil, err
	}
	l.modelText = e.Text
	s, err := e.Bind(l.raw, models.Options{Initial: head.Initial, NilRead: head.NilRead})
	if err != nil {
		if f.init != "" && strings.Contains(err.Error(), "initial value") {
			return nil, usagef("--init %q: %w", f.init, err)
		}
		return nil, err
	}
	l.rules.Initial = initialText(s, head.Initial)
	return s, nil
}

// modelOfFormat names the model of formats that can hold no other.
var modelOfFormat = map[string]string{"etcd-log": "cas-register", "splitbrain": "cas-register", "porcupine-kv": "kv", "s2": "s2"}

func modelNames() []string {
	var names []string
	for _, e := range models.All() {
		names = append(names, e.Name)
	}
	return names
}

// initialText writes the initial value; the model's own in its words.
func initialText(s *spec.Subject, given history.Value) string {
	if given != history.Absent {
		return given.Text()
	}
	if len(s.View.KeyName) == 0 {
		return "the model's"
	}
	m := s.Machine(context.Background(), s.View, false)
	return spec.DescribeState(m, m.Init(0))
}

// oracles returns the oracles in force: the flags', else those that the history
// claims. A claimed file is looked for beside the history.
func (l *loaded) oracles(flags []string) ([]order.Oracle, error) {
	names, beside := flags, ""
	if len(flags) == 0 {
		names, beside = l.raw.Header.Oracles, filepath.Dir(l.raw.Path)
	}
	var list []order.Oracle
	for _, name := range names {
		if name == "none" {
			continue
		}
		if beside != "" && isOracleFile(name) {
			if name != filepath.Base(name) {
				return nil, malformedf("%s: header: oracle %q: a history may name a file beside it, not a path (give it with --oracle)", l.raw.Path, name)
			}
			name = filepath.Join(beside, name)
		}
		o, err := findOracle(name)
		if err != nil && beside != "" && codeOf(err) == exitUsage {
			return nil, malformedf("%s: header: %v", l.raw.Path, err)
		}
		if err != nil && beside != "" {
			return nil, l.claimedFile("oracle", err)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// isOracleFile reports whether the name of an oracle is a path.
func isOracleFile(name string) bool {
	return strings.ContainsRune(name, filepath.Separator) || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// findOracle returns a built-in oracle or loads one from a file.
func findOracle(name string) (order.Oracle, error) {
	if !isOracleFile(name) {
		o, err := oracles.Lookup(name)
		if err != nil {
			return o, usagef("--oracle: %v; there are %s, none, and YAML files (*.yaml)", err, strings.Join(oracleNames(), ", "))
		}
		return o, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return order.Oracle{}, missingFile(err)
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		return order.Oracle{}, missingFile(err)
	}
	o, err := oracles.Load(name, text)
	if err != nil {
		return o, &status{exitMalformed, err}
	}
	return o, nil
}

func oracleNames() []string {
	var names []string
	for _, o := range oracles.Builtin() {
		names = append(names, o.Name)
	}
	return names
}
