package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pinyon/engine/history/suggest"
	"pinyon/kvstores"
)

func (a *app) storesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "stores [NAME]",
		Short: "List the fixture stores: what each claims and the mistakes it can make",
		Example: `  pinyon stores
  pinyon stores kvraft`,
		Args:              args(cobra.MaximumNArgs(1), "at most one name"),
		ValidArgsFunction: completeOne(storeNames),
		RunE: func(_ *cobra.Command, names []string) error {
			if len(names) == 0 {
				var rows [][2]string
				for _, s := range kvstores.Stores() {
					rows = append(rows, [2]string{s.Name, firstSentence(s.Doc)})
				}
				a.list(rows)
				return nil
			}
			s, err := findStore(names[0])
			if err != nil {
				return usagef("%v", err)
			}
			a.store(s)
			return nil
		},
	}
}

// findStore returns a store, or an error with the name that was probably meant.
func findStore(name string) (kvstores.Store, error) {
	s, err := kvstores.Lookup(name)
	if near := suggest.Closest(name, storeNames()); err != nil && near != "" {
		return s, fmt.Errorf("there is no store %q; did you mean %s?", name, near)
	}
	return s, err
}

func storeNames() (names []string) {
	for _, s := range kvstores.Stores() {
		names = append(names, s.Name)
	}
	return names
}

// store describes one store.
func (a *app) store(s kvstores.Store) {
	level, oracle := s.Claims(nil)
	claim := level
	if oracle != "" {
		claim += ", oracle " + oracle
	}
	a.print("%s: %s\n\nmodel  %s\nclaim  %s\n", s.Name, s.Doc, s.Model, claim)
	if s.Ops != nil {
		a.print("answers  %s\n", strings.Join(s.Ops, ", "))
	}
	if s.Wrong != "" {
		a.print("wrong even without a bug: %s\n", s.Wrong)
	}
	var rows [][2]string
	for _, o := range s.Options {
		rows = append(rows, [2]string{"--option " + o.Name + "=" + o.Default, o.Doc})
	}
	for _, b := range s.Bugs {
		rows = append(rows, [2]string{"--bug " + b.Name, fmt.Sprintf("%s (shows under %s)", b.Doc, strings.Join(b.Faults, ", "))})
	}
	if rows != nil {
		a.print("\n")
		a.list(rows)
	}
}
