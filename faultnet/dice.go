package faultnet

import (
	"hash/fnv"
	"time"
)

// dice is a random generator whose numbers never change between versions of
// the language, so that a seed means the same schedule for ever: SplitMix64
// (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA
// 2014).
type dice uint64

// newDice mixes a seed and the name of what the numbers are for.
func newDice(seed uint64, purpose string) *dice {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	d := dice(seed ^ h.Sum64())
	d.next() // neighbouring seeds part at once
	return &d
}

func (d *dice) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1, n at least 1. The bias of the modulus
// is of no importance for small n.
func (d *dice) below(n int) int { return int(d.next() % uint64(n)) }

// between returns a duration from lo to hi, both included, in steps of unit
// from lo.
func (d *dice) between(lo, hi, unit time.Duration) time.Duration {
	if hi <= lo {
		return lo
	}
	return lo + unit*time.Duration(d.next()%uint64((hi-lo)/unit+1))
}

// shuffled returns the names in a random order.
func (d *dice) shuffled(names []string) []string {
	out := append([]string(nil), names...)
	for i := len(out) - 1; i > 0; i-- {
		j := d.below(i + 1)
		out[i], out[j] = out[j], out[i]
	}
	return out
}
