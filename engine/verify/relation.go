package verify

import "pinyon/engine/history"

// Relation is a set of pairs over the operations 0..n-1, one row of bits for
// each left side.
type Relation struct {
	n, words int
	bits     []uint64
}

// NewRelation returns the relation that holds the pairs for which holds
// returns true, by asking every pair.
func NewRelation(n int, holds func(a, b int32) bool) *Relation {
	r := &Relation{n: n, words: (n + 63) / 64}
	r.bits = make([]uint64, n*r.words)
	for a := range int32(n) {
		for b := range int32(n) {
			if holds(a, b) {
				r.add(a, b)
			}
		}
	}
	return r
}

// Order builds the level's relation over v by asking the definition for every
// pair, joined with extra, the order of the oracles (nil: none). It is not
// closed: see Close. It fails with spec.ErrCannotTell where the level asks for
// reads and the model cannot tell.
func (d Definition) Order(v *history.View, extra func(a, b int32) bool) (*Relation, error) {
	if err := d.usable(v); err != nil {
		return nil, err
	}
	return NewRelation(v.N, func(a, b int32) bool {
		return d.Holds(v, a, b) || extra != nil && extra(a, b)
	}), nil
}

// N is the number of operations.
func (r *Relation) N() int { return r.n }

func (r *Relation) add(a, b int32) { r.bits[int(a)*r.words+int(b)/64] |= 1 << (b % 64) }

// Has reports whether the pair a, b is in the relation.
func (r *Relation) Has(a, b int32) bool {
	return r.bits[int(a)*r.words+int(b)/64]>>(b%64)&1 != 0
}

// Close makes r its own transitive closure (Warshall, 1962) and returns it.
// The closure goes through every operation, optional ones included, whether or
// not they are ever placed.
func (r *Relation) Close() *Relation {
	for mid := range r.n {
		through := r.bits[mid*r.words : (mid+1)*r.words]
		for a := range r.n {
			if row := r.bits[a*r.words : (a+1)*r.words]; row[mid/64]>>(mid%64)&1 != 0 {
				for w, word := range through {
					row[w] |= word
				}
			}
		}
	}
	return r
}
