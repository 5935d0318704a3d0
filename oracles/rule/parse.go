package rule

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// cond is a typed condition.
type cond struct {
	op   token.Token // LAND, LOR, NOT, or ILLEGAL for a comparison
	l, r *cond       // NOT has only l
	cmp  *comparison
}

type comparison struct {
	op   token.Token // LSS LEQ GTR GEQ EQL NEQ
	l, r *operand
}

// side says which operations something mentions.
type side uint8

const (
	sideA    side = 1
	sideB    side = 2
	sideBoth side = sideA | sideB
)

// operand is a constant or a field of a or b.
type operand struct {
	typ   Type
	konst bool
	num   int64  // a constant integer
	str   string // a constant string
	b     bool   // of b, else of a
	name  string
	built bool     // a field that every operation has
	index *operand // of an element of an array
	loop  bool     // the variable name of a quantifier
	at    int      // byte offset in the text
}

// sides says which operations o mentions, its index included.
func (o *operand) sides() side {
	switch {
	case o.konst, o.loop:
		return 0
	case o.index != nil:
		return o.own() | o.index.sides()
	}
	return o.own()
}

func (o *operand) own() side {
	if o.b {
		return sideB
	}
	return sideA
}

// any reports whether f holds for an operand of c.
func (c *cond) any(f func(*operand) bool) bool {
	if c.cmp != nil {
		return f(c.cmp.l) || f(c.cmp.r)
	}
	return c.l.any(f) || c.r != nil && c.r.any(f)
}

func (c *cond) sides() (s side) {
	c.any(func(o *operand) bool { s |= o.sides(); return false })
	return s
}

// supported says what a condition may hold, for errors.
const supported = "a condition holds comparisons of a's and b's fields and constants, joined by && || ! and parentheses"

// maxText bounds a condition; the work per pair is at most in proportion.
const maxText = 1 << 14

// compiler types one text.
type compiler struct {
	text    string
	noun    string // what errors call the text: "a condition"
	instead string // of a semicolon: what to do
	fields  Fields
	lists   map[string][]int64
	quants  []quantifier
	skip    int // bytes at the beginning that are no expression: quantifiers
}

// the is the noun with the definite article.
func (c *compiler) the() string {
	_, noun, _ := strings.Cut(c.noun, " ")
	return "the " + noun
}

func (c *compiler) errorf(at int, format string, args ...any) error {
	return &Error{c.text, min(max(at, 0), len(c.text)), fmt.Sprintf(format, args...)}
}

func (c *compiler) at(p token.Pos) int { return int(p) - 1 }

func (c *compiler) compile() (*Rule, error) {
	if len(c.text) <= maxText {
		if err := c.quantifiers(); err != nil {
			return nil, err
		}
	}
	expr, err := c.expr()
	if err != nil {
		return nil, err
	}
	root, err := c.cond(expr)
	if err != nil {
		return nil, err
	}
	return &Rule{c.text, c.quants, root}, nil
}

// Parse parses text as a Go expression on however many lines, for other small
// languages that give such expressions a meaning of their own. noun is what
// errors call the text, such as "an expression". The position of a node is its
// byte offset in text plus one; names behind a point may be Go's keywords, with
// their first letter raised. The error is an *Error.
func Parse(text, noun string) (ast.Expr, error) {
	c := &compiler{text: text, noun: noun}
	return c.expr()
}

func (c *compiler) expr() (ast.Expr, error) {
	if strings.TrimSpace(c.text[min(c.skip, len(c.text)):]) == "" {
		return nil, c.errorf(c.skip, "%s is empty", c.the())
	}
	if len(c.text) > maxText {
		return nil, c.errorf(maxText, "%s has at most %d bytes", c.noun, maxText)
	}
	source, err := c.goSource()
	if err != nil {
		return nil, err
	}
	expr, err := parser.ParseExprFrom(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
		return nil, c.errorf(list[0].Pos.Offset, "%s", c.syntax(list[0].Msg))
	} else if err != nil {
		return nil, c.errorf(0, "%v", err)
	}
	return expr, nil
}

// syntax puts a message of go/parser into this language's words.
func (c *compiler) syntax(msg string) string {
	msg = strings.ReplaceAll(msg, "'EOF'", "the end of "+c.the())
	if inside.MatchString(c.text[c.skip:]) {
		return msg + "; a quantifier stands in front of the whole condition"
	}
	for found, hint := range map[string]string{"':='": "==", "and": "&&", "or": "||", "'&'": "&&", "'|'": "||"} {
		if strings.HasSuffix(msg, "found "+found) {
			return msg + " (did you mean " + hint + "?)"
		}
	}
	return msg
}

// goSource returns the text as go/parser should see it, every byte at its
// place: line breaks become blanks, as Go would end the expression there, and
// a keyword behind a point, as in a.return, is made an ordinary name. What the
// grammar does not have but the parser would skip or mangle is refused here.
func (c *compiler) goSource() ([]byte, error) {
	src := []byte(strings.NewReplacer("\n", " ", "\r", " ").Replace(c.text))
	for i := range c.skip {
		src[i] = ' '
	}
	var first error
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", 1, len(src)), src, func(p token.Position, msg string) {
		if first == nil {
			first = c.errorf(p.Offset, "%s", msg)
		}
	}, scanner.ScanComments)
	afterPoint := false
	for {
		pos, tok, lit := s.Scan()
		at := int(pos) - 1
		switch {
		case first != nil:
			return nil, first
		case tok == token.EOF:
			return src, nil
		case tok == token.COMMENT:
			return nil, c.errorf(at, "%s holds no comment", c.noun)
		case tok == token.SEMICOLON && lit == ";":
			return nil, c.errorf(at, "a semicolon has no place in %s%s", c.noun, c.instead)
		case tok.IsKeyword() && afterPoint:
			src[at] -= 'a' - 'A'
		}
		afterPoint = tok == token.PERIOD
	}
}

// cond types an expression that must be true or false.
func (c *compiler) cond(e ast.Expr) (*cond, error) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return c.cond(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			x, err := c.cond(e.X)
			return &cond{op: token.NOT, l: x}, err
		}
	case *ast.BinaryExpr:
		switch e.Op {
		case token.LAND, token.LOR:
			l, err := c.cond(e.X)
			if err != nil {
				return nil, err
			}
			r, err := c.cond(e.Y)
			return &cond{op: e.Op, l: l, r: r}, err
		case token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ:
			cmp, err := c.comparison(e)
			return &cond{cmp: cmp}, err
		}
	}
	o, err := c.operand(e)
	if err != nil {
		return nil, err
	}
	return nil, c.errorf(o.at, "%s alone is no condition: it is %s; compare it with something", c.source(e), o.typ)
}

func (c *compiler) source(e ast.Expr) string { return c.text[c.at(e.Pos()):c.at(e.End())] }

// operand types an expression that must be a field or a constant.
func (c *compiler) operand(e ast.Expr) (*operand, error) {
	at := c.at(e.Pos())
	switch e := e.(type) {
	case *ast.ParenExpr:
		return c.operand(e.X)
	case *ast.BasicLit:
		return c.constant(e, at, "")
	case *ast.UnaryExpr:
		if lit, ok := e.X.(*ast.BasicLit); ok && e.Op == token.SUB && lit.Kind == token.INT {
			return c.constant(lit, at, "-")
		}
		if e.Op == token.SUB {
			return nil, c.errorf(at, "a minus stands only before an integer")
		}
		if e.Op == token.NOT {
			return nil, c.errorf(at, "! binds more tightly than a comparison; write !(a.x < b.x)")
		}
		return nil, c.errorf(at, "%s has no place before an operand; %s", e.Op, supported)
	case *ast.SelectorExpr:
		return c.field(e)
	case *ast.IndexExpr:
		return c.element(e)
	case *ast.Ident:
		if slices.ContainsFunc(c.quants, func(q quantifier) bool { return q.name == e.Name }) {
			return &operand{typ: Int, loop: true, name: e.Name, at: at}, nil
		}
		return nil, c.errorf(at, "%s is unknown here: operands are fields of the operations a and b, such as a.%s, integers and texts in quotes", e.Name, e.Name)
	case *ast.BinaryExpr:
		switch e.Op.Precedence() {
		case token.EQL.Precedence():
			return nil, c.errorf(c.at(e.OpPos), "the result of a comparison cannot be compared; join comparisons with &&")
		case token.LAND.Precedence(), token.LOR.Precedence():
			return nil, c.errorf(c.at(e.OpPos), "a condition cannot be compared; put the comparison in parentheses of its own")
		}
		return nil, c.errorf(c.at(e.OpPos), "arithmetic (%s) has no place in a condition; %s", e.Op, supported)
	}
	return nil, c.errorf(at, "%s has no place in a condition; %s", construct(e), supported)
}

// construct names a piece of Go that conditions do not have.
func construct(e ast.Expr) string {
	switch e.(type) {
	case *ast.CallExpr:
		return "a call"
	case *ast.SliceExpr:
		return "a slice"
	case *ast.StarExpr:
		return "a *"
	case *ast.FuncLit, *ast.FuncType:
		return "a function"
	case *ast.CompositeLit:
		return "a composite literal"
	case *ast.TypeAssertExpr:
		return "a type assertion"
	}
	return "this"
}

// constant types a literal.
func (c *compiler) constant(lit *ast.BasicLit, at int, sign string) (*operand, error) {
	switch lit.Kind {
	case token.INT:
		if len(lit.Value) > 1 && lit.Value[0] == '0' && strings.Trim(lit.Value, "0123456789_") == "" {
			return nil, c.errorf(at, "%s would be octal; write it without the leading 0", lit.Value)
		}
		n, err := strconv.ParseInt(sign+lit.Value, 0, 64)
		if err != nil {
			return nil, c.errorf(at, "%s%s does not fit 64 bits", sign, lit.Value)
		}
		return &operand{typ: Int, konst: true, num: n, at: at}, nil
	case token.STRING:
		if strings.ContainsAny(c.source(lit), "\n\r") {
			return nil, c.errorf(at, "a text cannot hold a line break")
		}
		s, err := strconv.Unquote(lit.Value)
		if err != nil {
			return nil, c.errorf(at, "%s is not a text in quotes", lit.Value)
		}
		return &operand{typ: Str, konst: true, str: s, at: at}, nil
	case token.CHAR:
		return nil, c.errorf(at, "texts stand in double quotes")
	}
	return nil, c.errorf(at, "%s is not an integer; numbers are integers of 64 bits", lit.Value)
}

// field types a.name.
func (c *compiler) field(e *ast.SelectorExpr) (*operand, error) {
	of, ok := e.X.(*ast.Ident)
	if !ok {
		return nil, c.errorf(c.at(e.X.Pos()), "only a.field and b.field can be selected")
	}
	if of.Name != "a" && of.Name != "b" {
		return nil, c.errorf(c.at(of.Pos()), "%s is unknown here: the two operations are a and b", of.Name)
	}
	name := c.source(e.Sel) // not e.Sel.Name: see goSource
	o := &operand{b: of.Name == "b", name: name, at: c.at(e.Pos())}
	if o.typ, o.built = builtins[name]; o.built {
		return o, nil
	}
	if o.typ, ok = c.fields[name]; ok {
		return o, nil
	}
	known := make([]string, 0, len(c.fields)+len(builtins))
	for _, fields := range []Fields{c.fields, builtins} {
		for n := range fields {
			known = append(known, n)
		}
	}
	return nil, c.errorf(c.at(e.Sel.Pos()), "the field %s is not declared%s", name, DidYouMean(name, known))
}

// element types a.array[index].
func (c *compiler) element(e *ast.IndexExpr) (*operand, error) {
	o, err := c.operand(e.X)
	if err != nil {
		return nil, err
	}
	if o.typ != Ints || o.index != nil {
		return nil, c.errorf(c.at(e.Lbrack), "%s is %s and has no elements", c.source(e.X), o.typ)
	}
	index, err := c.operand(e.Index)
	if err != nil {
		return nil, err
	}
	if index.typ != Int {
		return nil, c.errorf(index.at, "an index is an integer, and %s is %s", c.source(e.Index), index.typ)
	}
	if index.konst && index.num < 0 {
		return nil, c.errorf(index.at, "an index counts from 0, and %d is negative", index.num)
	}
	o.typ, o.index = Int, index
	return o, nil
}

// comparison types l op r.
func (c *compiler) comparison(e *ast.BinaryExpr) (*comparison, error) {
	l, err := c.operand(e.X)
	if err != nil {
		return nil, err
	}
	r, err := c.operand(e.Y)
	if err != nil {
		return nil, err
	}
	cmp, at := &comparison{e.Op, l, r}, c.at(e.OpPos)
	ls, rs := c.source(e.X), c.source(e.Y)
	for _, o := range []*operand{l, r} {
		if o.typ == Ints {
			return nil, c.errorf(o.at, "%s is an array; compare its elements, such as %s.%s[0]", o.name, [...]string{"", "a", "b"}[o.own()], o.name)
		}
	}
	switch {
	case l.konst && r.konst:
		return nil, c.errorf(l.at, "%s %s %s compares two constants", ls, e.Op, rs)
	case l.typ == kindType || r.typ == kindType:
		return cmp, c.checkKind(cmp, at)
	case l.typ == valueType || r.typ == valueType:
		if l.typ != r.typ && !l.konst && !r.konst {
			return nil, c.errorf(at, "%s is %s and %s is %s; a recorded value is compared with a constant or another recorded value", ls, l.typ, rs, r.typ)
		}
		if (l.konst && l.typ == Str || r.konst && r.typ == Str) && !equality(e.Op) {
			return nil, c.errorf(at, "recorded values are compared with texts by == and != only")
		}
	case l.typ != r.typ:
		hint := ""
		if l.konst && l.typ == Int || r.konst && r.typ == Int {
			hint = "; a text stands in double quotes"
		}
		return nil, c.errorf(at, "%s is %s and %s is %s%s", ls, l.typ, rs, r.typ, hint)
	}
	return cmp, nil
}

func equality(op token.Token) bool { return op == token.EQL || op == token.NEQ }

// checkKind allows a kind only == and != with "read" and "write".
func (c *compiler) checkKind(cmp *comparison, at int) error {
	kind, other := cmp.l, cmp.r
	if kind.typ != kindType {
		kind, other = other, kind
	}
	if !equality(cmp.op) {
		return c.errorf(at, "a kind is compared with == and != only")
	}
	if !other.konst || other.typ != Str {
		return c.errorf(other.at, `a kind is compared with "read" or "write" only`)
	}
	if other.str != "read" && other.str != "write" {
		return c.errorf(other.at, `a kind is "read" or "write"%s`, DidYouMean(other.str, []string{"read", "write"}))
	}
	return nil
}
