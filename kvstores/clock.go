package kvstores

import (
	"sync/atomic"
	"time"
)

// Clock is the clock that a node goes by: the machine's, shifted by an offset
// that can be set while it runs (POST /clock). Stores that promise something by
// clocks read it, and never the machine's.
type Clock struct{ offset atomic.Int64 }

// Now is the time by this clock.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

// Shift sets the offset.
func (c *Clock) Shift(d time.Duration) { c.offset.Store(int64(d)) }

// Offset returns it.
func (c *Clock) Offset() time.Duration { return time.Duration(c.offset.Load()) }
