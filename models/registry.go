package models

import (
	"errors"
	"fmt"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/history/suggest"
	"pinyon/engine/spec"
)

// ErrUnknown marks a model name that the registry does not hold.
var ErrUnknown = errors.New("unknown model")

// Entry is one model of the registry.
type Entry struct {
	Name string
	Doc  string
	Ops  []OpDoc
	// Initial says what the initial value may be, and the model's own.
	Initial string
	// Keyed: operations usually name the object by a key (an operation without
	// one belongs to the one object without a key). The other models accept keys
	// too; each key is then an object of its own.
	Keyed bool
	// NeverSplit: one operation may touch several parts of the object, so the
	// history must not be split by those.
	NeverSplit bool
	// Text is the file that Load read the model from; "" where it is built in.
	Text string
	// Bind decodes a recorded history into this model's types and erases it.
	// What does not decode is a *history.Error.
	Bind func(h *history.Raw, o Options) (*spec.Subject, error)

	_ struct{}
}

// OpDoc describes one operation in words.
type OpDoc struct {
	F       string
	Aliases []string // other names that a history may use
	In, Out string   // "" for none
}

// Options change how a recorded history is read.
type Options struct {
	// Initial is the object's initial value. Absent: the header's, else the
	// model's own.
	Initial history.Value
	// NilRead says what it means that a read of a register, cas-register,
	// counter or kv returned null: "absent", null is what was there, or
	// "unknown", the answer was not recorded and any value fits. "": the
	// header's, else absent.
	NilRead string

	_ struct{}
}

// known are the models, sorted by name. To make them all takes longer than many
// a check.
var known = []struct {
	name string
	make func() Entry
}{
	{"bank", bankEntry},
	{"cas-register", casRegisterEntry},
	{"counter", counterEntry},
	{"deque", dequeEntry},
	{"etcd", etcdEntry},
	{"fenced-mutex", fencedMutexEntry},
	{"kv", kvEntry},
	{"list-append", listAppendEntry},
	{"log", logEntry},
	{"multi-register", multiRegisterEntry},
	{"mutex", mutexEntry},
	{"owner-mutex", ownerMutexEntry},
	{"priority-queue", priorityQueueEntry},
	{"queue", queueEntry},
	{"reentrant-mutex", reentrantMutexEntry},
	{"register", registerEntry},
	{"rw-mutex", rwMutexEntry},
	{"rw-register", rwRegisterEntry},
	{"s2", s2Entry},
	{"semaphore", semaphoreEntry},
	{"set", setEntry},
	{"stack", stackEntry},
	{"unordered-queue", unorderedQueueEntry},
	{"versioned-kv", versionedKVEntry},
}

// All returns every model, sorted by name.
func All() []Entry {
	all := make([]Entry, len(known))
	for i, k := range known {
		all[i] = k.make()
	}
	return all
}

// Lookup returns the model with the given name, or an error that wraps
// ErrUnknown and names the models there are.
func Lookup(name string) (Entry, error) {
	var names []string
	for _, k := range known {
		if k.name == name {
			return k.make(), nil
		}
		names = append(names, k.name)
	}
	return Entry{}, fmt.Errorf("%w %q; %s", ErrUnknown, name, expected(name, names))
}

// expected writes "did you mean" where a word is near, and what there is.
func expected(word string, of []string) string {
	s := "expected one of " + strings.Join(of, ", ")
	if near := suggest.Closest(word, of); near != "" {
		return fmt.Sprintf("did you mean %s? %s", near, s)
	}
	return s
}
