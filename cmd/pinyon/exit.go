package main

import (
	"errors"
	"fmt"
	"io/fs"

	"pinyon/consistency"
	"pinyon/engine/history"
	"pinyon/engine/spec"
	"pinyon/engine/views"
	"pinyon/oracles"
)

// The exit statuses. Those from 64 on are sysexits.h's.
const (
	exitConsistent = 0
	exitViolation  = 1
	exitUnknown    = 2
	exitVacuous    = 3
	exitUsage      = 64
	exitMalformed  = 65
	exitNoInput    = 66
	exitFailure    = 70
)

// status is an error with the exit status that it means; err is nil where
// everything has been said already.
type status struct {
	code int
	err  error
}

func (s *status) Error() string {
	if s.err == nil {
		return fmt.Sprintf("exit status %d", s.code)
	}
	return s.err.Error()
}

func (s *status) Unwrap() error { return s.err }

// usagef is an error of how the command was called.
func usagef(format string, args ...any) error {
	return &status{exitUsage, fmt.Errorf(format, args...)}
}

// malformedf is an error of what a file holds.
func malformedf(format string, args ...any) error {
	return &status{exitMalformed, fmt.Errorf(format, args...)}
}

// codeOf classifies an error.
func codeOf(err error) int {
	var s *status
	var malformed *history.Error
	var path *fs.PathError
	switch {
	case err == nil:
		return exitConsistent
	case errors.As(err, &s):
		return s.code
	case errors.As(err, &malformed), errors.Is(err, oracles.ErrOwn), modelStopped(err):
		return exitMalformed
	case errors.Is(err, spec.ErrCannotTell), errors.Is(err, consistency.ErrOptions), errors.Is(err, views.ErrModel):
		return exitUsage
	case errors.As(err, &path):
		return exitNoInput
	}
	return exitFailure
}

// exit says what err is and returns its status.
func (a *app) exit(err error) int {
	var s *status
	if err != nil && !(errors.As(err, &s) && s.err == nil) {
		a.say("%v", err)
	}
	return codeOf(err)
}

// verdictCode is the exit status of a verdict.
func verdictCode(k spec.Kind) int {
	return [...]int{spec.Consistent: exitConsistent, spec.Violation: exitViolation, spec.Unknown: exitUnknown, spec.Vacuous: exitVacuous}[k]
}

// expectedCode is the exit status of a verdict where another, or the same, was
// expected: 0 when met, 1 when the opposite was decided, else the verdict's own.
func expectedCode(got, expected spec.Kind) int {
	switch {
	case got == expected:
		return exitConsistent
	case got == spec.Consistent:
		return exitViolation
	}
	return verdictCode(got)
}

// outranks lists the statuses by weight: what several files exit with is the
// first of their own that stands here.
var outranks = []int{exitFailure, exitUsage, exitNoInput, exitMalformed, exitViolation, exitUnknown, exitVacuous, exitConsistent}

// worse returns the status that outranks the other.
func worse(a, b int) int {
	for _, code := range outranks {
		if a == code || b == code {
			return code
		}
	}
	return exitFailure
}
