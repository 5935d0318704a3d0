package consistency_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pinyon/consistency"
	"pinyon/engine/brute"
	"pinyon/engine/brute/histgen"
	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
	"pinyon/models"
)

// classing is a random classification: what the operation at an index of the
// history is promised.
type classing []consistency.Entitlement

func (c classing) of(v *history.View, i int32) consistency.Entitlement { return c[v.Ops[i]] }

// entitlements are what the generated operations are promised.
var entitlements = []consistency.Entitlement{
	{}, {}, {Early: 1}, {Early: 3}, {Early: 2, Sessionless: true}, {Untimed: true}, {Untimed: true, Sessionless: true}, {Sessionless: true},
}

func someClassing(n int, rng *rand.Rand) classing {
	c := make(classing, n)
	for i := range c {
		c[i] = entitlements[rng.IntN(len(entitlements))]
	}
	return c
}

// relaxed promises some of the operations less.
func (c classing) relaxed(rng *rand.Rand) classing {
	r := append(classing(nil), c...)
	for i := range r {
		switch rng.IntN(4) {
		case 0:
			r[i].Early += time.Duration(rng.IntN(4))
		case 1:
			r[i].Untimed = true
		case 2:
			r[i].Sessionless = true
		}
	}
	return r
}

// same is a classification by kind: reads, and all others.
func byKind(reads, others consistency.Entitlement) func(v *history.View, i int32) consistency.Entitlement {
	return func(v *history.View, i int32) consistency.Entitlement {
		if v.Read != nil && v.Read[i] {
			return reads
		}
		return others
	}
}

// classed decides a case at the level of a classification, and lets the
// verifier check the evidence.
func classed(c *histgen.Case, of func(v *history.View, i int32) consistency.Entitlement, oracles []order.Oracle, extra func(v *history.View) func(a, b int32) bool, rng *rand.Rand) (bool, error) {
	entry, err := models.Lookup(c.Model)
	if err != nil {
		return false, err
	}
	s, err := entry.Bind(c.Raw, models.Options{})
	if err != nil {
		return false, err
	}
	v, err := consistency.CheckSubject(context.Background(), s, consistency.PerOperation("classes", of), consistency.Options{
		Oracles: oracles, Timeout: -1, MaxMemory: 1 << 30, Workers: 1, NoSplit: rng.IntN(4) == 0})
	if err != nil {
		return false, err
	}
	f := verify.NewFile(s, "classes", v)
	f.LevelText, f.Entitled, f.TryCore = "random", of, brute.Core
	for _, name := range v.Oracles {
		f.Oracles = append(f.Oracles, verify.OracleText{Name: name})
	}
	hinted := extra(s.View)
	if v.Oracles == nil {
		hinted = nil
	}
	r, err := f.Check(s, hinted)
	if err == nil && r.Answer == verify.Refused {
		err = fmt.Errorf("verifier: %v: %s", r.Answer, r.Reason)
	}
	return v.Kind != spec.Violation, err
}

// twinClassed is the twin's verdict.
func twinClassed(c *histgen.Case, of func(v *history.View, i int32) consistency.Entitlement, extra func(v *history.View) func(a, b int32) bool) (bool, error) {
	twin, err := c.Subject()
	if err != nil {
		return false, err
	}
	ok, _, err := brute.DecideDefinition(twin, verify.PerOperation("classes", of), extra(twin.View))
	return ok, err
}

// TestPerOperationEqualsTwin compares random classifications with the twin,
// and holds them to what they promise each other: relaxing never refuses what
// the stricter classification allows.
func TestPerOperationEqualsTwin(t *testing.T) {
	for name, o := range map[string]histgen.Options{
		"usual":    {Oracles: true, Lines: true},
		"squeezed": {Oracles: true, Lines: true, Squeezed: true},
		"weak":     {Lines: true, Weak: true, Models: registerModels, ManyKeys: true},
	} {
		t.Run(name, func(t *testing.T) {
			table := newBreadth([]string{"random classes", "random classes, and more relaxed ones"})
			table.run(t, o, func(c *histgen.Case, level string, rng *rand.Rand) (want, got bool, err error) {
				oracles, extra := hintOracle(c, rng)
				strict := someClassing(len(c.Raw.Ops), rng)
				if got, err = classed(c, strict.of, oracles, extra, rng); err != nil {
					return got, got, err
				}
				if level == table.levels[0] {
					want, err = twinClassed(c, strict.of, extra)
					return want, got, err
				}
				lax, err := classed(c, strict.relaxed(rng).of, oracles, extra, rng)
				if err == nil && got && !lax {
					err = fmt.Errorf("relaxing refuses what was allowed")
				}
				return got, got, err
			})
			table.print(t)
		})
	}
}

// TestPerOperationIsNamedLevels holds classifications by kind to the named
// levels that they amount to.
func TestPerOperationIsNamedLevels(t *testing.T) {
	untimed := consistency.Entitlement{Untimed: true}
	early := consistency.Entitlement{Early: 2, Sessionless: true}
	named := map[string]func(v *history.View, i int32) consistency.Entitlement{
		"linearizable":            byKind(consistency.Entitlement{}, consistency.Entitlement{}),
		"sequential":              byKind(untimed, untimed),
		"real-time-writes":        byKind(untimed, consistency.Entitlement{}),
		"bounded-staleness:t=2ns": byKind(early, consistency.Entitlement{}),
	}
	table := newBreadth([]string{"linearizable", "sequential", "real-time-writes", "bounded-staleness:t=2ns"})
	table.run(t, histgen.Options{Oracles: true, Lines: true, Weak: true, Models: registerModels, ManyKeys: true}, func(c *histgen.Case, level string, rng *rand.Rand) (want, got bool, err error) {
		oracles, extra := hintOracle(c, rng)
		if _, want, _, err = bothVerdicts(c, level, oracles, extra, rng); err != nil {
			return want, want, err
		}
		got, err = classed(c, named[level], oracles, extra, rng)
		return want, got, err
	})
	table.print(t)
}

const cachedReads = `
level: cached-reads
version: 1
fields: {cache: string}
operations:
  - when: a.kind == "read" && a.cache == "hit"
    level: bounded-staleness:t=10ms
    session: drop
  - {when: a.f == "read" && a.cache == "follower", level: serializable}
`

func TestLoadLevel(t *testing.T) {
	l, err := consistency.LoadLevel("l.yaml", []byte(cachedReads))
	if err != nil {
		t.Fatal(err)
	}
	h := func(cache string, invoke int) string {
		return fmt.Sprintf(`{"pinyon":"history","version":1,"model":"register","initial":0}
{"process":0,"f":"write","in":1,"invoke":0,"return":1,"outcome":"ok"}
{"process":0,"f":"write","in":2,"invoke":2,"return":3,"outcome":"ok"}
{"process":1,"f":"read","invoke":%d,"return":%d,"outcome":"ok","out":1,"hints":{"cache":%q}}
`, invoke, invoke+1, cache)
	}
	for _, c := range []struct {
		name, text string
		want       spec.Kind
	}{
		{"a stale hit within 10 ms", h("hit", 5_000_000), spec.Consistent},
		{"a stale hit after 10 ms", h("hit", 15_000_000), spec.Violation},
		{"a stale follower at any time", h("follower", 15_000_000), spec.Consistent},
		{"a stale read of another kind", h("leader", 5_000_000), spec.Violation},
	} {
		raw, err := history.ReadNative("h.jsonl", strings.NewReader(c.text))
		if err != nil {
			t.Fatal(err)
		}
		entry, err := models.Lookup("register")
		if err != nil {
			t.Fatal(err)
		}
		s, err := entry.Bind(raw, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		v, err := consistency.CheckSubject(context.Background(), s, l, consistency.Options{})
		if err != nil || v.Kind != c.want || v.Level != "cached-reads" {
			t.Errorf("%s: %v, %v; want %v at cached-reads", c.name, v, err, c.want)
		}
	}
}

// Every error of a level file, with its place.
func TestLoadLevelRefuses(t *testing.T) {
	const head = "level: x\nversion: 1\nfields: {rev: int}\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "l.yaml:1: the file is empty; a level has at least the keys level, version and operations"},
		{"a list", "- a\n", "l.yaml:1:1: a level is a table of the keys level, version, fields and operations, and this is a list"},
		{"unknown key", head + "operation: []\n", "l.yaml:4:1: a level has no key operation (did you mean operations?); its keys are level, version, fields, operations"},
		{"no classes", head, "l.yaml:1:1: the key operations, its classes, is missing"},
		{"a taken name", "level: sequential\nversion: 1\noperations: [{when: a.f == \"x\", level: serializable}]\n", "l.yaml:1:8: sequential is the name of another level"},
		{"an odd name", "level: my level\nversion: 1\noperations: [{when: a.f == \"x\", level: serializable}]\n", `l.yaml:1:8: the level's name "my level" may hold letters, digits, - _ and . only`},
		{"version 2", "level: x\nversion: 2\noperations: []\n", "l.yaml:2:10: the version must be 1"},
		{"no condition", head + "operations:\n  - level: serializable\n", "l.yaml:5:5: a class has both keys, when and level"},
		{"mentions b", head + "operations:\n  - {when: a.rev < b.rev, level: serializable}\n", "l.yaml:5:12: the condition of a class is about one operation, a; this one mentions b"},
		{"unknown level", head + "operations:\n  - {when: a.rev < 7, level: causal}\n", "l.yaml:5:30: the level of a class is linearizable, serializable or bounded-staleness:t=DURATION, and not causal"},
		{"a bound in versions", head + "operations:\n  - {when: a.rev < 7, level: \"bounded-staleness:k=2\"}\n", "l.yaml:5:30: level bounded-staleness:k=2: it takes t=DURATION alone"},
		{"session", head + "operations:\n  - {when: a.rev < 7, level: serializable, session: maybe}\n", "l.yaml:5:53: session is keep or drop, and not maybe"},
		{"unknown field", head + "operations:\n  - {when: a.revision < 7, level: serializable}\n", "l.yaml:5:14: the field revision is not declared"},
	} {
		_, err := consistency.LoadLevel("l.yaml", []byte(c.text))
		if err == nil || len(err.Error()) < len(c.want) || err.Error()[:len(c.want)] != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}
