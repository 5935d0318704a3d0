package brute

import "pinyon/engine/verify"

// weak: every answered operation that saw something saw, by itself, a write of
// its value that was not invoked after it returned, with no other answered
// write of the key between the two in real time; or the initial value, with no
// answered write before it.
func (r *registers) weak() bool {
	times, err := verify.Define("linearizable")
	if err != nil {
		return false
	}
	v := r.view
	before := func(a, b int32) bool { return times.Timely(v, a, b) }
	for x := range r.n {
		if !r.looks[x] || v.Info[x] {
			continue
		}
		found := false
		for _, w := range append([]int32{nobody}, r.updates...) {
			if w == x || w != nobody && (v.Key[w] != v.Key[x] || before(x, w)) || !r.fits(x, w) {
				continue
			}
			between := false
			for _, z := range r.updates {
				between = between || z != x && z != w && v.Key[z] == v.Key[x] && (w == nobody || before(w, z)) && before(z, x)
			}
			found = found || !between
		}
		if !found {
			return false
		}
	}
	return true
}
