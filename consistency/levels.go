package consistency

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pinyon/engine/history"
	"pinyon/engine/history/suggest"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/engine/views"
)

// family is a named level, perhaps with parameters.
type family struct {
	name, params, doc, source, whyLocal string
	local                               bool
	example                             string // a full name, for lists
	build                               func(p params) (Level, error)
}

// params are what stands behind the colon of a level's name.
type params struct {
	k     int           // 0: not given
	t     time.Duration // when hasT
	hasT  bool
	words string // what is none of them, for levels that take words
}

// families are the levels, in the order in which lists show them.
var families = []family{
	{
		name:   "linearizable",
		doc:    "One order of all operations that every process and real time agree with: an operation that returned before another was invoked comes first. Each output is what the model gives there.",
		source: "Herlihy and Wing, \"Linearizability\", TOPLAS 1990", local: true,
		whyLocal: "real time is an interval order, and orders of single objects merge along it (Herlihy and Wing, theorem 1). Session order is inside it unless ties or clock error blur real time; where they do, the history is not split",
		build:    fixed(orderAll),
	},
	{
		name:     "sequential",
		doc:      "One order of all operations that keeps the order of each process. Real time does not count.",
		source:   "Lamport, \"How to Make a Multiprocessor Computer That Correctly Executes Multiprocess Programs\", 1979",
		whyLocal: "sessions cross keys: c2 writes y then x, c1 reads the new x and then the old y; each key alone is fine",
		build:    fixed(orderSession),
	},
	{
		name:     "ordered-sequential",
		doc:      "Sequential, and an operation that returned before a write was invoked comes before that write. Reads may be stale. ZooKeeper's level.",
		source:   "Lev-Ari, Bortnikov, Keidar, Shraer, \"Composing ordered sequential consistency\", IPL 2017, stated here from the paper's idea: OSC(A) with A the updates",
		whyLocal: "sessions cross keys as in sequential; composition needs a leading update",
		build:    fixed(orderUpdates),
	},
	{
		name:     "real-time-writes",
		doc:      "Sequential, and a write that returned before another write was invoked comes first. This is what the Pine paper calls ordered sequential; it is weaker: it accepts a read of a write that was invoked only after the read returned.",
		source:   "Pine, arXiv 2608.17388, 2026",
		whyLocal: "sessions cross keys as in sequential",
		build:    fixed(orderWrites),
	},
	{
		name:     "regular-sequential",
		doc:      "Sequential, and a write that returned before another operation was invoked comes first when that is a write (of any key) or a read of the same key.",
		source:   "Helt, Burke, Levy, Lloyd, \"Regular Sequential Serializability and Regular Sequential Consistency\", SOSP 2021, stated here as remembered",
		whyLocal: "sessions and writes of different keys are ordered; it composes only with real-time fences",
		build:    fixed(orderRegular),
	},
	{
		name: "bounded-staleness", params: ":k=K | :t=DURATION | :k=K,t=DURATION", example: "bounded-staleness:k=2",
		doc: "With k (k-atomicity): linearizable, but a read may return what any of the last k versions of its key gives; every write makes a version, equal values too, and the initial value is one. " +
			"With t (delta-atomicity): a read may be ordered up to t before its invocation, that is, a before the read b when a returned more than t before b was invoked; all other pairs are ordered by real time, and the writes of a process keep their order. With both: both relaxations at once.",
		source: "Aiyer, Alvisi, Bazzi, \"On the Availability of Non-strict Quorum Systems\", DISC 2005 (k); Golab, Li, Shah, \"Analyzing Consistency Properties for Fun and Profit\", PODC 2011 (t)", local: true,
		whyLocal: "moving the calls of reads keeps real time an interval order, and versions are counted by key",
		build:    buildStaleness,
	},
	{
		name: "single-order", params: ":GUARANTEE+GUARANTEE...", example: "single-order:read-your-writes+monotonic-reads",
		doc:      "One order of all operations that keeps the chosen guarantees of each session: read-your-writes (a write before a later read), monotonic-reads (a read before a later read), monotonic-writes (a write before a later write), writes-follow-reads (a read before a later write). All four are sequential.",
		source:   "Terry et al., \"Session Guarantees for Weakly Consistent Replicated Data\", PDIS 1994, under a single order as in Burckhardt, \"Principles of Eventual Consistency\", 2014",
		whyLocal: "sessions cross keys as in sequential",
		build:    buildGuarantees,
	},
	{
		name:     "prefix-sequential",
		doc:      "One order of all operations that keeps the order of each process' writes. A read may see any prefix of the writes.",
		source:   "Viotti and Vukolic, \"Consistency in Non-Transactional Distributed Storage Systems\", 2016 (single order and monotonic writes)",
		whyLocal: "the writes of a session cross keys, and compare-and-sets order those of a key",
		build:    fixed(orderSessionWrites),
	},
	{
		name:   "prefix-linearizable",
		doc:    "For each key: one order of its operations in which a write that returned before another write was invoked comes first. A read may see any prefix of the writes.",
		source: "Viotti and Vukolic, 2016 (single order and real-time writes), taken per key", local: true,
		whyLocal: "defined per key",
		build:    fixed(orderPrefix),
	},
	{
		name:   "timeline",
		doc:    "For each key: one order of its operations, the history of its record, in which a write that returned before another write was invoked comes first and no read comes after a write that was invoked later than the read returned. Reads may be stale and may go back. PNUTS' read-any.",
		source: "Cooper et al., \"PNUTS: Yahoo!'s Hosted Data Serving Platform\", VLDB 2008", local: true,
		whyLocal: "defined per record",
		build:    fixed(orderTimeline),
	},
	{
		name:   "regular",
		doc:    "For each key: one order of its operations that keeps real time between every two operations of which one is a write. Reads that overlap a write may return the old value or the new, and two of them may disagree about which is newer only as one order of the writes allows. Sessions do not count.",
		source: "Lamport, \"On Interprocess Communication\", 1986; for several writers with one order of the writes, Shao, Welch, Pierce, Lee, \"Multiwriter Consistency Conditions for Shared Memory Registers\", 2011 (write-order)", local: true,
		whyLocal: "defined per key",
		build:    fixed(orderRegularRegister),
	},
	{
		name:     "regular-weak",
		doc:      "Each read by itself: it returned what some write of its key left (or the initial value), not one that was invoked only after the read returned, and no other write came wholly between that one and the read in real time. Two reads need not agree on an order of the writes. A compare-and-set that succeeded is judged as a read, too.",
		source:   "Shao, Welch, Pierce, Lee, \"Multiwriter Consistency Conditions for Shared Memory Registers\", 2011 (weak); Lamport, \"On Interprocess Communication\", 1986, for one writer",
		local:    true,
		whyLocal: "each read is judged against the writes of its key alone",
		build:    viewLevel(views.WeakRegular),
	},
	{
		name: "k-linearizability", params: ":k=K", example: "k-linearizability:k=2",
		doc: "For each key: one order of its operations in which each output is what the model gives there, an operation that returned before a write was invoked comes before that write, and of the writes that returned before a read was invoked fewer than k come after the read. Sessions do not count. k=1 is regular. " +
			"k-atomicity (bounded-staleness:k) counts the versions between a read and what it saw, whether or not they had returned, and keeps real time between reads: it is stronger.",
		source: "Viotti and Vukolic, 2016 (single order, real-time writes, K-real-time reads), taken per key and without sessions", local: true,
		whyLocal: "defined per key",
		build:    buildKLinearizability,
	},
	{
		name: "prefix-staleness", params: ":k=K | :t=DURATION | :k=K,t=DURATION", example: "prefix-staleness:t=100ms",
		doc: "Bounded staleness with a consistent prefix: ordered-sequential, and reads lag by a bound. With k: of the writes of its key that returned before a read was invoked, fewer than k come after the read. " +
			"With t: every write, of any key, that returned more than t before a read was invoked comes before the read. With both: of the writes of its key that returned more than t before it, fewer than k come after it (either bound excuses a read).",
		source:   "Viotti and Vukolic, 2016 (single order, sessions, timed visibility or K-real-time reads)",
		whyLocal: "sessions cross keys as in sequential",
		build:    buildPrefixStaleness,
	},
	{
		name: "cosmos-docs", params: ":k=K,t=DURATION", example: "cosmos-docs:k=10,t=100ms",
		doc:      "Azure Cosmos DB's bounded staleness as its documentation promises it: a consistent prefix, and reads that lag by at most k versions of an item or by t, whichever is reached first. It is prefix-staleness with k+1 and prefix-staleness with t, both of them, the whole history being one logical partition and its keys the items.",
		source:   "Microsoft, \"Consistency levels in Azure Cosmos DB\", stated here as remembered",
		whyLocal: "sessions cross keys as in sequential",
		build:    buildCosmosDocs,
	},
	{
		name: "cosmos-tla2018", params: ":k=K", example: "cosmos-tla2018:k=10",
		doc:      "Azure Cosmos DB's bounded staleness as Microsoft's first TLA+ specification has it: one log of all writes; the regions' prefixes of it differ by at most k entries, so a read misses at most k of the writes, of all keys, that returned before it was invoked; and the reads of one region never go back. The node of an operation is its region. An operation that returned before a write was invoked comes before it. Sessions do not count.",
		source:   "Microsoft, azure-cosmos-tla, 2018, as described by Hackett, Rowe, Kuppe, \"Understanding Inconsistency in Azure Cosmos DB with TLA+\", 2022; stated here as remembered",
		whyLocal: "entries of the log are counted over all keys",
		build:    buildCosmos2018,
	},
	{
		name: "cosmos-tla2022", params: ":k=K", example: "cosmos-tla2022:k=10",
		doc:      "Azure Cosmos DB's bounded staleness as Hackett, Rowe and Kuppe specify it: one log of all writes in real-time order, of which fewer than k entries at its end are not committed; a read, placed in real time, returns what its key held at the commit index or any later entry, and two reads may go back. That is: what the key held after any of the last k prefixes of the log. Only entries that survive are told: a run in which an acknowledged write was lost is not allowed.",
		source:   "Hackett, Rowe, Kuppe, \"Understanding Inconsistency in Azure Cosmos DB with TLA+\", 2022",
		whyLocal: "entries of the log are counted over all keys",
		build:    buildCosmos2022,
	},
	{
		name:   "safe",
		doc:    "As regular, but a read that overlaps a write of its key may return anything.",
		source: "Lamport, \"On Interprocess Communication\", 1986", local: true,
		whyLocal: "defined per key",
		build:    buildSafe,
	},
	{
		name:     "pram",
		doc:      "For each process: one order of all updates and its own reads that keeps the order of every process. Two processes may see writes of different processes in different orders.",
		source:   "Lipton and Sandberg, \"PRAM: A Scalable Shared Memory\", 1988; with all four session guarantees, as usual (the Pine paper counts three)",
		whyLocal: "sessions cross keys",
		build:    viewLevel(views.Pram),
	},
	{
		name:     "causal-memory",
		doc:      "For each process: one order of the updates in the causal past of its operations and of its own reads that keeps causality: session order together with which write each read saw.",
		source:   "Ahamad, Neiger, Burns, Kohli, Hutto, \"Causal memory\", 1995; as CM in Bouajjani, Enea, Guerraoui, Hamza, POPL 2017",
		whyLocal: "causality crosses keys",
		build:    causalLevel(views.Memory),
	},
	{
		name:     "causal-convergence",
		doc:      "Causal, and one order of all writes agrees with causality and with which of the writes in its causal past each read saw, the last of its key. Also called causal+.",
		source:   "CCv in Bouajjani, Enea, Guerraoui, Hamza, POPL 2017",
		whyLocal: "causality crosses keys",
		build:    causalLevel(views.Convergence),
	},
	{
		name:     "causal",
		doc:      "What a read saw was not overwritten in its causal past. Causality is session order together with which write each read saw; it has no circle.",
		source:   "CC in Bouajjani, Enea, Guerraoui, Hamza, \"On verifying causal consistency\", POPL 2017",
		whyLocal: "causality crosses keys",
		build:    causalLevel(views.Causal),
	},
	{
		name:     "read-your-writes",
		doc:      "One order of all writes, the last of a key wins, in which each read saw the last of what it must have seen: what it saw, and the earlier writes of its process. No read sees a later write of its own process.",
		source:   "Terry et al., \"Session Guarantees for Weakly Consistent Replicated Data\", PDIS 1994, for a convergent store",
		whyLocal: "it is decided whole; it could be split, since nothing in it leads from one key to another",
		build:    sessionLevel(views.Guarantees{ReadYourWrites: true}),
	},
	{
		name:     "monotonic-reads",
		doc:      "As read-your-writes, but a read must have seen what the earlier reads of its process saw, not its writes.",
		source:   "Terry et al., 1994",
		whyLocal: "it is decided whole; it could be split, since nothing in it leads from one key to another",
		build:    sessionLevel(views.Guarantees{MonotonicReads: true}),
	},
	{
		name:     "monotonic-writes",
		doc:      "One order of all writes that keeps the order of each process' writes; a read must have seen only what it saw.",
		source:   "Terry et al., 1994",
		whyLocal: "the order of writes crosses keys",
		build:    sessionLevel(views.Guarantees{MonotonicWrites: true}),
	},
	{
		name:     "writes-follow-reads",
		doc:      "One order of all writes in which what a process saw comes before what it writes later; a read must have seen only what it saw.",
		source:   "Terry et al., 1994",
		whyLocal: "the order of writes crosses keys",
		build:    sessionLevel(views.Guarantees{WritesFollowReads: true}),
	},
	{
		name:   "per-key-sequential",
		doc:    "For each key: one order of its operations that keeps the order of each process. Also called coherence.",
		source: "Goodman, \"Cache Consistency and Sequential Consistency\", 1989", local: true,
		whyLocal: "defined per key",
		build:    fixed(orderSessionPerKey),
	},
}

// Names lists the levels for help and completion.
func Names() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
	}
	return names
}

// Info describes a level for lists and documents.
type Info struct {
	Name, Params, Doc, Source, WhyLocal string
	Local                               bool
}

// Levels describes all levels.
func Levels() []Info {
	infos := make([]Info, len(families))
	for i, f := range families {
		infos[i] = Info{f.name, f.params, f.doc, f.source, f.whyLocal, f.local}
	}
	return infos
}

// LookupLevel returns the level with the given full name, such as
// "linearizable" or "bounded-staleness:k=3". The empty name is linearizable;
// osc and rsc are short for ordered-sequential and regular-sequential.
func LookupLevel(name string) (Level, error) {
	base, rest, hasParams := strings.Cut(name, ":")
	if long, ok := map[string]string{"": "linearizable", "osc": "ordered-sequential", "rsc": "regular-sequential"}[base]; ok {
		base = long
	}
	i := slices.IndexFunc(families, func(f family) bool { return f.name == base })
	if i < 0 {
		return Level{}, unknownLevel(base)
	}
	f := families[i]
	p, err := parseParams(rest)
	if err == nil && hasParams && f.params == "" {
		err = fmt.Errorf("it takes no parameters")
	}
	if err == nil && (!hasParams || rest == "") && f.params != "" {
		err = fmt.Errorf("it needs parameters: %s%s", f.name, f.params)
	}
	if err != nil {
		return Level{}, fmt.Errorf("level %q: %w", name, err)
	}
	l, err := f.build(p)
	if err != nil {
		return Level{}, fmt.Errorf("level %q: %w", name, err)
	}
	l.prefix = l.prefix || f.name == "linearizable"
	l.Name, l.Local, l.Doc, l.Source, l.WhyLocal = f.name+p.String(), f.local, f.doc, f.source, f.whyLocal
	return l, nil
}

func unknownLevel(name string) error {
	if near := suggest.Closest(name, Names()); near != "" {
		return fmt.Errorf("no level is called %q; did you mean %q? (pinyon levels lists them)", name, near)
	}
	return fmt.Errorf("no level is called %q; there are: %s", name, strings.Join(Names(), ", "))
}

// maxK is the greatest bound in versions.
const maxK = 1000

func parseParams(text string) (p params, err error) {
	if text == "" {
		return p, nil
	}
	for _, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "k", "t":
			if p.k > 0 && name == "k" || p.hasT && name == "t" {
				return p, fmt.Errorf("%s stands twice", name)
			}
		}
		switch name {
		case "k":
			if p.k, err = strconv.Atoi(value); err != nil || p.k < 1 || p.k > maxK {
				return p, fmt.Errorf("k=%s: expected a whole number from 1 to %d", value, maxK)
			}
		case "t":
			if p.t, err = time.ParseDuration(value); err != nil || p.t < 0 {
				return p, fmt.Errorf("t=%s: expected a duration such as 100ms", value)
			}
			p.hasT = true
		default:
			if strings.Contains(part, "=") || p.words != "" {
				return p, fmt.Errorf("unknown parameter %q; expected k=K or t=DURATION", part)
			}
			p.words = part
		}
	}
	return p, nil
}

// String writes the parameters as in a level's name.
func (p params) String() string {
	var parts []string
	if p.k > 0 {
		parts = append(parts, "k="+strconv.Itoa(p.k))
	}
	if p.hasT {
		parts = append(parts, "t="+p.t.String())
	}
	if p.words != "" {
		parts = append(parts, p.words)
	}
	if parts == nil {
		return ""
	}
	return ":" + strings.Join(parts, ",")
}

// only refuses parameters that a level does not take, and missing ones that it
// needs.
func (p params) only(k, t bool) error {
	switch {
	case p.words != "":
		return fmt.Errorf("unknown parameter %q; expected k=K or t=DURATION", p.words)
	case p.k > 0 && !k, k && p.k == 0:
		return fmt.Errorf("it takes %s", wanted(k, t))
	case p.hasT != t:
		return fmt.Errorf("it takes %s", wanted(k, t))
	}
	return nil
}

func wanted(k, t bool) string {
	switch {
	case k && t:
		return "both k=K and t=DURATION"
	case k:
		return "k=K alone"
	}
	return "t=DURATION alone"
}

// fixed builds a level without parameters.
func fixed(o func(v *history.View, r *order.Rules) error) func(params) (Level, error) {
	return func(params) (Level, error) { return Level{Order: o}, nil }
}

func buildGuarantees(p params) (Level, error) {
	chosen, err := parseGuarantees(p.words)
	return Level{Order: orderGuarantees(chosen)}, err
}

func buildSafe(params) (Level, error) {
	return Level{Order: orderRegularRegister, Validity: spec.Validity{Name: "safe", EagerReads: true,
		Over: func(m spec.Machine, v *history.View) (spec.Machine, error) {
			return &freeReads{m, overlapping(v)}, nil
		}}}, nil
}

func buildStaleness(p params) (Level, error) {
	if p.words != "" {
		return Level{}, fmt.Errorf("unknown parameter %q; expected k=K or t=DURATION", p.words)
	}
	l := Level{Order: orderAll, prefix: true}
	if p.hasT {
		l.Order, l.timed = orderEarlyReads(p.t), true
	}
	if p.k > 0 {
		l.Validity = spec.KStale(p.k)
	}
	return l, nil
}
