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
// was given. Nothing is told to anybody before it survives a kill.
type registers struct {
	mutex   sync.Mutex // guards held and the order of the journal
	held    map[string]version
	journal *journal
}

func openRegisters(dir string) (*registers, error) {
	g := &registers{held: map[string]version{}}
	var err error
	g.journal, err = openJournal(dir, "registers", func(record []byte) error {
		var v version
		if err := json.Unmarshal(record, &v); err != nil {
			return err
		}
		g.held[v.Key] = v
		return nil
	})
	return g, err
}

// get returns the newest version of key; the caller holds the lock.
func (g *registers) get(key string) version {
	if v, ok := g.held[key]; ok {
		return v
	}
	return version{Key: key, Value: null}
}

// read returns the newest version of key.
func (g *registers) read(key string) (version, error) {
	g.mutex.Lock()
	v, end := g.get(key), g.journal.end()
	g.mutex.Unlock()
	return v, g.journal.sync(end)
}

// put stores v where it is newer; the caller holds the lock.
func (g *registers) put(v version) (end int64, err error) {
	if v.Stamp.compare(g.get(v.Key).Stamp) <= 0 {
		return g.journal.end(), nil // what is here may not have survived yet
	}
	end, err = g.journal.append(v)
	if err == nil {
		g.held[v.Key] = v
	}
	return end, err
}

// store stores v, unless what is here is as new.
func (g *registers) store(v version) error {
	g.mutex.Lock()
	end, err := g.put(v)
	g.mutex.Unlock()
	return errors.Join(err, g.journal.sync(end))
}

// write stores value under a new stamp of writer, above seen and above all
// that is here: no two writes of one writer ever have the same, because each
// is here, and survives, before anybody else sees it.
func (g *registers) write(key string, value json.RawMessage, seen stamp, writer int64) (version, error) {
	g.mutex.Lock()
	v := version{key, stamp{max(seen[0], g.get(key).Stamp[0]) + 1, writer, 0}, value}
	end, err := g.put(v)
	g.mutex.Unlock()
	return v, errors.Join(err, g.journal.sync(end))
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
