package spec

import "time"

// Entitlement is what one operation is promised at a level that promises
// different things to different operations. The zero value is linearizable.
type Entitlement struct {
	// Early: a read may be ordered up to so long before its invocation. It has no
	// effect on what is not a read.
	Early time.Duration
	// Untimed: real time does not count, neither before the operation nor after
	// it: serializable.
	Untimed bool
	// Sessionless: the order of the process does not count for it either.
	Sessionless bool

	_ struct{}
}

// EarlyRead is Early where it has an effect.
func (e Entitlement) EarlyRead(read bool) (time.Duration, bool) {
	return e.Early, read && e.Early > 0
}
