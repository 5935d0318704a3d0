package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// placeProof refuses a proof that cannot be written, before a check is spent on
// it.
func (f *checkFlags) placeProof(files []string) error {
	if f.proof == "" {
		return nil
	}
	folder := filepath.Dir(f.proof)
	switch {
	case len(files) > 1:
		return usagef("--proof takes one history, got %d", len(files))
	case f.proof == "-":
		return usagef("--proof writes a file; - is none")
	case sameFile(f.proof, files[0]):
		return usagef("--proof %s would overwrite the history", f.proof)
	case isFolder(f.proof):
		return usagef("--proof %s is a folder; name a file", f.proof)
	case !isFolder(folder):
		return usagef("--proof %s: there is no folder %s", f.proof, folder)
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

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
		return &status{exitFailure, fmt.Errorf("--proof: %w", err)}
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
