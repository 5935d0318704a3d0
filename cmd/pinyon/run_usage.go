package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"pinyon/harness"
	"pinyon/kvstores"
)

// What run and sweep refuse before anything is created: a folder without a
// history would only be in the way.

// numbers refuses what no run can have. The flags whose zero means a default
// are those whose help says so.
func (f *runFlags) numbers() error {
	switch {
	case f.nodes < 1 || f.nodes > 99:
		return usagef("--nodes %d: expected 1 to 99", f.nodes)
	case f.clients < 0:
		return usagef("--clients %d: expected at least one for each node", f.clients)
	case f.clients > 0 && f.clients < f.nodes:
		return usagef("--clients %d: expected at least %d, one for each node; a cut would silence a side", f.clients, f.nodes)
	case f.keys < 0 || f.keys > 10000:
		return usagef("--keys %d: expected 1 to 10,000", f.keys)
	case f.values < 0:
		return usagef("--values %d: expected 0, for new ones only, or more", f.values)
	case f.ops < 0:
		return usagef("--ops %d: expected 0, for no limit, or more", f.ops)
	case !(f.rate >= 0): // or no number
		return usagef("--rate %g: expected 0, for as fast as they can, or more", f.rate)
	case f.duration <= 0:
		return usagef("--duration %s: expected more than nothing, such as 8s", f.duration)
	case f.timeout <= 0:
		return usagef("--timeout %s: expected more than nothing, such as 1s", f.timeout)
	case f.think < 0:
		return usagef("--think %s: expected 0 or more, such as 10ms", f.think)
	case f.budget < 0:
		return usagef("--budget %s: expected 0, for no limit, or more", f.budget)
	}
	return nil
}

// fits refuses what the store, or the schedule, does not go with.
func (f *runFlags) fits(c *harness.Config) error {
	claim := c.Target.Claim()
	if err := checkMix(c.Mix, claim.Name, claim.Ops); err != nil {
		return err
	}
	err := c.Vain()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, harness.ErrVain):
		return usagef("%v", err)
	case f.schedule != "":
		return usagef("--schedule %s: %v", f.schedule, err)
	}
	return usagef("--faults %s: %s", f.faults, strings.TrimPrefix(err.Error(), "faultnet: plan "+f.faults+": "))
}

func checkProfile(name string) error {
	if !slices.Contains(profileNames(), name) {
		return usagef("--faults: there is no profile %q%s", name, didYouMean(name, profileNames(), "pinyon schedule lists them"))
	}
	return nil
}

// checkMix refuses an operation that the store does not answer.
func checkMix(m harness.Mix, store string, answered []string) error {
	for _, s := range m {
		if s.Parts > 0 && !slices.Contains(answered, s.F) {
			return usagef("--mix: %s does not answer %q%s", store, s.F, didYouMean(s.F, answered, "it answers "+strings.Join(answered, ", ")))
		}
	}
	return nil
}

// storeOptions reads --option, each of which every one of the stores must have.
func storeOptions(list []string, stores ...kvstores.Store) (map[string]string, error) {
	options, err := pairs("--option", list)
	if err != nil {
		return nil, &status{exitUsage, err}
	}
	for _, s := range stores {
		var names []string
		for _, o := range s.Options {
			names = append(names, o.Name)
		}
		for _, text := range list {
			if name, _, _ := strings.Cut(text, "="); !slices.Contains(names, name) {
				has := "it has " + cmp.Or(strings.Join(names, ", "), "none")
				return nil, usagef("--option: %s has no option %q%s", s.Name, name, didYouMean(name, names, has))
			}
		}
		if s.Valid != nil {
			if err := s.Valid(options); err != nil {
				return nil, usagef("--option: %s", strings.TrimPrefix(err.Error(), "option "))
			}
		}
	}
	return options, nil
}
