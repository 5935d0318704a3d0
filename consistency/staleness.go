package consistency

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// Staleness is how stale the reads of a history certainly were, read by read:
// counts of what ReadAges says of each.
type Staleness struct {
	// Timed: ages in time were measured; NoTimes says why not.
	Timed   bool
	NoTimes string
	Total   StaleCount

	// Reads that are in no other count: see Sight.
	Unwritten, Unsettled, Unnamed, Unanswered int

	Versions []StaleBucket // stale reads by age in versions: 1, 2, 3, 4 to 7, 8 to 15, ...
	Times    []StaleBucket // by age in ns: below 1000, then powers of ten; nil unless Timed

	// Keys and Nodes are the measured reads by key and by the node that was
	// asked, the most stale reads first. Operations without a node are left out.
	Keys, Nodes []StaleCount
	// Slices are the measured reads by when they were invoked: staleSlices equal
	// parts of the run. From and To are ns, or positions of events in the file
	// unless Timed.
	Slices []StaleSlice

	_ struct{}
}

// StaleCount counts measured reads.
type StaleCount struct {
	Name        string // of the key or node
	Reads       int    // measured
	Stale       int
	MaxVersions int   // the greatest age in versions
	MaxTime     int64 // the greatest age in ns
}

// StaleBucket counts the stale reads of ages From to To, To included.
type StaleBucket struct {
	From, To int64
	Count    int
}

// StaleSlice is a part of the run, To not included.
type StaleSlice struct {
	From, To int64
	StaleCount
}

// staleSlices is the number of parts into which a run is cut.
const staleSlices = 10

// MeasureStaleness counts how stale the reads of s were, those of one key with
// Options.OnlyKey; no other option counts. It fails with ErrNoSight where the
// model does not say what a read saw, and with spec.ErrCannotTell where it does
// not say what a read is.
func MeasureStaleness(ctx context.Context, s *spec.Subject, o Options) (m *Staleness, err error) {
	ages, err := ReadAges(ctx, s, o)
	if err != nil {
		return nil, err
	}
	v := s.View
	m = &Staleness{Timed: timed(v), NoTimes: noTimes(v)}
	first, width := tenths(v)
	for n := range int64(staleSlices) {
		m.Slices = append(m.Slices, StaleSlice{From: first + n*width, To: first + (n+1)*width})
	}
	keys, nodes := make([]StaleCount, len(v.KeyName)), make([]StaleCount, len(v.NodeName))
	m.Versions = versionBuckets(ages)
	m.Times = timeBuckets(m.Timed)
	for x, a := range ages {
		switch a.Sight {
		case Measured:
			m.Total.add(a)
			keys[v.Key[x]].add(a)
			nodes[v.Node[x]].add(a)
			m.Slices[(v.Call[x]-first)/width].add(a)
			fill(m.Versions, int64(a.Versions))
			if a.Versions > 0 {
				fill(m.Times, a.Time)
			}
		case Unwritten:
			m.Unwritten++
		case Unsettled:
			m.Unsettled++
		case Unnamed:
			m.Unnamed++
		case Unanswered:
			m.Unanswered++
		}
	}
	m.Keys, m.Nodes = worst(keys, v.KeyName, v.KeyOrder()), worst(nodes, v.NodeName, nodeOrder(v))
	return m, nil
}

// timed reports whether the recorded times are what orders the events.
func timed(v *history.View) bool { return noTimes(v) == "" }

// noTimes says why they are not.
func noTimes(v *history.View) string {
	switch {
	case v.Untimed:
		return "some events have no time"
	case v.Order != history.ByTime:
		return "the order of the lines is the clock"
	}
	return ""
}

func (c *StaleCount) add(a Age) {
	c.Reads++
	if a.Versions > 0 {
		c.Stale++
		c.MaxVersions, c.MaxTime = max(c.MaxVersions, int(a.Versions)), max(c.MaxTime, a.Time)
	}
}

// tenths returns where the run begins and how long each of its parts is, on the
// clock that orders events; the parts reach beyond its last event.
func tenths(v *history.View) (first, width int64) {
	if v.N == 0 {
		return 0, 1
	}
	first, last := v.Call[0], v.Call[0]
	for x := range v.N {
		first, last = min(first, v.Call[x]), max(last, v.Call[x])
		if !v.Info[x] {
			last = max(last, v.Ret[x])
		}
	}
	return first, (last-first)/staleSlices + 1
}

// versionBuckets are the ages 1, 2, 3 and then from each power of two to the
// next, as far as some age goes.
func versionBuckets(ages []Age) []StaleBucket {
	greatest := int64(0)
	for _, a := range ages {
		greatest = max(greatest, int64(a.Versions))
	}
	buckets := []StaleBucket{}
	for from := int64(1); from <= greatest; {
		to := from
		if from >= 4 {
			to = 2*from - 1
		}
		buckets = append(buckets, StaleBucket{From: from, To: to})
		from = to + 1
	}
	return buckets
}

// timeBuckets are the ages below a microsecond, and then one for each power of
// ten; the last, from a thousand seconds on, has no end.
func timeBuckets(timed bool) []StaleBucket {
	if !timed {
		return nil
	}
	buckets := []StaleBucket{{From: 0, To: 999}}
	for from := int64(1000); from < 1e12; from *= 10 {
		buckets = append(buckets, StaleBucket{From: from, To: 10*from - 1})
	}
	return append(buckets, StaleBucket{From: 1e12, To: math.MaxInt64})
}

// fill counts an age in its bucket, if there is one.
func fill(buckets []StaleBucket, age int64) {
	for i := range buckets {
		if buckets[i].From <= age && age <= buckets[i].To {
			buckets[i].Count++
		}
	}
}

// worst names the counts and sorts those that have reads: the most stale reads
// first, then the greatest ages, then in the given order.
func worst(counts []StaleCount, names []string, order []int32) []StaleCount {
	list := []StaleCount{}
	for _, code := range order {
		if c := counts[code]; c.Reads > 0 {
			c.Name = names[code]
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b StaleCount) int {
		return cmp.Or(cmp.Compare(b.Stale, a.Stale), cmp.Compare(b.MaxVersions, a.MaxVersions), cmp.Compare(b.MaxTime, a.MaxTime))
	})
	return list
}

// nodeOrder returns the codes of the nodes that have a name, by name.
func nodeOrder(v *history.View) (order []int32) {
	for code, name := range v.NodeName {
		if name != "" {
			order = append(order, int32(code))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(v.NodeName[a], v.NodeName[b]) })
	return order
}

// ErrNoSight is returned where the model does not say which write a read saw.
var ErrNoSight = errors.New("the model does not say which write a read saw")
