package oracles

import (
	"slices"

	"pinyon/engine/history"
)

// definition is a built-in oracle as it is written down, asked pair by pair with
// double loops. It shares nothing with the oracles but the columns of hints.
type definition struct {
	hard    func(a, b int32) bool
	finding bool // some hints contradict each other by themselves
}

// defined are the definitions by name. Pairs of different keys count only for
// those of AllKeys.
var defined = map[string]func(d *reader) definition{
	"etcd": func(d *reader) definition {
		return definition{d.line("revision", "revision", true, true, d.named("mod_revision", "revision")), d.twice(true, "revision") || d.misnamed("mod_revision", "revision")}
	},
	"zookeeper": func(d *reader) definition {
		return definition{d.line("zxid", "zxid", true, true, d.named("mzxid", "zxid")), d.twice(true, "zxid") || d.misnamed("mzxid", "zxid")}
	},
	"redisraft": func(d *reader) definition {
		return definition{d.line("logidx", "applied", true, false, nil), d.twice(false, "logidx")}
	},
	"holipaxos": func(d *reader) definition { return definition{hard: d.line("instance", "instance", false, false, nil)} },
	"raft": func(d *reader) definition {
		return definition{func(a, b int32) bool {
			s, okS := d.int("term", a)
			t, okT := d.int("term", b)
			x, okX := d.int("index", a)
			y, okY := d.int("index", b)
			return okS && okT && okX && okY && (s < t || s == t && (x < y || x == y && !d.Read[a] && d.Read[b]))
		}, d.twice(true, "index")}
	},
	"gryff": func(d *reader) definition {
		return definition{func(a, b int32) bool {
			x, okX := d.Hints["carstamp"].List(a)
			y, okY := d.Hints["carstamp"].List(b)
			c := slices.Compare(x, y)
			return okX && okY && d.Key[a] == d.Key[b] && (c < 0 || c == 0 && !d.Read[a] && d.Read[b])
		}, d.twice(false, "carstamp")}
	},
	"epaxos":           func(d *reader) definition { return definition{hard: d.components()} },
	"epaxos-revisited": func(d *reader) definition { return definition{hard: d.components()} },
	"epaxos-pairs": func(d *reader) definition {
		return definition{hard: func(a, b int32) bool {
			on, known := d.depends(b, a)
			back, knows := d.depends(a, b)
			x, okX := d.int("seq", a)
			y, okY := d.int("seq", b)
			return d.Key[a] == d.Key[b] && known && knows && on && (!back || okX && okY && x < y)
		}}
	},
	"erwin":  func(d *reader) definition { return definition{hard: d.erwin} },
	"skyros": func(d *reader) definition { return definition{hard: d.skyros} },
	"applied-staleness:k=1,t=3ns": func(d *reader) definition {
		future := func(a, b int32) bool { return !d.Read[b] && d.Ret[a] < d.Call[b] && !d.Info[a] }
		return definition{d.line("index", "applied", true, true, future), d.twice(true, "index") || d.lags(1, 3)}
	},
}

// reader reads the hints of one View.
type reader struct{ *history.View }

func (d *reader) int(name string, i int32) (int64, bool) { return d.Hints[name].Int(i) }

// line orders by one number each; or is further order.
func (d *reader) line(write, read string, ties, all bool, or func(a, b int32) bool) func(a, b int32) bool {
	number := func(i int32) (int64, bool) {
		if d.Read[i] {
			return d.int(read, i)
		}
		return d.int(write, i)
	}
	return func(a, b int32) bool {
		if or != nil && or(a, b) {
			return true
		}
		x, okX := number(a)
		y, okY := number(b)
		return okX && okY && (all || d.Key[a] == d.Key[b]) && (x < y || ties && x == y && !d.Read[a] && d.Read[b])
	}
}

// twice reports whether two acknowledged writes have one value.
func (d *reader) twice(all bool, name string) bool {
	for i := range int32(d.N) {
		for j := range i {
			x, okX := d.Hints[name].Text(i)
			y, okY := d.Hints[name].Text(j)
			if okX && okY && x == y && !d.Read[i] && !d.Read[j] && !d.Info[i] && !d.Info[j] && (all || d.Key[i] == d.Key[j]) {
				return true
			}
		}
	}
	return false
}

// writersOf are the acknowledged writes of r's key whose hint is r's.
func (d *reader) writersOf(read, write string, r int32) (ws []int32) {
	m, ok := d.int(read, r)
	for w := range int32(d.N) {
		if n, has := d.int(write, w); ok && has && n == m && !d.Read[w] && !d.Info[w] && d.Key[w] == d.Key[r] && d.Read[r] {
			ws = append(ws, w)
		}
	}
	return ws
}

// named orders a write before the read that names it, if it names one.
func (d *reader) named(read, write string) func(a, b int32) bool {
	return func(a, b int32) bool {
		ws := d.writersOf(read, write, b)
		return len(ws) == 1 && ws[0] == a
	}
}

// misnamed reports whether some read returned what the hint says it did not.
func (d *reader) misnamed(read, write string) bool {
	for r := range int32(d.N) {
		m, ok := d.int(read, r)
		if !d.Read[r] || !ok {
			continue
		}
		ws, right, since, elsewhere, sure := d.writersOf(read, write, r), false, false, 0, true
		for _, w := range ws {
			right = right || d.In[w] == d.Out[r]
		}
		if len(ws) > 0 && !right {
			return true
		}
		for w := range int32(d.N) {
			n, has := d.int(write, w)
			if d.Read[w] || d.Key[w] != d.Key[r] {
				continue
			}
			since = since || has && !d.Info[w] && n <= m
			if d.In[w] == d.Out[r] {
				elsewhere++
				sure = sure && has && !d.Info[w]
			}
		}
		if len(ws) == 0 && since && elsewhere > 0 && sure {
			return true
		}
	}
	return false
}

// lags reports whether a read misses more than k entries acknowledged more than
// t before it.
func (d *reader) lags(k, t int64) bool {
	for r := range int32(d.N) {
		for w := range int32(d.N) {
			applied, ok := d.int("applied", r)
			index, has := d.int("index", w)
			if d.Read[r] && !d.Read[w] && !d.Info[w] && ok && has && d.Ret[w]+t < d.Call[r] && index-applied > k {
				return true
			}
		}
	}
	return false
}

// depends reports whether b depends on a.
func (d *reader) depends(b, a int32) (yes, known bool) {
	replica, ok := d.int("replica", a)
	inst, has := d.int("inst", a)
	deps, knows := d.Hints["deps"].List(b)
	if !ok || !has || !knows || replica < 0 || replica >= int64(len(deps)) {
		return false, false
	}
	return inst <= deps[replica], true
}

// components orders by strongly connected components.
func (d *reader) components() func(a, b int32) bool {
	n := int32(d.N)
	has := func(i int32) bool {
		q, ok := d.int("replica", i)
		_, okInst := d.int("inst", i)
		_, okSeq := d.int("seq", i)
		_, okDeps := d.Hints["deps"].List(i)
		return ok && okInst && okSeq && okDeps && q >= 0
	}
	deps, reach, open := make([][]bool, n), make([][]bool, n), make([]bool, n)
	for b := range n {
		deps[b] = make([]bool, n)
		for a := range n {
			on, _ := d.depends(b, a)
			deps[b][a] = on && a != b && has(a) && has(b) && d.Key[a] == d.Key[b]
		}
		reach[b] = slices.Clone(deps[b])
		for u := range n {
			if !has(b) || has(u) || d.Key[u] != d.Key[b] || d.Call[u] > d.Ret[b] {
				continue
			}
			known, _ := d.Hints["deps"].List(b)
			for q, last := range known {
				for k := range last + 1 {
					open[b] = open[b] || !slices.ContainsFunc(positions(n), func(i int32) bool {
						r, _ := d.int("replica", i)
						inst, _ := d.int("inst", i)
						return has(i) && r == int64(q) && inst == k
					})
				}
			}
		}
	}
	for k := range n {
		for b := range n {
			for a := range n {
				reach[b][a] = reach[b][a] || reach[b][k] && reach[k][a]
			}
		}
	}
	one := func(a, b int32) bool { return a == b || reach[a][b] && reach[b][a] }
	return func(a, b int32) bool {
		if !has(a) || !has(b) {
			return false
		}
		x, _ := d.int("seq", a)
		y, _ := d.int("seq", b)
		if one(a, b) {
			return x < y
		}
		may, along := open[a], false
		for c := range n {
			may = may || reach[a][c] && open[c]
			for e := range n {
				along = along || one(a, c) && one(b, e) && deps[e][c]
			}
		}
		return along && (!may || x < y)
	}
}

func positions(n int32) (all []int32) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func (d *reader) erwin(a, b int32) bool {
	if d.Read[a] || d.Key[a] != d.Key[b] {
		return false
	}
	v, okV := d.int("view", a)
	w, okW := d.int("view", b)
	if !d.Read[b] && okV && okW && v < w {
		return true
	}
	x, _ := d.Hints["seqIdx"].List(a)
	y, _ := d.Hints["seqIdx"].List(b)
	idx, seen := d.int("idx", b)
	for k, n := range x {
		if d.Read[b] && !(seen && n <= idx) || !d.Read[b] && !(okV && okW && v == w && k < len(y) && n < y[k]) {
			return false
		}
	}
	return len(x) > 0
}

func (d *reader) skyros(a, b int32) bool {
	v, okV := d.int("view", a)
	w, okW := d.int("view", b)
	if !okV || !okW || d.Key[a] != d.Key[b] || v > w {
		return false
	}
	if v < w {
		return true
	}
	x, _ := d.Hints["DIdx"].List(a)
	y, _ := d.Hints["DIdx"].List(b)
	l, okL := d.int("leader", a)
	m, okM := d.int("leader", b)
	cA, okA := d.int("CIdx", a)
	cB, okB := d.int("CIdx", b)
	atA := okL && l >= 0 && l < int64(len(x))
	atB := okM && m >= 0 && m < int64(len(y))
	switch {
	case d.Read[a]:
		return d.Read[b] && okA && okB && cA < cB
	case d.Read[b]:
		return atA && okB && x[l] <= cB
	case !atA || !atB || l != m || x[l] >= y[m]:
		return false
	}
	held, f := 0, (len(x)-1)/2
	for k, n := range x {
		if n >= 0 && k < len(y) && n < y[k] {
			held++
		}
	}
	return held >= f+(f+1)/2+1
}
