// Package oracles holds what the clients of particular stores know about
// order: given the hints that a store returned (a log index, a revision, a
// zxid), which operation came before which. An oracle is a Go function over
// columns (see the example) or a YAML file (see Load); the built-in ones exist
// in both forms, and a test holds them equal.
//
// Rules that hold everywhere:
//
//  1. An oracle adds relations in the cheapest form that expresses it: a
//     clock where it can, a function of pairs where it must.
//  2. Every edge can say why: the rule and the values behind it.
//  3. An operation without a hint is not ordered by it, and is counted.
//  4. An oracle that orders an operation before itself, or two operations both
//     ways by one rule, is at fault itself: that is an error (ErrOwn), never a
//     verdict about the store.
package oracles

import (
	"errors"
	"fmt"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/oracles/rule"
)

// ErrOwn is returned from an oracle's Order, wrapped, where the oracle orders
// an operation before itself or a pair both ways by one rule.
var ErrOwn = errors.New("this is the oracle's own error, not the store's")

// ErrCannotTell is returned from an oracle's Order, wrapped, where the oracle
// asks what a read is and the model cannot tell.
var ErrCannotTell = rule.ErrCannotTell

// Info describes a built-in oracle for people.
type Info struct {
	Name  string
	Doc   string   // one line, then what it rests on
	Hints []string // the hints that it reads
}

// builtin is one entry of the registry.
type builtin struct {
	Info
	oracle order.Oracle
}

// registry lists the built-in oracles by name.
func registry() []builtin {
	return []builtin{applied(), epaxos(), epaxosPairs(), epaxosRevisited(), erwin(), etcd(), gryff(), holiPaxos(), raft(), redisRaft(), skyros(), zooKeeper()}
}

// native makes an entry of the registry from what it adds, in order.
func native(name, doc string, allKeys bool, hints []string, adds ...func(*history.View, *order.Rules) error) builtin {
	return builtin{Info{name, doc, hints}, order.Oracle{Name: name, AllKeys: allKeys, Order: steps(adds...), Text: name}}
}

// steps adds one after the other.
func steps(adds ...func(*history.View, *order.Rules) error) func(*history.View, *order.Rules) error {
	return func(v *history.View, r *order.Rules) error {
		for _, add := range adds {
			if err := add(v, r); err != nil {
				return err
			}
		}
		return nil
	}
}

// Builtin returns the built-in oracles, sorted by name.
func Builtin() []order.Oracle {
	var list []order.Oracle
	for _, b := range registry() {
		list = append(list, b.oracle)
	}
	return list
}

// Infos describes the built-in oracles, in the order of Builtin.
func Infos() []Info {
	var list []Info
	for _, b := range registry() {
		list = append(list, b.Info)
	}
	return list
}

// Lookup returns the built-in oracle called name; applied-staleness may have
// bounds behind its name, as in "applied-staleness:k=3,t=100ms".
func Lookup(name string) (order.Oracle, error) {
	var names []string
	if strings.HasPrefix(name, appliedName+":") {
		return appliedStaleness(name)
	}
	for _, b := range registry() {
		if b.Name == name {
			return b.oracle, nil
		}
		names = append(names, b.Name)
	}
	return order.Oracle{}, fmt.Errorf("there is no oracle %q%s", name, rule.DidYouMean(name, names))
}
