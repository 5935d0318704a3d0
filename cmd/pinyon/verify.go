package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
		a.print("accepted: the evidence shows that %s is %s at level %s%s\n", path, verdictWords(p.Verdict), p.Level, oracleWords(p))
		return nil
	case verify.Refused:
		a.print("refused: %s\n", r.Reason)
		return &status{code: exitViolation}
	}
	a.print("not checkable: %s\n", r.Reason)
	return &status{code: exitUnknown}
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
	f.model = firstOf(f.model, p.Model)
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
