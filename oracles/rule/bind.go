package rule

import (
	"cmp"
	"go/token"

	"pinyon/engine/history"
)

// Getters of one operand; ok is false where it is missing.
type (
	intOf    func(a, b int32) (int64, bool)
	stringOf func(a, b int32) (string, bool)
	valueOf  func(a, b int32) history.Value // Absent: missing
)

// The three outcomes of comparing two things, as bits: an operator is the set
// of outcomes that satisfy it.
const (
	less    = 1
	equal   = 2
	greater = 4
)

var satisfies = map[token.Token]uint8{
	token.LSS: less, token.LEQ: less | equal, token.EQL: equal,
	token.GTR: greater, token.GEQ: greater | equal, token.NEQ: less | greater,
}

// order compares two integers; kept this small, it is inlined.
func order(x, y int64) uint8 {
	if x < y {
		return less
	}
	if x == y {
		return equal
	}
	return greater
}

func tri(b bool) Tri {
	if b {
		return True
	}
	return False
}

// bind turns c into a closure over the columns of v.
func (c *cond) bind(v *history.View) func(a, b int32) Tri {
	switch c.op {
	case token.NOT:
		x := c.l.bind(v)
		return func(a, b int32) Tri { return True - x(a, b) }
	case token.LAND:
		l, r := c.l.bind(v), c.r.bind(v)
		return func(a, b int32) Tri {
			if t := l(a, b); t != True {
				if t == False {
					return False
				}
				return min(t, r(a, b))
			}
			return r(a, b)
		}
	case token.LOR:
		l, r := c.l.bind(v), c.r.bind(v)
		return func(a, b int32) Tri {
			if t := l(a, b); t != False {
				if t == True {
					return True
				}
				return max(t, r(a, b))
			}
			return r(a, b)
		}
	}
	return c.cmp.bind(v)
}

func (c *comparison) bind(v *history.View) func(a, b int32) Tri {
	mask := satisfies[c.op]
	switch {
	case c.l.typ == kindType:
		return bindKind(v, c.l, c.r, mask)
	case c.r.typ == kindType:
		return bindKind(v, c.r, c.l, mask)
	case c.l.typ == valueType || c.r.typ == valueType:
		return bindValues(c.l.values(v), c.r.values(v), mask)
	case c.l.typ == Str:
		l, r := c.l.strings(v), c.r.strings(v)
		return func(a, b int32) Tri {
			x, okX := l(a, b)
			y, okY := r(a, b)
			if !okX || !okY {
				return Unknown
			}
			return tri(mask&(1<<(cmp.Compare(x, y)+1)) != 0) // -1, 0, 1 to less, equal, greater
		}
	case c.l.plain() && c.r.plain() && c.l.b != c.r.b:
		if c.l.b {
			return bindColumns(v, c.r, c.l, mirror(mask))
		}
		return bindColumns(v, c.l, c.r, mask)
	}
	return bindInts(c.l.ints(v), c.r.ints(v), mask)
}

func bindInts(l, r intOf, mask uint8) func(a, b int32) Tri {
	return func(a, b int32) Tri {
		x, okX := l(a, b)
		y, okY := r(a, b)
		if !okX || !okY {
			return Unknown
		}
		return tri(mask&order(x, y) != 0)
	}
}

// plain reports whether o is a hint that holds an integer itself.
func (o *operand) plain() bool {
	return !o.konst && !o.loop && !o.built && o.index == nil && o.typ == Int
}

// bindColumns is bindInts for the commonest case, a hint of a against a hint of
// b, without two more calls; != and == are less common and not unrolled.
func bindColumns(v *history.View, l, r *operand, mask uint8) func(a, b int32) Tri {
	x, y := v.Hints[l.name], v.Hints[r.name]
	if x == nil || y == nil {
		return func(_, _ int32) Tri { return Unknown }
	}
	switch mask {
	case less:
		return func(a, b int32) Tri {
			m, okM := x.Int(a)
			n, okN := y.Int(b)
			if okM && okN {
				return tri(m < n)
			}
			return Unknown
		}
	case less | equal:
		return func(a, b int32) Tri {
			m, okM := x.Int(a)
			n, okN := y.Int(b)
			if okM && okN {
				return tri(m <= n)
			}
			return Unknown
		}
	case greater, greater | equal:
		flipped := bindColumns(v, r, l, mirror(mask))
		return func(a, b int32) Tri { return flipped(b, a) }
	}
	return bindInts(l.ints(v), r.ints(v), mask)
}

// mirror turns "x op y" into the operator of "y op x".
func mirror(mask uint8) uint8 { return mask&equal | mask&less<<2 | mask&greater>>2 }

func bindKind(v *history.View, kind, constant *operand, mask uint8) func(a, b int32) Tri {
	want, ofB := (constant.str == "read") == (mask == equal), kind.b
	return func(a, b int32) Tri {
		if ofB {
			a = b
		}
		return tri(v.Read[a] == want)
	}
}

func bindValues(l, r valueOf, mask uint8) func(a, b int32) Tri {
	if mask == equal || mask == less|greater {
		return func(a, b int32) Tri {
			x, y := l(a, b), r(a, b)
			if x == history.Absent || y == history.Absent {
				return Unknown
			}
			return tri((x == y) == (mask == equal))
		}
	}
	return bindInts(l.number, r.number, mask)
}

func (f valueOf) number(a, b int32) (int64, bool) { return f(a, b).Int64() }

// pick returns a getter of o's own operation from one by position.
func pick[T any](o *operand, get func(i int32) (T, bool)) func(a, b int32) (T, bool) {
	if o.b {
		return func(_, b int32) (T, bool) { return get(b) }
	}
	return func(a, _ int32) (T, bool) { return get(a) }
}

// ints returns the getter of an integer operand.
func (o *operand) ints(v *history.View) intOf {
	switch {
	case o.konst:
		n := o.num
		return func(_, _ int32) (int64, bool) { return n, true }
	case o.built && o.name == "invoke":
		return pick(o, func(i int32) (int64, bool) { return v.Invoke[i], true })
	case o.built: // return
		return pick(o, func(i int32) (int64, bool) { return v.Return[i], !v.Info[i] })
	case o.index == nil:
		return pick(o, v.Hints[o.name].Int)
	}
	c, index, ofB := v.Hints[o.name], o.index.ints(v), o.b
	return func(a, b int32) (int64, bool) {
		k, ok := index(a, b)
		if !ok {
			return 0, false
		}
		if ofB {
			a = b
		}
		return c.At(a, k)
	}
}

// strings returns the getter of a text.
func (o *operand) strings(v *history.View) stringOf {
	named := func(codes []int32, names []string) stringOf {
		return pick(o, func(i int32) (string, bool) { return names[codes[i]], true })
	}
	switch {
	case o.konst:
		s := o.str
		return func(_, _ int32) (string, bool) { return s, true }
	case !o.built:
		return pick(o, v.Hints[o.name].Str)
	case o.name == "f":
		return named(v.F, v.FName)
	case o.name == "key":
		return named(v.Key, v.KeyName)
	case o.name == "process":
		return named(v.Process, v.ProcessName)
	}
	// An operation that does not say which node it asked has no node.
	return pick(o, func(i int32) (string, bool) { s := v.NodeName[v.Node[i]]; return s, s != "" })
}

// values returns the getter of a recorded value or of a constant as one.
func (o *operand) values(v *history.View) valueOf {
	if o.konst {
		k := history.Int(o.num)
		if o.typ == Str {
			k = history.String(o.str)
		}
		return func(_, _ int32) history.Value { return k }
	}
	column := v.In
	if o.name == "out" {
		column = v.Out
	}
	if column == nil { // a typed history has no recorded values
		return func(_, _ int32) history.Value { return history.Absent }
	}
	if o.b {
		return func(_, b int32) history.Value { return column[b] }
	}
	return func(a, _ int32) history.Value { return column[a] }
}
