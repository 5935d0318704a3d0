package consistency_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pinyon/consistency"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
)

// separation says that a level accepts a history that another rejects.
type separation struct{ accepts, rejects string }

// separationsKept are those that testdata/litmus/pairs holds two histories of
// each: all neighbours, and the levels that are easily confused, both ways.
func separationsKept() (list []separation) {
	for _, p := range hierarchy {
		if !p.equal {
			list = append(list, separation{accepts: p.weaker, rejects: p.stronger})
		}
	}
	for _, c := range consistency.Confused() {
		a, b := consistency.Member(c[0]), consistency.Member(c[1])
		list = append(list, separation{a, b}, separation{b, a})
	}
	return list
}

// blind reports that the pair is about histories in which no operation reads
// and writes at once.
func (s separation) blind() bool {
	return slices.ContainsFunc(hierarchy, func(p pair) bool { return p.blind && !p.equal && p.stronger == s.rejects && p.weaker == s.accepts })
}

// files are where the two histories are kept.
func (s separation) files() [2]string {
	var paths [2]string
	for i, name := range consistency.PairFiles(s.accepts, s.rejects) {
		paths[i] = filepath.Join("..", "testdata", "litmus", "pairs", name)
	}
	return paths
}

// TestPairsAreSeparated checks the kept histories of each pair, by the engine
// and by the twin, and that no other file lies beside them.
func TestPairsAreSeparated(t *testing.T) {
	if *hierarchyWrite > 0 {
		writePairs(t, *hierarchyWrite)
	}
	var known []string
	for _, s := range separationsKept() {
		for _, path := range s.files() {
			known = append(known, filepath.Base(path))
			raw, err := readHistory(path)
			if err != nil {
				t.Error(err)
				continue
			}
			if s.blind() && !isBlind(raw) {
				t.Errorf("%s: an operation reads and writes at once", path)
			}
			for name, want := range map[string]bool{s.accepts: true, s.rejects: false} {
				engine, twin, err := twoVerdicts(raw, name)
				if err != nil || engine != want || twin != want {
					t.Errorf("%s: %s accepts=%v by the engine, %v by the twin (%v), want %v", path, name, engine, twin, err, want)
				}
			}
		}
	}
	for _, path := range litmusFiles(t) {
		if filepath.Base(filepath.Dir(path)) == "pairs" && !slices.Contains(known, filepath.Base(path)) {
			t.Errorf("%s belongs to no pair of the hierarchy", path)
		}
	}
}

// twoVerdicts decides a history by the engine and by the twin.
func twoVerdicts(raw *history.Raw, name string) (engine, twin bool, err error) {
	level, err := consistency.LookupLevel(name)
	if err != nil {
		return false, false, err
	}
	s, err := bind(raw)
	if err != nil {
		return false, false, err
	}
	if engine, err = decide(s, level); err != nil {
		return false, false, err
	}
	other, err := twinSubject(raw)
	if err != nil {
		return engine, false, err
	}
	twin, err = twinOf(other, name)
	return engine, twin, err
}

// litmusFiles lists testdata/litmus with its folders.
func litmusFiles(t *testing.T) (paths []string) {
	t.Helper()
	for _, pattern := range []string{"*.jsonl", "*/*.jsonl"} {
		found, err := filepath.Glob(filepath.Join("..", "testdata", "litmus", pattern))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	return paths
}

func readHistory(path string) (*history.Raw, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return history.ReadNative(path, bytes.NewReader(text))
}

// finds collects small histories of one separation, one for each shape.
type finds struct {
	mutex  sync.Mutex
	tried  int
	shapes map[string]*history.Raw
}

// maxTried is how many histories are made smaller for one pair.
const maxTried = 100

// writePairs searches two small histories of different character for each pair
// that has none yet, and keeps them.
func writePairs(t *testing.T, n int) {
	t.Helper()
	var list []separation
	for _, s := range separationsKept() {
		if _, err := os.Stat(s.files()[1]); err != nil {
			list = append(list, s)
		}
	}
	d := newDecider(t)
	found := make([]finds, len(list))
	look := func(raw *history.Raw) bool {
		verdicts, err := d.all(raw, false)
		if err != nil {
			return true // not well-formed without its clock error or ties
		}
		for i, s := range list {
			if verdicts[d.index(s.accepts)] == accepts && verdicts[d.index(s.rejects)] == rejects && (!s.blind() || isBlind(raw)) {
				found[i].add(raw, s)
			}
		}
		return true
	}
	for _, path := range litmusFiles(t) { // what is kept already may do
		if raw, err := readHistory(path); err == nil {
			look(plainly(raw))
		}
	}
	eachHistory(t, n, func(_ int, c *histgen.Case) bool { return look(plainly(c.Raw)) })
	for i, s := range list {
		two := found[i].choose()
		for j, raw := range two {
			raw.Header.Source = fmt.Sprintf("%s accepts it, %s does not", s.accepts, s.rejects)
			writeHistory(t, s.files()[j], raw)
		}
		if len(two) < 2 {
			t.Errorf("%s, %s: %d histories found", s.accepts, s.rejects, len(two))
		}
	}
}

func (f *finds) add(raw *history.Raw, s separation) {
	f.mutex.Lock()
	f.tried++
	enough := f.tried > maxTried
	f.mutex.Unlock()
	if enough {
		return
	}
	holds := func(raw *history.Raw) bool { ok, err := separates(raw, s); return ok && err == nil }
	both := func(raw *history.Raw) bool { return holds(raw) && fits(raw, s.accepts) && fits(raw, s.rejects) }
	if !both(raw) {
		return
	}
	less := shrink(raw, holds)
	small := simplest(less, holds)
	if !both(small) {
		small = simplest(less, both)
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.shapes == nil {
		f.shapes = map[string]*history.Raw{}
	}
	if name := shape(small); f.shapes[name] == nil || cost(small) < cost(f.shapes[name]) {
		f.shapes[name] = small
	}
}

// choose returns the cheapest history and one that differs from it, best by
// its number of keys, else by the kind of its operations.
func (f *finds) choose() (two []*history.Raw) {
	var names []string
	for name := range f.shapes {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cost(f.shapes[a])-cost(f.shapes[b]), strings.Compare(a, b))
	})
	if len(names) == 0 {
		return nil
	}
	first := f.shapes[names[0]]
	best := 0
	var second *history.Raw
	for _, name := range names[1:] {
		raw := f.shapes[name]
		if price := cost(raw) - difference(first, raw); second == nil || price < best {
			second, best = raw, price
		}
	}
	two = []*history.Raw{first}
	if second != nil {
		two = append(two, second)
	}
	return two
}

// difference is worth how much more a history may cost.
func difference(a, b *history.Raw) (worth int) {
	x, y := traits(a), traits(b)
	for i, w := range []int{300, 100, 60, 60} {
		if x[i] != y[i] {
			worth += w
		}
	}
	return worth
}

// traits are the number of keys, whether an operation reads and writes at
// once, whether one has no answer, and the number of processes.
func traits(raw *history.Raw) [4]int {
	keys, processes := map[string]bool{}, map[int]bool{}
	var tr [4]int
	for _, op := range raw.Ops {
		keys[op.Key], processes[op.Process] = true, true
		if op.F == "cas" {
			tr[1] = 1
		}
		if op.Outcome != history.OK {
			tr[2] = 1
		}
	}
	tr[0], tr[3] = len(keys), len(processes)
	return tr
}

// shape is a history without its times.
func shape(raw *history.Raw) string {
	var b strings.Builder
	for _, op := range raw.Ops {
		fmt.Fprintf(&b, "%d %s %s %v %s %s;", op.Process, op.F, op.Key, op.Outcome, op.In.Text(), op.Out.Text())
	}
	return b.String()
}

func writeHistory(t *testing.T, path string, raw *history.Raw) {
	t.Helper()
	var b bytes.Buffer
	if err := history.WriteNative(&b, raw); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// separates reports whether the one level accepts raw and the other does not.
func separates(raw *history.Raw, s separation) (bool, error) {
	subject, err := twinSubject(raw)
	if err != nil {
		return false, err
	}
	verdicts := [2]bool{}
	for i, name := range []string{s.accepts, s.rejects} {
		if verdicts[i], err = twinOf(subject, name); err != nil {
			return false, err
		}
	}
	return verdicts[0] && !verdicts[1], nil
}

// fits reports whether the engine judges the history at all; the twin is not
// as strict about what a history lacks.
func fits(raw *history.Raw, name string) bool {
	level, err := consistency.LookupLevel(name)
	if err != nil {
		return false
	}
	s, err := bind(raw)
	if err != nil {
		return false
	}
	_, err = decide(s, level)
	return err == nil
}

// cost makes short histories of answered operations of few keys the best, and
// those in which no two events stand at one instant.
func cost(raw *history.Raw) int {
	tr := traits(raw)
	sum := 30*tr[0] + 20*tr[3] + 100*len(raw.Ops)
	if tied(raw) {
		sum += 130
	}
	for i := range raw.Ops {
		op := &raw.Ops[i]
		if op.Outcome != history.OK || op.NoOut {
			sum += 50
		} else {
			sum += int(op.Return - op.Invoke)
		}
		if op.F == "cas" {
			sum += 40
		}
		if op.Node != "" {
			sum += 10
		}
	}
	return sum
}

// tied reports whether two events stand at one instant.
func tied(raw *history.Raw) bool {
	at := map[int64]bool{}
	for _, op := range raw.Ops {
		times := []int64{op.Invoke}
		if op.Outcome == history.OK {
			times = append(times, op.Return)
		}
		for _, time := range times {
			if at[time] {
				return true
			}
			at[time] = true
		}
	}
	return false
}

// plainly drops what a history needs not have: hints, clock error, an
// initial value, failed operations.
func plainly(raw *history.Raw) *history.Raw {
	plain := &history.Raw{Header: history.Header{Model: raw.Header.Model}}
	for _, op := range raw.Ops {
		if op.Outcome == history.Fail {
			continue
		}
		op.Hints, op.Error = nil, ""
		plain.Ops = append(plain.Ops, op)
	}
	byTime(plain)
	return plain
}

func byTime(raw *history.Raw) {
	slices.SortStableFunc(raw.Ops, func(a, b history.Op[history.Value, history.Value]) int {
		return cmp.Or(cmp.Compare(a.Invoke, b.Invoke), cmp.Compare(a.Return, b.Return))
	})
}

// shrink leaves out operations while what holds of the history still holds.
func shrink(raw *history.Raw, holds func(*history.Raw) bool) *history.Raw {
	for i := 0; i < len(raw.Ops); {
		less := *raw
		less.Ops = slices.Delete(slices.Clone(raw.Ops), i, i+1)
		if holds(&less) {
			raw, i = &less, 0
		} else {
			i++
		}
	}
	return raw
}

// simplest rewrites a history step by step, each kept where what holds still
// holds: a register instead of a richer model, answers, one key, and
// processes, values and times counted from the first on.
func simplest(raw *history.Raw, holds func(*history.Raw) bool) *history.Raw {
	for _, step := range []func(*history.Raw){noNodes, deletesWrite, deletedIsSeen, plainModel, answered, oneKey, renamed, nodesByProcess, valuesFromOne, spread, dense} {
		next := *raw
		next.Ops = slices.Clone(raw.Ops)
		step(&next)
		if holds(&next) {
			raw = &next
		}
	}
	return raw
}

func noNodes(raw *history.Raw) {
	for i := range raw.Ops {
		raw.Ops[i].Node = ""
	}
}

// nodesByProcess gives each process its own node, where nodes matter.
func nodesByProcess(raw *history.Raw) {
	for i := range raw.Ops {
		if op := &raw.Ops[i]; op.Node != "" {
			op.Node = fmt.Sprintf("n%d", op.Process)
		}
	}
}

const fresh = 77 // a value that the generator does not use

// deletesWrite makes deletes writes of a value of their own.
func deletesWrite(raw *history.Raw) {
	for i := range raw.Ops {
		if op := &raw.Ops[i]; op.F == "delete" {
			op.F, op.In = "put", history.Int(fresh)
		}
	}
}

// deletedIsSeen makes deletes writes of a value, which those who saw nothing
// saw.
func deletedIsSeen(raw *history.Raw) {
	deletesWrite(raw)
	for i := range raw.Ops {
		if op := &raw.Ops[i]; op.F == "get" && op.Out == history.Null {
			op.Out = history.Int(fresh)
		}
	}
}

// plainModel makes puts and gets writes and reads.
func plainModel(raw *history.Raw) {
	raw.Header.Model = "register"
	for i := range raw.Ops {
		switch op := &raw.Ops[i]; op.F {
		case "put":
			op.F = "write"
		case "get":
			op.F = "read"
		case "cas":
			raw.Header.Model = "cas-register"
		}
	}
}

// answered gives operations without an answer one, at the end.
func answered(raw *history.Raw) {
	for i := range raw.Ops {
		if op := &raw.Ops[i]; op.Outcome == history.Info && op.F == "write" {
			op.Outcome, op.Return = history.OK, 1<<10
		}
	}
}

func oneKey(raw *history.Raw) {
	for i := range raw.Ops {
		raw.Ops[i].Key = "x"
	}
}

// renamed counts processes from 1 and names keys from x, as they come.
func renamed(raw *history.Raw) {
	processes, keys := map[int]int{}, map[string]string{}
	for i := range raw.Ops {
		op := &raw.Ops[i]
		if processes[op.Process] == 0 {
			processes[op.Process] = len(processes) + 1
		}
		if keys[op.Key] == "" {
			keys[op.Key] = string(rune('x' + len(keys)))
		}
		op.Process, op.Key = processes[op.Process], keys[op.Key]
	}
}

// valuesFromOne counts values from 1, as they come.
func valuesFromOne(raw *history.Raw) {
	numbers := map[history.Value]history.Value{}
	number := func(v history.Value) history.Value {
		if v == history.Null || v == history.Absent {
			return v
		}
		if _, ok := numbers[v]; !ok {
			numbers[v] = history.Int(int64(len(numbers) + 1))
		}
		return numbers[v]
	}
	for i := range raw.Ops {
		op := &raw.Ops[i]
		if pair, ok := op.In.Elems(); ok {
			op.In = history.Array(number(pair[0]), number(pair[1]))
			continue // a cas answers true or false
		}
		op.In, op.Out = number(op.In), number(op.Out)
	}
}

// spread gives every event an instant of its own, those at one instant in
// call, return order, so that nothing depends on ties.
func spread(raw *history.Raw) { retime(raw, true) }

// dense leaves no instant without an event.
func dense(raw *history.Raw) { retime(raw, false) }

func retime(raw *history.Raw, unique bool) {
	type event struct {
		at   int64
		done bool
		time *int64
	}
	var events []event
	for i := range raw.Ops {
		op := &raw.Ops[i]
		events = append(events, event{op.Invoke, false, &op.Invoke})
		if op.Outcome != history.Info {
			events = append(events, event{op.Return, true, &op.Return})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	now, last := int64(0), int64(-1)
	for i, e := range events {
		if i > 0 && (unique || e.at != last) {
			now++
		}
		last = e.at
		*e.time = now
	}
	byTime(raw)
}
