// Package report writes a verdict for people (Text) and for programs (JSON).
// Both are made of the same value, an Input, and the words of an explanation
// are written by one function, so that the two cannot disagree.
//
// Rules that hold everywhere: the same Input gives the same bytes; elapsed
// time stands in Text only when it is asked for and in JSON only under "stats";
// the most important line of a text comes last.
package report

import (
	"fmt"
	"slices"
	"time"

	"pinyon/consistency"
	"pinyon/engine/spec"
)

// Input is one checked history with everything that a report says of it.
type Input struct {
	Path, Format string
	Level        string   // with its parameters, without oracles
	Oracles      []string // in force
	Subject      *spec.Subject
	Verdict      *spec.Verdict
	Rules        Rules
	Budget       Budget
	Import       []string            // what the importer said
	Notices      []string            // what a reader must know, beside the verdict's own
	Ladder       *consistency.Ladder // every level's verdict, where asked for
	Repeat       string              // the command that repeats the check, without a key; "": none

	// Err is why there is no verdict; Subject and Verdict are then nil.
	Err     error
	ErrCode int // the exit status for Err, for the JSON document

	_ struct{}
}

// notices are all that a reader must know.
func (in *Input) notices() []string {
	list := slices.Clone(in.Notices)
	if in.Verdict != nil {
		list = append(list, in.Verdict.Notices...)
	}
	return list
}

// Rules are the readings in force, whoever named them: a flag, the header, the
// format or the model.
type Rules struct {
	Initial    string // the initial value in words
	NilRead    string // "unknown" or "absent"
	FailCas    string // "drop" or "observe"
	Ties       string // "concurrent" or "precede"
	ClockError string // "0s" where clocks are exact
	Order      string // "time" or "file"
	Numeric    string // "exact" or "equal"

	// Observed counts the refused compare-and-sets that became observations
	// (FailCas observe).
	Observed int

	_ struct{}
}

// line writes the rules on one line.
func (r Rules) line() string {
	s := fmt.Sprintf("initial %s, nil-read %s, fail-cas %s, order %s", r.Initial, r.NilRead, r.FailCas, r.Order)
	if r.Order != "file" { // the lines of a file have neither ties nor clocks
		s += ", ties " + r.Ties
		if r.ClockError != "" && r.ClockError != "0s" {
			s += ", clock-error " + r.ClockError
		}
	}
	if r.Numeric == "equal" {
		s += ", numeric equal"
	}
	return s
}

// Budget is what a check may spend. Zero values have no limit of their own.
type Budget struct {
	Time   time.Duration
	States int64
	Memory int64 // bytes; 0: the default

	_ struct{}
}

// Options say how Text writes.
type Options struct {
	Color   bool
	Verbose bool // consistent keys too, the import report, elapsed time
	Explain bool // every refused candidate, not the main sentence alone

	_ struct{}
}
