package report

import "pinyon/consistency"

// stalenessReport is the staleness in JSON; ages in time are in ns.
type stalenessReport struct {
	Timed    bool          `json:"timed"` // false: no ages in time, and "over_time" is by position in the file
	NoTimes  string        `json:"no_times,omitempty"`
	Total    staleCount    `json:"total"`
	Excluded staleExcluded `json:"not_measured"`
	Versions []staleBucket `json:"versions"`
	Times    []staleBucket `json:"times"`
	Keys     []staleCount  `json:"keys"`
	Nodes    []staleCount  `json:"nodes"`
	OverTime []staleSlice  `json:"over_time"`
}

type staleCount struct {
	Name        *string `json:"name,omitempty"` // of the key or node
	Reads       int     `json:"reads"`
	Stale       int     `json:"stale"`
	Share       float64 `json:"share"` // stale of reads, 0 to 1
	MaxVersions int     `json:"max_versions"`
	MaxTime     *int64  `json:"max_time"` // null: not timed
}

type staleExcluded struct {
	Unwritten  int `json:"unwritten"`
	Unsettled  int `json:"unsettled"`
	Unnamed    int `json:"unnamed"`
	Unanswered int `json:"unanswered"`
}

type staleBucket struct {
	From  int64  `json:"from"`
	To    *int64 `json:"to"` // included; null: no end
	Count int    `json:"count"`
}

type staleSlice struct {
	From int64 `json:"from"`
	To   int64 `json:"to"` // not included
	staleCount
}

func stalenessOf(m *consistency.Staleness) *stalenessReport {
	if m == nil {
		return nil
	}
	r := &stalenessReport{
		Timed: m.Timed, NoTimes: m.NoTimes, Total: staleCountOf(m, m.Total, false),
		Excluded: staleExcluded{m.Unwritten, m.Unsettled, m.Unnamed, m.Unanswered},
		Versions: staleBucketsOf(m.Versions), Times: staleBucketsOf(m.Times), Keys: []staleCount{}, Nodes: []staleCount{},
	}
	for _, k := range m.Keys {
		r.Keys = append(r.Keys, staleCountOf(m, k, true))
	}
	for _, n := range m.Nodes {
		r.Nodes = append(r.Nodes, staleCountOf(m, n, true))
	}
	for _, s := range m.Slices {
		r.OverTime = append(r.OverTime, staleSlice{s.From, s.To, staleCountOf(m, s.StaleCount, false)})
	}
	return r
}

func staleCountOf(m *consistency.Staleness, c consistency.StaleCount, named bool) staleCount {
	r := staleCount{Reads: c.Reads, Stale: c.Stale, MaxVersions: c.MaxVersions}
	if named {
		r.Name = &c.Name
	}
	if c.Reads > 0 {
		r.Share = float64(c.Stale) / float64(c.Reads)
	}
	if m.Timed {
		r.MaxTime = &c.MaxTime
	}
	return r
}

func staleBucketsOf(list []consistency.StaleBucket) []staleBucket {
	reports := []staleBucket{}
	for _, b := range list {
		r := staleBucket{From: b.From, Count: b.Count}
		if b.To+1 > b.To {
			r.To = &b.To
		}
		reports = append(reports, r)
	}
	return reports
}
