package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
	"pinyon/models"
)

// model returns the model in force: the flag's or the proof's, else the one
// that the history claims. A claimed file is looked for beside the history.
func (l *loaded) model(f *readFlags) (models.Entry, error) {
	if f.entry != nil {
		return *f.entry, nil
	}
	name := l.raw.Header.Model
	if !isOracleFile(name) {
		e, err := models.Lookup(name)
		if err != nil {
			return e, malformedf("%s: header: %v", l.raw.Path, err)
		}
		return e, nil
	}
	if err := l.besideOnly(name); err != nil {
		return models.Entry{}, err
	}
	e, err := loadModel(filepath.Join(filepath.Dir(l.raw.Path), name))
	if err != nil {
		return e, l.claimedFile("model", err)
	}
	return e, nil
}

// besideOnly refuses a path in a header: what a history names must not reach
// into other folders.
func (l *loaded) besideOnly(name string) error {
	if name != filepath.Base(name) {
		return malformedf("%s: header: model %q: a history may name a file beside it, not a path (give it with --model)", l.raw.Path, name)
	}
	return nil
}

// findModel returns a built-in model or loads one from a file.
func findModel(name string) (models.Entry, error) {
	if isOracleFile(name) {
		return loadModel(name)
	}
	e, err := models.Lookup(name)
	if err != nil {
		return e, usagef("--model: %v; analyses are %s; a file ends in .yaml", err, strings.Join(analysisNames(), ", "))
	}
	return e, nil
}

func loadModel(path string) (models.Entry, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return models.Entry{}, missingFile(err)
	}
	e, err := models.Load(path, text)
	if err != nil {
		return e, &status{exitMalformed, err}
	}
	return e, nil
}

// proofModel takes the model of a proof that holds its text.
func (f *readFlags) proofModel(p *verify.File, path string) error {
	if f.model != "" || p.ModelText == "" {
		return nil
	}
	e, err := models.Load(fmt.Sprintf("%s: model %s", path, p.Model), []byte(p.ModelText))
	if err != nil {
		return &status{exitMalformed, err}
	}
	f.entry = &e
	return nil
}

// claimedModel is the model that a header names, in the words of a proof. The
// file beside the history is the proof's model where it has the proof's text;
// a built-in one is not, though it may have the name.
func claimedModel(path string, h history.Header, p *verify.File) string {
	name := h.Model
	switch {
	case p.ModelText == "":
		return name
	case !isOracleFile(name):
		if name == p.Model {
			return "the built-in " + name
		}
		return name
	case name != filepath.Base(name):
		return name
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), name))
	if err != nil || string(text) != p.ModelText {
		return name
	}
	return p.Model
}

// modelWords names the model of a proof.
func modelWords(p *verify.File) string {
	if p.ModelText != "" {
		return p.Model + " (its file is in the proof)"
	}
	return p.Model
}

// nameModel makes the model's name one that a header may hold: a file is named
// as if it stood beside the new history.
func (l *loaded) nameModel(f *readFlags) error {
	head := &l.raw.Header
	switch {
	case head.Model == "":
		return nil
	case f.entry != nil:
		head.Model = filepath.Base(head.Model)
		return nil
	case isOracleFile(head.Model):
		return l.besideOnly(head.Model)
	}
	_, err := l.model(f)
	return err
}

// modelStopped reports whether a model from a file met a value of the wrong
// kind.
func modelStopped(err error) bool {
	var step *spec.StepError
	if !errors.As(err, &step) {
		return false
	}
	cause, ok := step.Cause.(error)
	return ok && errors.Is(cause, models.ErrKind)
}
