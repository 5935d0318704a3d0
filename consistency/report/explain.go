package report

import (
	"fmt"
	"slices"
	"strings"

	"pinyon/engine/spec"
)

// prefixShown is how many operations at the end of a forced prefix are named.
const prefixShown = 4

// name says what a part is: its key, or the whole history.
func name(v *spec.Verdict, p *spec.Part) string {
	switch {
	case p.Key != "":
		return p.Key
	case len(v.Parts) > 1:
		return "what has no key"
	}
	return "the history"
}

// culprit names the key that is impossible alone, where several were decided
// together.
func culprit(p *spec.Part) string {
	if p.Culprit == "" {
		return ""
	}
	return ", for key " + p.Culprit + " alone is not"
}

// sentence is the one line that says what is wrong with a part.
func (in *Input) sentence(p *spec.Part) string {
	if p.Proof != nil && p.Proof.Kind == spec.ProofHints {
		return "its hints contradict each other"
	}
	if p.Proof != nil && p.Proof.Kind == spec.ProofCycle {
		switch {
		case p.Proof.HintsOnly:
			return "its hints contradict each other"
		case p.Proof.HintEdge:
			return "what the store said about its order contradicts what the clients saw"
		}
		return "the order that it must keep is a circle"
	}
	switch e := p.Explain; {
	case p.Proof != nil && p.Proof.Words != "" && !retold(p):
		first, _, _ := strings.Cut(p.Proof.Words, "\n")
		return first
	case e != nil && e.Op >= 0:
		return in.op(e.Op) + " cannot be placed"
	}
	return "no order of its operations is legal"
}

// explain says in words why a part is a violation; all: with every candidate
// that was refused.
func (in *Input) explain(p *spec.Part, all bool) []string {
	withKey := !in.Verdict.Split
	switch {
	case p.Proof != nil && p.Proof.Kind == spec.ProofCycle:
		return in.explainCycle(p, withKey)
	case p.Proof != nil && (p.Proof.Kind == spec.ProofPattern || p.Proof.Words != "") && !retold(p):
		return in.explainPattern(p, withKey)
	case p.Explain != nil && p.Process != "":
		return append([]string{"process " + p.Process + " cannot have seen what it saw in any order that is its own:"}, in.explainSearch(p, withKey, all)...)
	case p.Explain != nil:
		return in.explainSearch(p, withKey, all)
	}
	return []string{"every order was tried: none is legal"}
}

// retold reports whether a violation that a fast path found, and says little
// about, is explained as a search would explain it.
func retold(p *spec.Part) bool {
	return p.Proof.Kind == spec.ProofPattern && p.Proof.Name == "" && p.Explain != nil && p.Process == ""
}

// explainPattern names the operations of a pattern, what is wrong with them,
// and the steps that show it.
func (in *Input) explainPattern(p *spec.Part, withKey bool) (lines []string) {
	if p.Process != "" {
		lines = append(lines, "process "+p.Process+" cannot have seen what it saw in any order that is its own:")
	}
	for _, x := range p.Proof.Ops {
		lines = append(lines, in.withHints(x, withKey)...)
	}
	lines = append(lines, strings.Split(p.Proof.Words, "\n")...)
	for _, s := range p.Proof.Steps {
		lines = append(lines, fmt.Sprintf("  %s before %s: %s", in.short(s.From, withKey), in.short(s.To, withKey), in.why(s)))
	}
	return lines
}

// why says why one operation comes before another.
func (in *Input) why(s spec.Step) string {
	switch s.Why {
	case spec.StepSession:
		return "both by process " + in.process(s.From)
	case spec.StepSaw:
		return fmt.Sprintf("%s saw it", in.op(s.To))
	case spec.StepConflict:
		if s.After >= 0 {
			return fmt.Sprintf("%s saw %s, after %s of its process had seen %s", in.op(s.Read), in.op(s.To), in.op(s.After), in.op(s.From))
		}
		return fmt.Sprintf("%s saw %s and must have seen %s", in.op(s.Read), in.op(s.To), in.op(s.From))
	case spec.StepFollows:
		return fmt.Sprintf("process %s saw it in %s and wrote later", in.process(s.To), in.op(s.Read))
	case spec.StepOverwrites:
		return fmt.Sprintf("it overwrites what %s saw", in.op(s.From))
	}
	return string(s.Why)
}

// explainCycle names the operations of the circle and then its edges.
func (in *Input) explainCycle(p *spec.Part, withKey bool) []string {
	var lines []string
	for _, e := range p.Proof.Cycle {
		lines = append(lines, in.withHints(e.From, withKey)...)
	}
	lines = append(lines, "each must come before the next, and the last before the first:")
	for _, e := range p.Proof.Cycle {
		lines = append(lines, fmt.Sprintf("  %s before %s (%s: %s)", in.op(e.From), in.op(e.To), e.Source, e.Why))
	}
	return append(lines, in.sentence(p))
}

// explainSearch tells how far an order gets, and why no further.
func (in *Input) explainSearch(p *spec.Part, withKey, all bool) []string {
	e := p.Explain
	var lines []string
	if e.Op >= 0 {
		lines = append(append(lines, in.withHints(e.Op, withKey)...), "  "+in.op(e.Op)+" cannot be placed"+in.mainReason(e, withKey))
		for _, f := range e.Forced[:min(len(e.Forced), forcedShown(all))] {
			lines = append(lines, fmt.Sprintf("  %s must follow %s (%s: %s)", in.op(f.To), in.short(f.From, withKey), f.Source, f.Why))
			below := p.Proof != nil && len(p.Proof.Hinted) > 0 // with the core
			if hints := in.hints(f.From); hints != "" && !below {
				lines = append(lines, "    hints of "+in.op(f.From)+": "+hints)
			}
		}
	}
	if e.Before >= 0 {
		text := "the last answer before it: "
		if e.AtReturn {
			text = "previous ok, up to whose answer an order exists: "
		}
		lines = append(lines, text+in.full(e.Before, withKey))
	}
	if len(e.Prefix) > 0 {
		last := e.Prefix[max(0, len(e.Prefix)-prefixShown):]
		lines = append(lines, fmt.Sprintf("the longest order found places %s, at its end: %s",
			counted(len(e.Prefix), "operation", "operations"), in.shorts(last, withKey)))
	}
	if e.State != "" {
		lines = append(lines, "the state is then "+Clipped(e.State))
	}
	lines = append(lines, in.refusals(e, withKey, all)...)
	switch {
	case p.Proof != nil && p.Proof.Kind == spec.ProofCore:
		return append(append(lines, in.core(p)), in.rest(p, withKey)...)
	case p.Proof != nil && retold(p):
		return append(lines, "found by the fast path "+p.Engine+", without a search")
	}
	return append(lines, fmt.Sprintf("found by trying all orders (%s)", counted(p.States, "state", "states")))
}

// core names the operations that are impossible by themselves.
func (in *Input) core(p *spec.Part) string {
	var ops []string
	for _, x := range p.Proof.Ops {
		ops = append(ops, in.op(x))
	}
	return "impossible by themselves: " + strings.Join(ops, ", ") + " (found by the fast path " + p.Engine + ")"
}

// rest tells of a core what was not told yet: its operations, and where hints
// order them, what these say.
func (in *Input) rest(p *spec.Part, withKey bool) (lines []string) {
	if len(p.Proof.Hinted) > 0 {
		return in.hinted(p, withKey)
	}
	e := p.Explain
	told := append([]int32{e.Op, e.Before}, e.Prefix[max(0, len(e.Prefix)-prefixShown):]...)
	for _, f := range e.Forced {
		told = append(told, f.From, f.To)
	}
	for _, x := range p.Proof.Ops {
		if !slices.Contains(told, x) {
			lines = append(lines, "  "+in.full(x, withKey))
		}
	}
	return lines
}

// hinted tells what the hints say of a core.
func (in *Input) hinted(p *spec.Part, withKey bool) (lines []string) {
	for _, x := range p.Proof.Ops {
		lines = append(lines, in.withHints(x, withKey)...)
	}
	for _, e := range p.Proof.Hinted[:min(len(p.Proof.Hinted), hintedShown)] {
		lines = append(lines, fmt.Sprintf("  %s before %s (%s: %s)", in.op(e.From), in.op(e.To), e.Source, e.Why))
	}
	if more := len(p.Proof.Hinted) - hintedShown; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %s by hints", counted(more, "more edge", "more edges")))
	}
	return lines
}

// hintedShown is how many edges between the operations of a core are named.
const hintedShown = 6

// forcedShown is how many steps of forced order are named.
func forcedShown(all bool) int {
	if all {
		return 3
	}
	return 2
}

// mainReason is why the operation that stands out is refused.
func (in *Input) mainReason(e *spec.Explanation, withKey bool) string {
	for _, r := range e.Refused {
		if r.Op == e.Op {
			return ": " + in.whyNot(r, withKey)
		}
	}
	if e.AtReturn {
		return ": no order of what was called before its return explains its answer"
	}
	return ""
}

// refusals says why each candidate cannot come next.
func (in *Input) refusals(e *spec.Explanation, withKey, all bool) []string {
	if !all {
		more := 0
		for _, r := range e.Refused {
			if r.Op != e.Op {
				more++
			}
		}
		if more == 0 {
			return nil
		}
		return []string{fmt.Sprintf("%s refused too (--explain says why)", counted(more, "other candidate is", "other candidates are"))}
	}
	lines := []string{"what could come next, and why it cannot:"}
	for _, r := range e.Refused {
		lines = append(lines, "  "+in.short(r.Op, withKey)+": "+in.whyNot(r, withKey))
	}
	return lines
}

// whyNot words a refusal, with the other operation that has a part in it.
func (in *Input) whyNot(r spec.Refusal, withKey bool) string {
	switch {
	case r.After >= 0:
		return fmt.Sprintf("must follow %s, which is not placed (%s)", in.short(r.After, withKey), r.Why)
	case r.Demander != nil:
		return fmt.Sprintf("%s, and %s still needs it", Clipped(r.Why), in.short(*r.Demander, withKey))
	}
	return Clipped(r.Why)
}
