package main

import (
	"encoding/json"
	"fmt"
	"os"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// writeProof writes the evidence of a verdict, with all that is needed to read
// the history as it was read here.
func writeProof(f *checkFlags, l *loaded, s *spec.Subject, level consistency.Level, list []order.Oracle, v *spec.Verdict) error {
	p := verify.NewFile(s, level.Name, v)
	head := &l.raw.Header
	if head.Initial != history.Absent {
		p.Initial = json.RawMessage(head.Initial.Text())
	}
	p.NilRead, p.Rules.FailCas, p.Rules.Numeric = head.NilRead, head.FailCas, f.numeric.value
	p.LevelText, p.ModelText = level.Text(), l.modelText
	for _, o := range list {
		text := o.Text
		if text == o.Name {
			text = "" // built in: the name says it all
		}
		p.Oracles = append(p.Oracles, verify.OracleText{Name: o.Name, Text: text})
	}
	p.Producer = "pinyon " + version
	file, err := os.Create(f.proof)
	if err != nil {
		return &status{exitFailure, err}
	}
	err = verify.WriteFile(file, p)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return &status{exitFailure, fmt.Errorf("the proof could not be written: %w", err)}
	}
	return nil
}
