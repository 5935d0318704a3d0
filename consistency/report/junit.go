package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"pinyon/engine/spec"
)

// The elements of JUnit's XML, as test servers read it. Times are left out, so
// that one history gives the same bytes twice.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string       `xml:"classname,attr"`
		Name    string       `xml:"name,attr"`
		Failure *junitReason `xml:"failure"`
		Error   *junitReason `xml:"error"`
		Skipped *junitReason `xml:"skipped"`
	}
	junitReason struct {
		Message string `xml:"message,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes one document on all the files of a check: a suite for each, and
// in it a case for each key and one for the whole. A violation is a failure;
// what is unknown, and a whole in which nothing was tested, are errors, as
// nothing but "consistent" passes.
func JUnit(w io.Writer, ins []Input) error {
	var d junitSuites
	for i := range ins {
		s := ins[i].suite()
		d.Tests, d.Failures, d.Errors = d.Tests+s.Tests, d.Failures+s.Failures, d.Errors+s.Errors
		d.Suites = append(d.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(d); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// suite is one file.
func (in *Input) suite() junitSuite {
	s := junitSuite{Name: in.Path}
	if in.Err != nil || in.Verdict == nil {
		s.add(junitCase{Class: in.Path, Name: "check", Error: &junitReason{Message: fmt.Sprint(in.Err)}})
		return s
	}
	v := in.Verdict
	if len(v.Parts) > 1 || len(v.Parts) == 1 && v.Parts[0].Key != "" {
		for i := range v.Parts {
			s.add(in.part(&v.Parts[i]))
		}
	}
	whole := junitCase{Class: in.Path, Name: v.Level}
	switch summary := Summary(v); v.Kind {
	case spec.Violation:
		whole.Failure = &junitReason{Message: summary}
		if len(s.Cases) == 0 {
			whole.Failure.Text = in.told(&v.Parts[0])
		}
	case spec.Unknown, spec.Vacuous:
		whole.Error = &junitReason{Message: summary}
	}
	s.add(whole)
	return s
}

// part is one key.
func (in *Input) part(p *spec.Part) junitCase {
	v := in.Verdict
	c := junitCase{Class: in.Path, Name: v.Level + ", " + name(v, p)}
	switch {
	case p.Skipped:
		c.Skipped = &junitReason{Message: "not checked: stopped at the first violation"}
	case p.Kind == spec.Violation:
		c.Failure = &junitReason{Message: fmt.Sprintf("%s is not %s%s: %s", name(v, p), v.Level, culprit(p), in.sentence(p)), Text: in.told(p)}
	case p.Kind == spec.Unknown:
		c.Error = &junitReason{Message: p.Reason}
	case p.Kind == spec.Vacuous:
		c.Skipped = &junitReason{Message: p.Reason}
	}
	return c
}

// told is the explanation of a part, and how to repeat it.
func (in *Input) told(p *spec.Part) string {
	lines := in.explain(p, false)
	if in.Repeat != "" {
		lines = append(lines, "repeat  "+in.repeatOf(p))
	}
	return "\n" + strings.Join(lines, "\n") + "\n"
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}
