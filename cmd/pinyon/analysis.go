package main

import (
	"fmt"
	"strings"

	"pinyon/consistency/report"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/models"
)

// analysisShown is how many findings of an analysis stand in a report.
const analysisShown = 20

// analyse decides a history by an analysis, which is no search at a level: it
// knows by itself what its findings mean. ok is false where the model in force
// is none.
func (l *loaded) analyse(f *checkFlags, in *report.Input) (ok bool, err error) {
	a, err := models.LookupAnalysis(l.raw.Header.Model)
	if err != nil {
		return false, nil
	}
	switch {
	case f.level != "" || len(f.oracles) > 0:
		return true, usagef("--model %s is an analysis: it takes no level and no oracle", a.Name)
	case f.hasKey || f.proof != "":
		return true, usagef("--model %s is an analysis: it takes no --key and gives no --proof", a.Name)
	}
	result, err := a.Run(l.raw, models.Options{Initial: l.raw.Header.Initial, NilRead: l.raw.Header.NilRead})
	if err != nil {
		return true, err
	}
	v := result.Verdict(a.Name)
	v.Level = "valid by " + a.Name
	in.Level, v.Notices = "none", nil
	for i := range v.Parts {
		p := &v.Parts[i]
		if p.Kind == spec.Violation {
			p.Proof = &spec.Proof{Kind: spec.ProofPattern, Words: findings(result, p.Key, true)}
		}
	}
	if others := findings(result, "", false); others != "" {
		v.Notices = strings.Split(others, "\n")
	}
	l.rules.Initial = "the analysis'"
	in.Subject, in.Verdict, in.Rules = plainSubject(l.raw, a.Name), v, l.rules
	return true, nil
}

// analysisNames lists the analyses.
func analysisNames() (names []string) {
	for _, a := range models.Analyses() {
		names = append(names, a.Name)
	}
	return names
}

// findings writes the findings that convict a key, or all that do not.
func findings(r *models.Result, key string, bad bool) string {
	var lines []string
	more := 0
	for _, f := range r.Findings {
		switch {
		case f.Bad != bad || bad && f.Key != key:
		case len(lines) < analysisShown:
			lines = append(lines, f.Name+": "+report.Clipped(f.Text))
		default:
			more++
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// plainSubject is a history whose operations can be named and written, under
// no model.
func plainSubject(h *history.Raw, name string) *spec.Subject {
	plain := &history.Of[string, string]{Header: h.Header, IDs: h.IDs, Origins: h.Origins, Indexes: h.Indexes, Path: h.Path,
		Processes: h.Processes, Order: h.Order, Format: h.Format}
	for _, op := range h.Ops {
		plain.Ops = append(plain.Ops, history.Op[string, string]{Process: op.Process, F: op.F, Key: op.Key, In: strings.TrimSpace(op.F + " " + op.In.Label()),
			Out: op.Out.Label(), Invoke: op.Invoke, Return: op.Return, Outcome: op.Outcome, Node: op.Node, Error: op.Error})
	}
	s, err := spec.Erase(plain, spec.Model[int, string, string]{
		Name: name,
		Init: func() int { return 0 },
		Step: func(s int, _ string, _ *string) (int, bool) { return s, true },
		Text: func(in string, out *string) string {
			if out == nil || *out == "" {
				return in
			}
			return in + " = " + *out
		},
	})
	if err != nil {
		panic(err) // the model above has all that Erase asks for
	}
	return s
}
