package oracles

import (
	"fmt"
	"slices"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/order"
)

// unique says that a store gives out each value of the hints once: two
// acknowledged writes with the same one are a finding; within a key, unless
// allKeys.
func unique(allKeys bool, names ...string) func(*history.View, *order.Rules) error {
	return uniqueBut(allKeys, nil, names...)
}

// uniqueBut is unique without the operations of some names, to which the store
// gives no value of their own.
func uniqueBut(allKeys bool, except []string, names ...string) func(*history.View, *order.Rules) error {
	return func(v *history.View, r *order.Rules) error {
		if v.Read == nil {
			return ErrCannotTell
		}
		type value struct {
			key  int32
			num  int64  // of one hint that is an integer
			text string // of anything else
		}
		first := make(map[value]int32, v.N/2)
		for i := range int32(v.N) {
			if v.Read[i] || v.Info[i] || slices.Contains(except, v.FName[v.F[i]]) {
				continue
			}
			at := value{}
			n, number := v.Hints[names[0]].Int(i)
			if at.num = n; !number || len(names) > 1 {
				values, ok := hintTexts(v, i, names)
				if !ok {
					continue
				}
				at = value{text: strings.Join(values, "\x00") + "\x00"}
			}
			if !allKeys {
				at.key = v.Key[i]
			}
			if j, twice := first[at]; twice {
				values, _ := hintTexts(v, i, names)
				r.AddFinding(fmt.Sprintf("both writes were acknowledged with %s, which the store gives to one write only", pairsText(names, values)), j, i)
			} else {
				first[at] = i
			}
		}
		return nil
	}
}

// hintTexts are the values of some hints of an operation that has all of them.
func hintTexts(v *history.View, i int32, names []string) (texts []string, ok bool) {
	for _, name := range names {
		text, ok := v.Hints[name].Text(i)
		if !ok {
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, true
}

func pairsText(names, values []string) string {
	var parts []string
	for k, n := range names {
		parts = append(parts, n+" "+values[k])
	}
	return strings.Join(parts, " and ")
}

// readsFrom says that the hint read of a read is the hint write of the write
// that it saw. The write comes before the read. It is a finding
//
//   - where the read returned what none of the writes so named wrote, and
//   - where grows (the hint orders the writes, so a value from before them has a
//     smaller one), and every write of what was returned was acknowledged with
//     another hint.
//
// Values are compared for the plain writes and reads of registers, by the
// names put, write, set and get, read.
type readsFrom struct {
	read, write string
	grows       bool
}

// writers are the writes of one key.
type writers struct {
	named map[int64][]int32         // acknowledged, by their hint
	wrote map[history.Value][]int32 // plain, by what they wrote
	least int64                     // hint
	plain bool                      // all of them
	some  bool
}

func (f *readsFrom) order(allKeys bool) func(*history.View, *order.Rules) error {
	return func(v *history.View, r *order.Rules) error {
		if v.Read == nil {
			return ErrCannotTell
		}
		if v.Hints[f.read] == nil {
			return nil // no read names a write
		}
		keys := f.writers(v)
		var pairs [][2]int32
		for i := range int32(v.N) {
			m, ok := v.Hints[f.read].Int(i)
			if !ok || !v.Read[i] {
				continue
			}
			w := keys[v.Key[i]]
			if w == nil {
				continue
			}
			named := w.named[m]
			if len(named) == 1 {
				pairs = append(pairs, [2]int32{named[0], i})
			}
			f.contradiction(v, r, i, m, w)
		}
		edges, err := order.NewEdges(v.N, pairs, func(a, b int32) string {
			n, _ := v.Hints[f.read].Int(b)
			return fmt.Sprintf("%s %d names the write with that %s", f.read, n, f.write)
		})
		if err != nil {
			return err
		}
		if len(pairs) > 0 {
			r.AddHard("reads_from", edges)
		}
		return nil
	}
}

func (f *readsFrom) writers(v *history.View) map[int32]*writers {
	keys := map[int32]*writers{}
	for i := range int32(v.N) {
		if v.Read[i] || slices.Contains(readNames, v.FName[v.F[i]]) { // a read without an answer is no write
			continue
		}
		w := keys[v.Key[i]]
		if w == nil {
			w = &writers{named: map[int64][]int32{}, wrote: map[history.Value][]int32{}, plain: true}
			keys[v.Key[i]] = w
		}
		if n, ok := v.Hints[f.write].Int(i); ok && !v.Info[i] {
			w.named[n] = append(w.named[n], i)
			if !w.some || n < w.least {
				w.least, w.some = n, true
			}
		}
		if plainWrite(v, i) {
			w.wrote[v.In[i]] = append(w.wrote[v.In[i]], i)
		} else {
			w.plain = false
		}
	}
	return keys
}

// readNames are the plain reads of registers.
var readNames = []string{"get", "read"}

func plainWrite(v *history.View, i int32) bool {
	return v.In != nil && v.In[i] != history.Absent && slices.Contains([]string{"put", "write", "set"}, v.FName[v.F[i]])
}

func plainRead(v *history.View, i int32) bool {
	return v.Out != nil && v.Out[i] != history.Absent && slices.Contains(readNames, v.FName[v.F[i]])
}

// contradiction looks for a finding about read i, whose hint is m.
func (f *readsFrom) contradiction(v *history.View, r *order.Rules, i int32, m int64, w *writers) {
	if !plainRead(v, i) {
		return
	}
	named := w.named[m]
	if len(named) > 0 {
		right := func(x int32) bool { return !plainWrite(v, x) || v.In[x] == v.Out[i] }
		if !slices.ContainsFunc(named, right) {
			r.AddFinding(fmt.Sprintf("%s %d of the read names the write with %s %d, and it returned another value", f.read, m, f.write, m), named[0], i)
		}
		return
	}
	wrote := w.wrote[v.Out[i]]
	if !f.grows || !w.plain || !w.some || m < w.least || len(wrote) == 0 {
		return
	}
	for _, x := range wrote {
		if _, ok := v.Hints[f.write].Int(x); !ok || v.Info[x] {
			return
		}
	}
	n, _ := v.Hints[f.write].Int(wrote[0])
	r.AddFinding(fmt.Sprintf("the read returned what was written with %s %d, and its %s says %d", f.write, n, f.read, m), wrote[0], i)
}
