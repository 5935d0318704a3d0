package kvstores

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"
)

// stamp orders the versions of a register: a counter, then who wrote, then how
// many read-modify-writes were built on that write (Gryff's carstamp; always 0
// in kvabd).
type stamp [3]int64

func (s stamp) compare(t stamp) int { return slices.Compare(s[:], t[:]) }

// version is one value that a key had.
type version struct {
	Key   string          `json:"key"`
	Stamp stamp           `json:"stamp"`
	Value json.RawMessage `json:"value"` // null: absent
}

// registers is what a replica stores: of each key the newest version that it
// was given. Nothing is shown to anybody before it survives a kill.
type registers struct {
	mutex   sync.Mutex // guards the maps and the order of the journal
	held    registerMap
	shown   registerMap // what of it survives
	journal *journal
}

type registerMap map[string]version

// get returns the version of key: null without any.
func (m registerMap) get(key string) version {
	if v, ok := m[key]; ok {
		return v
	}
	return version{Key: key, Value: null}
}

// put keeps v where it is newer, and returns what is there then.
func (m registerMap) put(v version) version {
	if old := m.get(v.Key); v.Stamp.compare(old.Stamp) <= 0 {
		return old
	}
	m[v.Key] = v
	return v
}

func openRegisters(dir string) (*registers, error) {
	g := &registers{held: registerMap{}, shown: registerMap{}}
	var err error
	g.journal, err = openJournal(dir, "registers", func(record []byte) error {
		var v version
		if err := json.Unmarshal(record, &v); err != nil {
			return err
		}
		g.held.put(v)
		g.shown.put(v)
		return nil
	})
	return g, err
}

// read returns the newest version of key that survives.
func (g *registers) read(key string) version {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.shown.get(key)
}

// store stores v, unless what is here is as new.
func (g *registers) store(v version) error {
	_, err := g.keep(func() version { return v })
	return err
}

// write stores value under a new stamp of writer, above seen and above all
// that is here: no two writes of one writer ever have the same, because each
// is here, and survives, before anybody else sees it.
func (g *registers) write(key string, value json.RawMessage, seen stamp, writer int64) (version, error) {
	return g.keep(func() version {
		return version{key, stamp{max(seen[0], g.held.get(key).Stamp[0]) + 1, writer, 0}, value}
	})
}

// keep stores the version that choose makes, with the lock held, and returns it
// once it or a newer one survives and is shown.
func (g *registers) keep(choose func() version) (version, error) {
	g.mutex.Lock()
	v, end, err := choose(), int64(0), error(nil)
	if v.Stamp.compare(g.held.get(v.Key).Stamp) > 0 {
		end, err = g.journal.append(v)
	} else {
		end = g.journal.end() // what is newer may not survive yet
	}
	now := v
	if err == nil {
		now = g.held.put(v)
		err = g.compact()
	}
	g.mutex.Unlock()
	if err = errors.Join(err, g.journal.sync(end)); err != nil {
		return v, err
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.shown.put(now)
	return v, nil
}

// compact writes the journal anew where most of it is of no use; the caller
// holds the lock.
func (g *registers) compact() error {
	if !g.journal.full(len(g.held)) {
		return nil
	}
	records := make([]any, 0, len(g.held))
	for _, v := range g.held {
		records = append(records, v)
	}
	return g.journal.rewrite(records)
}

// newest returns the newest of some versions, and whether they are all equal.
func newest(list []version) (v version, agreed bool) {
	v, agreed = list[0], true
	for _, w := range list[1:] {
		c := w.Stamp.compare(v.Stamp)
		if agreed = agreed && c == 0; c > 0 {
			v = w
		}
	}
	return v, agreed
}
