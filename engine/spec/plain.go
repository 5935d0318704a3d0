package spec

// Plain returns m with everything hidden but how it steps: what a search then
// does is what Wing and Gong's does on any object, with Lowe's memory of
// configurations. It is what published speed-ups are measured against.
func Plain(m Machine) Machine {
	if w, ok := m.(Watcher); ok {
		return watchedPlain{plain{m}, w}
	}
	return plain{m}
}

// plain is a machine of which nothing is known.
type plain struct{ m Machine }

func (p plain) Init(key int32) int32               { return p.m.Init(key) }
func (p plain) Step(state, op int32) (int32, bool) { return p.m.Step(state, op) }
func (p plain) Bytes() int64                       { return BytesOf(p.m) }
func (p plain) Describe(state int32) string        { return DescribeState(p.m, state) }

// watchedPlain is one whose steps depend on what was placed before.
type watchedPlain struct {
	plain
	Watcher
}
