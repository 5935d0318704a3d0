package models

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pinyon/engine/history"
	"pinyon/oracles/rule"
)

// exprOp says what an expression of a model file does.
type exprOp uint8

const (
	opLiteral exprOp = iota
	opState          // the state before the operation
	opPart           // the input, or a named part of it
	opEqual
	opUnequal
	opLess
	opAtMost
	opMore
	opAtLeast
	opAnd
	opOr
	opNot
	opAdd
	opSubtract
	opNegate
	opIsNumber
)

// exprKind is what is known of an expression's value before it is evaluated.
type exprKind uint8

const (
	anyKind exprKind = iota
	boolKind
	numberKind
	textKind
	nullKind
)

func (k exprKind) String() string {
	return [...]string{"any value", "true or false", "a number", "a text", "null"}[k]
}

// value names what a recorded value must be.
func (k exprKind) value() string {
	if k == anyKind {
		return "a value"
	}
	return k.String()
}

// expr is an expression over the state and the parts of an input. It is
// immutable.
type expr struct {
	op   exprOp
	lit  history.Value // opLiteral
	part int           // opPart
	l, r *expr         // operands; of one, l
	kind exprKind
	text string // as written
}

// wholeInput is the part that is the input itself.
const wholeInput = 0

// reserved are the names that no part of an input may have.
var reserved = []string{"state", "input", "output", "next", "any", "true", "false", "null", "isNumber"}

// exprCompiler gives meaning to the expressions of one operation.
type exprCompiler struct {
	text  string
	parts []string // part 0 is "input"
	// needs says of every part what the operations on it demand.
	needs []exprKind
	asked []bool // by part: whether isNumber asks for its kind
	used  []bool
	next  *expr // what the name next stands for; nil: it is not known here
}

func (c *exprCompiler) errorf(p token.Pos, format string, args ...any) error {
	return &rule.Error{Text: c.text, Offset: min(int(p)-1, len(c.text)), Msg: fmt.Sprintf(format, args...)}
}

func (c *exprCompiler) source(e ast.Expr) string { return c.text[int(e.Pos())-1 : int(e.End())-1] }

// compile parses text and types it. The error is a *rule.Error.
func (c *exprCompiler) compile(text string) (*expr, error) {
	c.text = text
	tree, err := rule.Parse(text, "an expression")
	if err != nil {
		return nil, err
	}
	return c.expr(tree)
}

// condition compiles what must be true or false.
func (c *exprCompiler) condition(text string) (*expr, error) {
	c.text = text
	tree, err := rule.Parse(text, "a condition")
	if err != nil {
		return nil, err
	}
	return c.typed(tree, boolKind, "a condition")
}

const exprSupported = "an expression holds state, input, the named parts of the input, numbers, texts in double quotes, true, false and null, joined by == != < <= > >= && || ! + - and parentheses"

func (c *exprCompiler) expr(e ast.Expr) (*expr, error) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return c.expr(e.X)
	case *ast.Ident:
		return c.name(e)
	case *ast.BasicLit:
		return c.literal(e)
	case *ast.UnaryExpr:
		switch e.Op {
		case token.NOT:
			x, err := c.typed(e.X, boolKind, "!")
			return &expr{op: opNot, l: x, kind: boolKind, text: c.source(e)}, err
		case token.SUB:
			x, err := c.typed(e.X, numberKind, "-")
			return &expr{op: opNegate, l: x, kind: numberKind, text: c.source(e)}, err
		}
		return nil, c.errorf(e.Pos(), "%s has no place before an operand; %s", e.Op, exprSupported)
	case *ast.BinaryExpr:
		return c.binary(e)
	case *ast.CallExpr:
		return c.call(e)
	case *ast.SelectorExpr, *ast.IndexExpr:
		return nil, c.errorf(e.Pos(), "%s: a value cannot be taken apart here; name the parts of an input under input", c.source(e))
	}
	return nil, c.errorf(e.Pos(), "this has no place in an expression; %s", exprSupported)
}

func (c *exprCompiler) call(e *ast.CallExpr) (*expr, error) {
	f, ok := e.Fun.(*ast.Ident)
	if !ok || f.Name != "isNumber" {
		return nil, c.errorf(e.Pos(), "the only function is isNumber%s", rule.DidYouMean(c.source(e.Fun), []string{"isNumber"}))
	}
	if len(e.Args) != 1 || e.Ellipsis.IsValid() {
		return nil, c.errorf(e.Lparen, "isNumber takes one value")
	}
	x, err := c.expr(e.Args[0])
	if err != nil {
		return nil, err
	}
	if x.op == opPart {
		c.asked[x.part] = true
	}
	return &expr{op: opIsNumber, l: x, kind: boolKind, text: c.source(e)}, nil
}

var binaryOps = map[token.Token]exprOp{
	token.EQL: opEqual, token.NEQ: opUnequal, token.LSS: opLess, token.LEQ: opAtMost, token.GTR: opMore, token.GEQ: opAtLeast,
	token.LAND: opAnd, token.LOR: opOr, token.ADD: opAdd, token.SUB: opSubtract,
}

func (c *exprCompiler) binary(e *ast.BinaryExpr) (*expr, error) {
	op, ok := binaryOps[e.Op]
	if !ok {
		return nil, c.errorf(e.OpPos, "%s has no place in an expression; %s", e.Op, exprSupported)
	}
	takes, gives := numberKind, boolKind
	switch op {
	case opEqual, opUnequal:
		takes = anyKind
	case opAnd, opOr:
		takes = boolKind
	case opAdd, opSubtract:
		gives = numberKind
	}
	l, err := c.typed(e.X, takes, e.Op.String())
	if err != nil {
		return nil, err
	}
	r, err := c.typed(e.Y, takes, e.Op.String())
	if err != nil {
		return nil, err
	}
	if takes == anyKind && l.kind != anyKind && r.kind != anyKind && l.kind != r.kind {
		return nil, c.errorf(e.OpPos, "%s is %s and %s is %s: they are never equal", l.text, l.kind, r.text, r.kind)
	}
	return &expr{op: op, l: l, r: r, kind: gives, text: c.source(e)}, nil
}

// typed compiles an operand that must be of a kind. A part of the input that
// could be anything is then held to it.
func (c *exprCompiler) typed(e ast.Expr, kind exprKind, what string) (*expr, error) {
	x, err := c.expr(e)
	if err != nil {
		return nil, err
	}
	if kind == anyKind || x.kind == kind {
		return x, nil
	}
	if x.kind != anyKind {
		return nil, c.errorf(e.Pos(), "%s is %s, and %s takes %s", x.text, x.kind, what, kind)
	}
	if x.op == opPart {
		if was := c.needs[x.part]; was != anyKind && was != kind {
			return nil, c.errorf(e.Pos(), "%s must be %s here and %s elsewhere", x.text, kind, was)
		}
		c.needs[x.part] = kind
	}
	return x, nil
}

func (c *exprCompiler) name(e *ast.Ident) (*expr, error) {
	word := func(v history.Value, k exprKind) (*expr, error) {
		return &expr{op: opLiteral, lit: v, kind: k, text: e.Name}, nil
	}
	switch e.Name {
	case "state":
		return &expr{op: opState, text: e.Name}, nil
	case "null":
		return word(history.Null, nullKind)
	case "true", "false":
		return word(history.Bool(e.Name == "true"), boolKind)
	case "next":
		if c.next != nil {
			return c.next, nil
		}
		return nil, c.errorf(e.Pos(), "next, the state after the operation, is known under output only")
	case "output":
		return nil, c.errorf(e.Pos(), "the answer cannot be asked for: it follows from the state and the input (a model in Go may ask for it)")
	case "any":
		return nil, c.errorf(e.Pos(), "any stands alone, under output")
	}
	if i := slices.Index(c.parts, e.Name); i >= 0 {
		c.used[i] = true
		return &expr{op: opPart, part: i, text: e.Name}, nil
	}
	known := append([]string{"state", "true", "false", "null"}, c.parts...)
	if c.next != nil {
		known = append(known, "next")
	}
	hint := rule.DidYouMean(e.Name, known)
	if hint == "" {
		hint = fmt.Sprintf(`; a text has quotes of its own: '"%s"'`, e.Name)
	}
	return nil, c.errorf(e.Pos(), "%s is unknown here%s; there are %s", e.Name, hint, strings.Join(known, ", "))
}

// jsonNumber is JSON's grammar of numbers without a sign.
var jsonNumber = regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

func (c *exprCompiler) literal(e *ast.BasicLit) (*expr, error) {
	x := &expr{op: opLiteral, kind: numberKind, text: e.Value}
	var err error
	switch e.Kind {
	case token.INT, token.FLOAT:
		if !jsonNumber.MatchString(e.Value) {
			return nil, c.errorf(e.Pos(), "%s is not a number as JSON writes it, such as 12, 0.5 or 1e9", e.Value)
		}
		if x.lit, err = history.Number(e.Value); err != nil {
			return nil, c.errorf(e.Pos(), "%v", err)
		}
		return x, nil
	case token.STRING:
		if strings.HasPrefix(e.Value, `"`) {
			s, err := strconv.Unquote(e.Value)
			if err != nil {
				return nil, c.errorf(e.Pos(), "%s is not a text in double quotes", e.Value)
			}
			x.lit, x.kind = history.String(s), textKind
			return x, nil
		}
	case token.IMAG:
		return nil, c.errorf(e.Pos(), "%s is not a number as JSON writes it", e.Value)
	}
	return nil, c.errorf(e.Pos(), "texts stand in double quotes")
}

// literalOf is an expression that is one value.
func literalOf(v history.Value, text string) *expr {
	x := &expr{op: opLiteral, lit: v, text: text}
	switch {
	case isNumber(v):
		x.kind = numberKind
	case v.Kind() == history.KindBool:
		x.kind = boolKind
	case v.Kind() == history.KindString:
		x.kind = textKind
	case v == history.Null:
		x.kind = nullKind
	}
	return x
}
