package consistency

import (
	"fmt"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/order"
)

// The levels in which a read may miss so many writes, or so young ones. They
// place a read where it reads and count what it misses, unlike
// bounded-staleness:k, which places it in real time and lets it look back.

func buildKLinearizability(p params) (Level, error) {
	return Level{Order: orderTimeline, Validity: staleBy{writes: p.k - 1}.validity("KRealTimeReads")}, p.only(true, false)
}

func buildPrefixStaleness(p params) (Level, error) {
	if p.words != "" {
		return Level{}, p.only(p.k > 0, p.hasT)
	}
	if p.k == 0 {
		return Level{Order: orderPrefixWithin(p.t), timed: true}, nil
	}
	return Level{Order: orderUpdates, timed: p.hasT, Validity: staleBy{writes: p.k - 1, aged: p.hasT, age: p.t}.validity("KRealTimeReads")}, nil
}

// orderPrefixWithin is ordered-sequential with every write before the reads
// that were invoked more than t after it returned.
func orderPrefixWithin(t time.Duration) func(v *history.View, r *order.Rules) error {
	return func(v *history.View, r *order.Rules) error {
		if err := orderUpdates(v, r); err != nil {
			return err
		}
		early := func(i int32) (int64, bool) { return int64(t), v.Read[i] }
		addAll(r, order.RealTime(v, order.Span{From: writes(v), To: reads(v), Early: early})...)
		return nil
	}
}

// buildCosmosDocs joins two levels: "whichever is reached first" forgives
// neither bound. A lag of k versions is a read that misses k writes.
func buildCosmosDocs(p params) (Level, error) {
	if err := p.only(true, true); err != nil {
		return Level{}, err
	}
	if p.k == maxK {
		return Level{}, fmt.Errorf("k=%d: expected a whole number from 1 to %d", p.k, maxK-1)
	}
	var l Level
	for _, bound := range []params{{k: p.k + 1}, {t: p.t, hasT: true}} {
		part, err := buildPrefixStaleness(bound)
		if err != nil {
			return l, err
		}
		part.Name = "prefix-staleness" + bound.String()
		l.all = append(l.all, part)
	}
	return l, nil
}

func buildCosmos2018(p params) (Level, error) {
	return Level{Order: orderRegions, Validity: staleBy{writes: p.k, all: true}.validity("KRealTimeReads over all keys"), spans: true}, p.only(true, false)
}

// orderRegions keeps real time towards writes, and between the reads of a
// region.
func orderRegions(v *history.View, r *order.Rules) error {
	if err := asks(v); err != nil {
		return err
	}
	for i := range int32(v.N) {
		if v.Read[i] && v.NodeName[v.Node[i]] == "" {
			return &history.Error{Msg: "the level asks for the region of every read, which is its node, and some answered reads have none"}
		}
	}
	addAll(r, order.RealTime(v, order.Span{To: writes(v)})...)
	addAll(r, order.RealTime(v, order.Span{From: reads(v), To: reads(v), Within: v.Node})...)
	return nil
}

func buildCosmos2022(p params) (Level, error) {
	return Level{Order: orderAll, Validity: logWindow(p.k), spans: true}, p.only(true, false)
}
