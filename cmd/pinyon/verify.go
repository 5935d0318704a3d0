package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pinyon/consistency"
	"pinyon/engine/brute"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
	"pinyon/oracles"
)

func (a *app) verifyCommand() *cobra.Command {
	f := &readFlags{}
	cmd := &cobra.Command{
		Use:   "verify FILE PROOF",
		Short: "Check the evidence behind a verdict again, without the engine",
		Example: `  pinyon check history.jsonl --proof proof.json
  pinyon verify history.jsonl proof.json`,
		Long: `Reads the history as the proof says it was read (flags override), and checks the
orders and cycles in the proof one by one. Exit status: 0 accepted, 1 refused,
2 not checkable (the verdict rests on an exhausted search, or is unknown).`,
		Args: args(cobra.ExactArgs(2), "a history and a proof"),
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := f.parse(cmd); err != nil {
				return err
			}
			return a.verify(f, files[0], files[1])
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
	}
	cmd.Flags().SortFlags = false
	f.add(cmd)
	a.completeFlags(cmd)
	return cmd
}

func (a *app) verify(f *readFlags, path, proofPath string) error {
	p, err := readProof(proofPath)
	if err != nil {
		return err
	}
	if err := f.adopt(p, proofPath); err != nil {
		return err
	}
	l, err := a.load(path, f)
	if err != nil {
		return err
	}
	l.claim.Model = claimedModel(path, l.claim, p)
	for _, d := range differs(l.claim, p) {
		a.print("note: %s\n", d)
	}
	if p.Rules.ByNode != nil && !f.hasClockErr {
		l.raw.Header.ClockError = history.ClockError{ByNode: p.Rules.ByNode}
	}
	s, err := l.bind(f)
	if err != nil {
		return err
	}
	extra, err := hinted(p, proofPath, s)
	if err != nil {
		return err
	}
	if p.LevelText != "" {
		level, err := consistency.LoadLevel(fmt.Sprintf("%s: level %s", proofPath, p.Level), []byte(p.LevelText))
		if err != nil {
			return &status{exitMalformed, err}
		}
		if err := level.Order(s.View, order.NewRules(s.View)); err != nil { // a condition that this model cannot tell
			return located(path, err)
		}
		p.Entitled = level.Entitled()
	}
	p.TryCore = brute.Core
	result, err := p.Check(s, extra)
	if err != nil {
		return located(path, err)
	}
	return a.answer(path, p, result)
}

// answer says what became of the proof.
func (a *app) answer(path string, p *verify.File, r verify.Result) error {
	for _, n := range r.Notes {
		a.print("note: %s\n", n)
	}
	switch r.Answer {
	case verify.Accepted:
		a.print("rules   %s\n", proofRules(p))
		a.print("accepted: the evidence shows that %s is %s at level %s%s\n", path, verdictWords(p.Verdict), p.Level, oracleWords(p))
		return nil
	case verify.Refused:
		a.print("refused: %s\n", r.Reason)
		return &status{code: exitViolation}
	}
	a.print("not checkable: %s\n", r.Reason)
	return &status{code: exitUnknown}
}

// proofRules names the rules under which the evidence holds: they are the
// proof's, and the history's own header may say otherwise.
func proofRules(p *verify.File) string {
	words := []string{"model " + modelWords(p), "order " + p.Rules.Order, "ties " + p.Rules.Ties}
	if p.Initial != nil {
		words = append(words, "initial "+string(p.Initial))
	}
	for _, w := range [][2]string{{"nil-read", p.NilRead}, {"fail-cas", p.Rules.FailCas}, {"numeric", p.Rules.Numeric}} {
		if w[1] != "" {
			words = append(words, w[0]+" "+w[1])
		}
	}
	if p.Rules.ClockError != 0 {
		words = append(words, "clock error "+time.Duration(p.Rules.ClockError).String())
	}
	if p.Rules.ByNode != nil {
		words = append(words, "clock error by node")
	}
	return strings.Join(words, ", ")
}

// differs lists what the header of the history says otherwise than the proof:
// somebody chose other rules than the history claims.
func differs(h history.Header, p *verify.File) (list []string) {
	say := func(what, header, proof string) {
		if header != "" && header != proof {
			list = append(list, fmt.Sprintf("the history's header says %s %s, the proof is for %s", what, header, proof))
		}
	}
	say("model", h.Model, p.Model)
	say("level", h.Level, p.Level)
	if h.Initial != history.Absent {
		say("initial", h.Initial.Text(), string(p.Initial))
	}
	if h.HasTies {
		say("ties", h.Ties.String(), p.Rules.Ties)
	}
	say("nil_read", h.NilRead, p.NilRead)
	if h.ClockError.ByNode == nil && h.ClockError.All != p.Rules.ClockError {
		say("clock_error", time.Duration(h.ClockError.All).String(), time.Duration(p.Rules.ClockError).String())
	}
	if len(h.Oracles) > 0 && len(p.Oracles) == 0 {
		say("oracle", strings.Join(h.Oracles, ", "), "none")
	}
	return list
}

func verdictWords(verdict string) string {
	if verdict == spec.Violation.String() {
		return "a violation"
	}
	return verdict
}

// oracleWords names the oracles of a proof.
func oracleWords(p *verify.File) string {
	if len(p.Oracles) == 0 {
		return ""
	}
	var names []string
	for _, o := range p.Oracles {
		names = append(names, o.Name)
	}
	return " with oracle " + strings.Join(names, ", ")
}

func readProof(path string) (*verify.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, missingFile(err)
	}
	defer file.Close()
	p, err := verify.ReadFile(file)
	if err != nil {
		return nil, malformedf("%s: %w", path, err)
	}
	return p, nil
}

// adopt takes the rules of the proof for what the flags leave open.
func (f *readFlags) adopt(p *verify.File, path string) error {
	if err := f.proofModel(p, path); err != nil {
		return err
	}
	if p.Model != noModel {
		f.model = firstOf(f.model, p.Model)
	}
	if !f.hasInit && p.Initial != nil {
		v, err := history.ParseValue(string(p.Initial))
		if err != nil {
			return malformedf("%s: the initial value is not JSON: %w", path, err)
		}
		f.initial, f.hasInit = v, true
	}
	if !f.hasClockErr && p.Rules.ByNode == nil {
		f.clock, f.hasClockErr = time.Duration(p.Rules.ClockError), true
	}
	for _, r := range []struct {
		flag *choice
		word string
	}{
		{f.nilRead, p.NilRead}, {f.ties, p.Rules.Ties}, {f.order, p.Rules.Order}, {f.failCas, p.Rules.FailCas},
	} {
		if r.flag.value != "" || r.word == "" {
			continue
		}
		if err := r.flag.Set(r.word); err != nil {
			return malformedf("%s: rules: %q: %w", path, r.word, err)
		}
	}
	if f.numeric.value == "exact" && p.Rules.Numeric != "" {
		if err := f.numeric.Set(p.Rules.Numeric); err != nil {
			return malformedf("%s: rules: %q: %w", path, p.Rules.Numeric, err)
		}
	}
	return nil
}

// hinted rebuilds the order of the proof's oracles from its text; nil where it
// names none.
func hinted(p *verify.File, path string, s *spec.Subject) (func(a, b int32) bool, error) {
	if len(p.Oracles) == 0 {
		return nil, nil
	}
	rules := order.NewRules(s.View)
	p.Contradictions = rules.Contradictions
	for _, t := range p.Oracles {
		o, err := proofOracle(t, path)
		if err != nil {
			return nil, err
		}
		if err := o.Apply(rules); err != nil {
			return nil, err
		}
	}
	return func(a, b int32) bool {
		for _, r := range rules.Hard {
			if r.Precedes(a, b) {
				return true
			}
		}
		return false
	}, nil
}

func proofOracle(t verify.OracleText, path string) (order.Oracle, error) {
	if t.Text == "" {
		o, err := oracles.Lookup(t.Name)
		if err != nil {
			return o, malformedf("%s: %w", path, err)
		}
		return o, nil
	}
	o, err := oracles.Load(fmt.Sprintf("%s: oracle %s", path, t.Name), []byte(t.Text))
	var malformed *history.Error
	if err != nil && !errors.As(err, &malformed) {
		return o, malformedf("%s: oracle %s: %w", path, t.Name, err)
	}
	return o, err
}
