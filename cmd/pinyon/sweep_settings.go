package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"pinyon/harness"
)

// sweepSettings are what a result depends on and its name does not say. They
// stand in OUT/settings.json, so that no result is taken for one of another run.
type sweepSettings struct {
	Duration string  `json:"duration"`
	Rate     float64 `json:"rate"`
	Mix      string  `json:"mix"` // "": that of each store
}

// settle makes the folder of a sweep, or refuses one that was made with other
// settings, and returns how many of the cases have their results there.
func (a *app) settle(f *sweepFlags, mix harness.Mix, cases []harness.Case) (made int, err error) {
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return 0, err
	}
	now := sweepSettings{f.duration.String(), f.rate, mix.String()}
	earlier, err := harness.ReadResults(filepath.Join(f.out, "results.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	path := filepath.Join(f.out, "settings.json")
	if len(earlier) == 0 {
		text, err := json.Marshal(now)
		if err == nil {
			err = os.WriteFile(path, append(text, '\n'), 0o644)
		}
		return 0, err
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, usagef("%s holds results of an older version, which does not say with which --duration, --rate and --mix they were made; choose another --out", f.out)
	case err != nil:
		return 0, err
	}
	var then sweepSettings
	if err := json.Unmarshal(text, &then); err != nil {
		return 0, malformedf("%s: %v", path, err)
	}
	if others := then.differ(now); others != nil {
		return 0, usagef("%s was made with %s; choose another --out", f.out, strings.Join(others, " and "))
	}
	return a.made(f.out, earlier, cases), nil
}

// made says how many of the cases have results, and returns it.
func (a *app) made(out string, earlier []harness.CaseResult, cases []harness.Case) (n int) {
	known := map[string]bool{}
	for _, r := range earlier {
		known[r.Name()] = true
	}
	for _, c := range cases {
		if known[c.Name()] {
			n++
		}
	}
	switch {
	case n == 1:
		a.say("1 of %s was made before; its result stands in %s", many(len(cases), "run"), out)
	case n > 1:
		a.say("%d of %s were made before; their results stand in %s", n, many(len(cases), "run"), out)
	}
	return n
}

// differ says what is not the same.
func (s sweepSettings) differ(now sweepSettings) (list []string) {
	add := func(flag string, then, now any) {
		if then != now {
			list = append(list, fmt.Sprintf("--%s %v, not %v", flag, then, now))
		}
	}
	add("duration", s.Duration, now.Duration)
	add("rate", s.Rate, now.Rate)
	add("mix", cmp.Or(s.Mix, "of each store"), cmp.Or(now.Mix, "of each store"))
	return list
}
