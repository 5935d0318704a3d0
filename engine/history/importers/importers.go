// Package importers reads the logs of other tools as histories.
//
// Every format goes the same way: the file is read whole (unpacked when it is
// gzip), its format is told by its content, a reader for that format yields
// either events (an invocation, a completion, a note) or whole operations, and
// one builder pairs events into operations. What was decided on the way stands
// in a Report.
//
// Rules that hold for every format:
//
//   - A process is a client when it invokes something; lines of all other
//     processes are notes.
//   - An invocation pairs with the next completion of its process; without one
//     it is Info.
//   - Malformed input is a *history.Error that names the file and the line,
//     never a guess. What a reader skips or drops, it counts and reports.
//   - Numbers stay exact, and no input makes a reader panic.
package importers

import (
	"fmt"
	"io"
	"strings"

	"pinyon/engine/history"
)

// Options says how to read a file; the zero value detects everything.
type Options struct {
	Format string    // a name of Formats; "": detect
	Keyed  string    // "yes" or "no": whether event values are [key value]; "" or "auto": detect
	Order  string    // "file" or "time": which clock decides; "": the format's default
	Strict bool      // refuse a process that goes on after an operation without an answer
	Stdin  io.Reader // what the path "-" reads
	_      struct{}
}

// Defaults are the rules that a format implies. A flag or a header field
// overrides each of them.
type Defaults struct {
	Order   history.OrderBy
	Ties    history.Ties
	NilRead string        // "unknown" or "absent"
	FailCas string        // "drop" or "observe"
	Initial history.Value // Absent: the model's own
	_       struct{}
}

// FormatInfo describes a format.
type FormatInfo struct {
	Name, Doc string
	Defaults  Defaults
	_         struct{}
}

// format is a FormatInfo with its reader.
type format struct {
	FormatInfo
	read func(*source, *Options, *Report) (*history.Raw, error)
}

func describe(name, doc string, d Defaults) FormatInfo {
	return FormatInfo{Name: name, Doc: doc, Defaults: d}
}

// formats is the registry, in the order in which Formats lists it.
func formats() []format {
	jepsen := Defaults{Order: history.ByLine, NilRead: "unknown", FailCas: "drop"}
	etcd := Defaults{Order: history.ByLine, NilRead: "absent", FailCas: "observe", Initial: history.Null}
	kv := Defaults{Order: history.ByLine, NilRead: "absent", FailCas: "drop", Initial: history.String("")}
	interval := Defaults{Order: history.ByTime, Ties: history.TiesPrecede, NilRead: "absent", FailCas: "observe", Initial: history.Int(0)}
	calls := Defaults{Order: history.ByLine, NilRead: "absent", FailCas: "drop"}
	return []format{
		{describe("native", "Pinyon's own JSON Lines", Defaults{NilRead: "absent", FailCas: "drop"}), readNative},
		{describe("jepsen-edn", "Jepsen's history.edn: one EDN map a line", jepsen), readEDN},
		{describe("knossos", "one EDN vector or list of maps, or [process type f value] tuples", jepsen), readEDN},
		{describe("jepsen-txt", "Jepsen's history.txt: process, type, f, value in columns", jepsen), readLog},
		{describe("jepsen-log", "jepsen.log: the columns of history.txt behind a logger's prefix", jepsen), readLog},
		{describe("elle-json", "elle-cli: the maps of Jepsen as JSON, an array or one a line", jepsen), readElleJSON},
		{describe("etcd-log", "Jepsen logs of etcd as Porcupine ships them: one cas-register", etcd), readLog},
		{describe("porcupine-kv", "Porcupine's key-value logs: EDN maps with :key", kv), readEDN},
		{describe("splitbrain", "Splitbrain's JSON Lines: one operation a line", interval), readSplitbrain},
		{describe("violin", "violin's queue and stack logs: [id] call push(1), [id] return", calls), readViolin},
	}
}

// Formats lists what Load reads, without the readers.
func Formats() []FormatInfo {
	var infos []FormatInfo
	for _, f := range formats() {
		infos = append(infos, f.FormatInfo)
	}
	return infos
}

func formatNames() string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

func findFormat(name string) (format, bool) {
	for _, f := range formats() {
		if f.Name == name {
			return f, true
		}
	}
	return format{}, false
}

// check refuses option values that mean nothing.
func (o *Options) check() error {
	if _, ok := findFormat(o.Format); o.Format != "" && !ok {
		return fmt.Errorf("unknown format %q; the formats are %s", o.Format, formatNames())
	}
	if k := o.Keyed; k != "" && k != "auto" && k != "yes" && k != "no" {
		return fmt.Errorf("unknown value %q for keyed: auto, yes or no", k)
	}
	if d := o.Order; d != "" && d != "file" && d != "time" {
		return fmt.Errorf("unknown value %q for order: file or time", d)
	}
	return nil
}

// Load reads the history in the file at path ("-": o.Stdin), whatever its
// format. Malformed input is a *history.Error; a missing file is the error of
// os.Open. The defaults of the format are reported, not applied: the header
// holds only what the file itself says.
func Load(path string, o Options) (*history.Raw, *Report, error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	src, err := open(path, o.Stdin)
	if err != nil {
		return nil, nil, err
	}
	name, why := o.Format, "named by the user"
	if name == "" {
		if name, why, err = detect(src); err != nil {
			return nil, nil, err
		}
	}
	f, _ := findFormat(name)
	src.format = name
	r := &Report{Path: path, Format: name, Why: why, Defaults: f.Defaults, Order: f.Defaults.Order, Dropped: map[string]int{}}
	switch o.Order {
	case "file":
		r.Order = history.ByLine
	case "time":
		r.Order = history.ByTime
	}
	if o.Keyed == "yes" && (name == "native" || name == "splitbrain" || name == "porcupine-kv") {
		r.warn("keyed yes means nothing for the format %s, which has a field for the key", name)
	}
	var h *history.Raw
	if blank(src.text) {
		h = &history.Raw{}
		if o.Format == "" {
			r.Why = "the file is empty"
		}
	} else if h, err = f.read(src, &o, r); err != nil {
		return nil, nil, err
	}
	h.Path, h.Format, h.Order = path, name, r.Order
	r.count(h)
	return h, r, nil
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
