// Command phenomena looks into recordings of the laboratory for what makes each
// protocol's hints hard: it counts operations answered by each replica, EPaxos
// instances that depend on each other, sequencers and durability logs that
// disagree, views that change, sessions that lag behind, and carstamps that tie.
//
// It reads the lines by itself and shares no code with the oracles, so that it
// says whether a recording has what an oracle is there for, not whether the
// oracle saw it.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: phenomena HISTORY.jsonl...")
		os.Exit(64)
	}
	for _, path := range os.Args[1:] {
		if err := report(os.Stdout, path); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			os.Exit(65)
		}
	}
}

func report(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	r, err := read(f)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %s, oracle %s, %d operations with an answer\n", path, r.Source, r.Oracle, len(r.ops))
	for _, line := range r.phenomena() {
		fmt.Fprintln(w, "  "+line)
	}
	return nil
}

// recording is a history with its hints, in the order of the answers.
type recording struct {
	Source string
	Oracle string
	ops    []op
}

// op is an operation that was answered.
type op struct {
	key, node       string
	invoke, answer  int64
	view            int64 // -1: no such hint, as of all that follow
	replica, inst   int64
	zxid            int64
	deps, seats, cs []int64 // EPaxos' dependencies; places in each log; carstamp
}

// line is one line of a recording.
type line struct {
	Pinyon, Source, Oracle string
	Event, Key, Node       string
	Outcome                string
	ID, Time               int64
	Hints                  map[string]json.RawMessage
}

func read(from io.Reader) (*recording, error) {
	r, open := &recording{}, map[int64]op{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<24)
	for n := 1; lines.Scan(); n++ {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		switch {
		case l.Pinyon != "":
			r.Source, r.Oracle = l.Source, l.Oracle
		case l.Event == "invoke":
			open[l.ID] = op{key: l.Key, node: l.Node, invoke: l.Time}
		case l.Event == "complete" && l.Outcome == "ok":
			o := open[l.ID]
			o.answer = l.Time
			if err := o.hints(l.Hints); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			r.ops = append(r.ops, o)
		}
	}
	return r, lines.Err()
}

// hints takes the hints that some phenomenon is about.
func (o *op) hints(all map[string]json.RawMessage) error {
	numbers := map[string]*int64{"view": &o.view, "ballot": &o.view, "term": &o.view, "replica": &o.replica, "inst": &o.inst, "zxid": &o.zxid}
	for _, at := range numbers {
		*at = -1
	}
	lists := map[string]*[]int64{"deps": &o.deps, "seqIdx": &o.seats, "DIdx": &o.seats, "carstamp": &o.cs}
	for name, text := range all {
		var to any
		if at, ok := numbers[name]; ok {
			to = at
		} else if at, ok := lists[name]; ok {
			to = at
		} else {
			continue
		}
		if err := json.Unmarshal(text, to); err != nil {
			return fmt.Errorf("hint %s: %w", name, err)
		}
	}
	return nil
}

// phenomena says what is there; what a protocol does not have is left out.
func (r *recording) phenomena() (found []string) {
	say := func(n int, format string, args ...any) {
		if n > 0 {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	nodes, least := share(r.ops, func(o *op) (string, bool) { return o.node, o.node != "" })
	say(nodes, "answered by %d replicas, the least of them %d times", nodes, least)
	commands, least := share(r.ops, func(o *op) (int64, bool) { return o.replica, o.replica >= 0 })
	say(commands, "%d command leaders, the least of them %d times", commands, least)
	views, _ := share(r.ops, func(o *op) (int64, bool) { return o.view, o.view >= 0 })
	say(views-1, "the view changed: %d of them", views)
	two, three := r.cycles()
	say(two, "%d pairs of instances depend on each other", two)
	say(three, "%d threes depend on each other in turn", three)
	placed, disagree := r.disagreements()
	say(disagree, "logs disagree on the order of %d of %d neighbours", disagree, placed)
	lag, most := r.lag()
	say(lag, "%d answers lag behind what had been answered before they were asked for, by at most %d", lag, most)
	ties, shared := r.ties()
	say(ties, "%d carstamps have the number of another one", ties)
	say(shared, "%d carstamps are those of several operations", shared)
	return found
}

// share counts the distinct values of ops that have one, and the rarest.
func share[T comparable](ops []op, of func(o *op) (T, bool)) (distinct, least int) {
	counts := map[T]int{}
	for i := range ops {
		if v, ok := of(&ops[i]); ok {
			counts[v]++
		}
	}
	for _, n := range counts {
		if least == 0 || n < least {
			least = n
		}
	}
	return len(counts), least
}

// cycles counts pairs of instances of which each names the other as a
// dependency, and threes that do so in turn, of which no two are such a pair.
func (r *recording) cycles() (two, three int) {
	at := map[[2]int64]*op{}
	for i := range r.ops {
		if o := &r.ops[i]; o.inst >= 0 {
			at[[2]int64{o.replica, o.inst}] = o
		}
	}
	named := func(o *op) (next []*op) {
		for replica, inst := range o.deps {
			if d := at[[2]int64{int64(replica), inst}]; d != nil && d != o && d.key == o.key {
				next = append(next, d)
			}
		}
		return next
	}
	mutual := func(a, b *op) bool { return slices.Contains(named(a), b) && slices.Contains(named(b), a) }
	for i := range r.ops {
		a := &r.ops[i]
		for _, b := range named(a) {
			if mutual(a, b) {
				two++
				continue
			}
			for _, c := range named(b) {
				if c != a && slices.Contains(named(c), a) && !mutual(b, c) && !mutual(c, a) {
					three++
				}
			}
		}
	}
	return two / 2, three / 3 // each was met from each of its operations
}

// disagreements looks at operations with places in several logs, in the order
// of the first log, for each view and key: how often do a neighbour and the next stand the other way
// round in another log?
func (r *recording) disagreements() (neighbours, disagree int) {
	var placed []*op
	for i := range r.ops {
		if o := &r.ops[i]; len(o.seats) > 1 {
			placed = append(placed, o)
		}
	}
	slices.SortStableFunc(placed, func(a, b *op) int {
		return cmp.Or(cmp.Compare(a.view, b.view), cmp.Compare(a.key, b.key), cmp.Compare(a.seats[0], b.seats[0]))
	})
	for i := 1; i < len(placed); i++ {
		a, b := placed[i-1], placed[i]
		if a.view != b.view || a.key != b.key || a.seats[0] == b.seats[0] {
			continue
		}
		neighbours++
		for k := range min(len(a.seats), len(b.seats)) {
			if a.seats[k] > b.seats[k] {
				disagree++
				break
			}
		}
	}
	return neighbours, disagree
}

// lag counts answers whose zxid is below one that had been answered before they
// were asked for.
func (r *recording) lag() (count int, most int64) {
	asked := make([]*op, 0, len(r.ops))
	for i := range r.ops {
		if r.ops[i].zxid >= 0 {
			asked = append(asked, &r.ops[i])
		}
	}
	answered := slices.Clone(asked)
	slices.SortStableFunc(asked, func(a, b *op) int { return int(a.invoke - b.invoke) })
	slices.SortStableFunc(answered, func(a, b *op) int { return int(a.answer - b.answer) })
	highest := int64(-1)
	for _, o := range asked {
		for len(answered) > 0 && answered[0].answer < o.invoke {
			highest = max(highest, answered[0].zxid)
			answered = answered[1:]
		}
		if d := highest - o.zxid; d > 0 {
			count++
			most = max(most, d)
		}
	}
	return count, most
}

// ties counts carstamps whose number another carstamp of the key has, too, and
// carstamps that more than one operation was given.
func (r *recording) ties() (ties, shared int) {
	type stamp struct {
		key       string
		ts, id, n int64
	}
	uses, numbers := map[stamp]int{}, map[stamp]int{}
	for i := range r.ops {
		if o := &r.ops[i]; len(o.cs) == 3 {
			uses[stamp{o.key, o.cs[0], o.cs[1], o.cs[2]}]++
		}
	}
	for s := range uses {
		numbers[stamp{key: s.key, ts: s.ts}]++
	}
	for s, n := range uses {
		if numbers[stamp{key: s.key, ts: s.ts}] > 1 {
			ties++
		}
		if n > 1 {
			shared++
		}
	}
	return ties, shared
}
