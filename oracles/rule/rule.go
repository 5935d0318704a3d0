// Package rule compiles the conditions of oracles: when operation a comes
// before operation b, written over the hints that a store returned.
//
// A condition is a Go expression, parsed with go/parser and bounded by grammar:
//
//	rule       = quantifier: rule | condition
//	quantifier = all s in domain | some s in domain | at least n of s in domain
//	           | at most n of s in domain
//	domain     = the name of a list | a.array | b.array (the indexes of its elements)
//	n          = a whole number from 1 | majority | supermajority
//	condition  = comparison | condition && condition | condition || condition
//	           | !condition | (condition)
//	comparison = operand (< <= > >= == !=) operand
//	operand    = a.field | b.field | a.array[index] | s | integer | -integer | "text"
//	index      = a whole number from 0 | an integer operand
//
// where s is the variable of a quantifier. A supermajority of 2f+1 is
// f + ceil(f/2) + 1 (Ge, Sahu and Ganesan, "Exploiting nil-externality for fast
// replicated storage", 2021). There are
//
// no calls and no arithmetic, so that a condition always ends and never
// depends on anything but the two operations. Beside the declared fields every
// operation has f, kind ("read" or "write"), key, process, node, invoke and
// return (nanoseconds), in and out (recorded values).
//
// Rules that hold everywhere:
//
//  1. Types are checked when a condition is compiled, with line and column.
//  2. Evaluation is three-valued (Kleene): a comparison on a missing field, on
//     an index out of range, on the return of an operation without an answer
//     or on values that have no order is Unknown. Only True orders.
//  3. Recorded values are compared with == and != exactly, and with < where
//     both are integers.
//     All is the least of the truth values of its instances, some the greatest;
//     at least n is True where n are, False where n can no longer be. A quantifier
//     over a missing array, or over nothing, is Unknown.
//  4. Evaluating allocates nothing.
package rule

import (
	"fmt"

	"pinyon/engine/history"
)

// Tri is a truth value of Kleene's logic. And is the smaller of two, Or the
// larger, and Not turns the scale round.
type Tri uint8

// The truth values, in order.
const (
	False Tri = iota
	Unknown
	True
)

func (t Tri) String() string { return [...]string{"false", "unknown", "true"}[t] }

// Type is the type of a declared field.
type Type uint8

// The types that a field may be declared with.
const (
	Int  Type = iota // an integer
	Str              // a string
	Ints             // an array of integers

	// What only built-in fields have.
	kindType  // read or write
	valueType // whatever was recorded
)

func (t Type) String() string {
	return [...]string{"an integer", "a string", "an array of integers", "a kind", "a recorded value"}[t]
}

// Fields are the declared hints by name.
type Fields map[string]Type

// builtins are the fields that every operation has.
var builtins = Fields{
	"f": Str, "kind": kindType, "key": Str, "in": valueType, "out": valueType,
	"process": Str, "node": Str, "invoke": Int, "return": Int,
}

// IsBuiltin reports whether name is a field that every operation has; no hint
// can be declared under it.
func IsBuiltin(name string) bool { _, ok := builtins[name]; return ok }

// ErrCannotTell is returned where a condition asks for the kind of operations
// and the model cannot tell reads from writes.
var ErrCannotTell = history.ErrCannotTell

// Rule is a compiled condition. It is immutable.
type Rule struct {
	Text   string // as written
	quants []quantifier
	root   *cond
}

// Compile parses and types a condition without quantifiers. The error is an
// *Error.
func Compile(text string, fields Fields) (*Rule, error) {
	c := &compiler{text: text, noun: "a condition", instead: instead, fields: fields}
	if m := quantified.FindStringSubmatchIndex(text); m != nil && len(text) <= maxText {
		return nil, c.errorf(m[2], "quantifiers (all s in xs: ..., at least n of s in xs: ...) have no place here; %s", supported)
	}
	return c.compile()
}

// CompileRule is Compile for a rule with quantifiers over the given lists.
func CompileRule(text string, fields Fields, lists map[string][]int64) (*Rule, error) {
	c := &compiler{text: text, noun: "a condition", instead: instead, fields: fields, lists: lists}
	return c.compile()
}

const instead = "; write several rules, or join them with ||"

// UsesKind reports whether the condition asks for the kind of an operation.
func (r *Rule) UsesKind() bool {
	return r.root.any(func(o *operand) bool { return o.typ == kindType })
}

// OnlyA reports whether the condition mentions no operation but a, so that it
// says something about one operation.
func (r *Rule) OnlyA() bool {
	for _, q := range r.quants {
		if q.array != nil && q.array.b {
			return false
		}
	}
	return r.root.sides()&sideB == 0
}

// Bound is a Rule over the operations of one View.
type Bound struct {
	*Rule
	// Eval says whether a comes before b: only True does.
	Eval func(a, b int32) Tri
	view *history.View
}

// Bind prepares r for the operations of v. It fails with ErrCannotTell, and
// where quantifiers would have too many instances. A hint that v does not have
// at all is missing for every operation.
func (r *Rule) Bind(v *history.View) (*Bound, error) {
	if v.Read == nil && r.UsesKind() {
		return nil, ErrCannotTell
	}
	if n := r.instances(v); n > maxInstances {
		return nil, fmt.Errorf("the quantifiers have more than %d instances", maxInstances)
	}
	return &Bound{r, bindQuantified(r.quants, r.root, v), v}, nil
}
