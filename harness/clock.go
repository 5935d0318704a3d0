package harness

import (
	"math"
	"time"
)

// clock gives every time of a run: nanoseconds on the monotonic clock since
// the run started.
type clock struct{ start time.Time }

func newClock() clock { return clock{time.Now()} }

func (c clock) now() int64 { return int64(time.Since(c.start)) }

// granularity measures the smallest step of the clock, in nanoseconds: two
// events less than a step apart may be recorded at one instant, or at two in
// the wrong order by one step. At least 1.
func (c clock) granularity() int64 {
	least := int64(math.MaxInt64)
	for range 100 {
		from := c.now()
		to := c.now()
		for to == from {
			to = c.now()
		}
		least = min(least, to-from)
	}
	return max(least, 1)
}
