package main

import (
	"os"
	"path/filepath"

	"pinyon/consistency"
)

// level returns the level in force: the flag's, else the one that the history
// claims, else linearizable. A claimed file is looked for beside the history.
func (l *loaded) level(flag string) (consistency.Level, error) {
	if flag != "" {
		return findLevel(flag)
	}
	name := l.raw.Header.Level
	if isOracleFile(name) {
		if name != filepath.Base(name) {
			return consistency.Level{}, malformedf("%s: header: level %q: a history may name a file beside it, not a path (give it with --level)", l.raw.Path, name)
		}
		level, err := findLevel(filepath.Join(filepath.Dir(l.raw.Path), name))
		if err != nil {
			return level, l.claimedFile("level", err)
		}
		return level, nil
	}
	level, err := consistency.LookupLevel(name)
	if err != nil {
		return level, malformedf("%s: header: %v", l.raw.Path, err)
	}
	return level, nil
}

// findLevel returns a named level or loads a level per operation from a file.
func findLevel(name string) (consistency.Level, error) {
	if !isOracleFile(name) {
		level, err := consistency.LookupLevel(name)
		if err != nil {
			return level, usagef("--level: %v", err)
		}
		return level, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return consistency.Level{}, missingFile(err)
	}
	level, err := consistency.LoadLevel(name, text)
	if err != nil {
		return level, &status{exitMalformed, err}
	}
	return level, nil
}
