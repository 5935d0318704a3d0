package order

import "pinyon/engine/history"

// Slice returns the rules restricted to the operations keep, which become
// 0..len(keep)-1 in the View v.
func (r *Rules) Slice(keep []int32, v *history.View) *Rules {
	return &Rules{View: v, Hard: sliceAll(r.Hard, keep), Soft: sliceAll(r.Soft, keep), Findings: r.sliceFindings(keep)}
}

// sliceFindings keeps the findings all of whose operations are kept.
func (r *Rules) sliceFindings(keep []int32) (kept []Finding) {
	if len(r.Findings) == 0 {
		return nil
	}
	at := make(map[int32]int32, len(keep))
	for j, i := range keep {
		at[i] = int32(j)
	}
	for _, f := range r.Findings {
		ops, all := make([]int32, len(f.Ops)), true
		for k, x := range f.Ops {
			j, ok := at[x]
			ops[k], all = j, all && ok
		}
		if all {
			kept = append(kept, Finding{f.Name, ops, f.Words})
		}
	}
	return kept
}

func sliceAll(sources []Source, keep []int32) []Source {
	out := make([]Source, len(sources))
	for i, s := range sources {
		out[i] = s
		if c, ok := s.Relation.(*Clock); ok {
			out[i].Relation = c.slice(keep)
		} else {
			out[i].Relation = &part{s.Relation, keep}
		}
	}
	return out
}

func (c *Clock) slice(keep []int32) *Clock {
	d := &Clock{Name: c.Name, Out: make([]int64, len(keep)), In: make([]int64, len(keep))}
	for j, i := range keep {
		d.Out[j], d.In[j] = c.Out[i], c.In[i]
	}
	if c.Within != nil {
		d.Within = make([]int32, len(keep))
		for j, i := range keep {
			d.Within[j] = c.Within[i]
		}
	}
	d.Reason = func(a, b int32) string { return c.Why(keep[a], keep[b]) }
	return d
}

// part is a relation seen through a choice of operations.
type part struct {
	whole Relation
	keep  []int32
}

func (p *part) Precedes(a, b int32) bool { return p.whole.Precedes(p.keep[a], p.keep[b]) }
func (p *part) Why(a, b int32) string    { return p.whole.Why(p.keep[a], p.keep[b]) }
