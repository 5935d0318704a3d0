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
	"context"
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
	Map    string    // how the columns of a table are named, see ParseMapping; "": no table
	Strict bool      // refuse a process that goes on after an operation without an answer
	Stdin  io.Reader // what the path "-" reads

	MaxUnpacked int64           // what a gzip file may unpack to, in bytes; 0: DefaultUnpacked
	Context     context.Context // ends reading early, with its error; nil: nothing does
	_           struct{}
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
	splitbrain := Defaults{Order: history.ByTime, Ties: history.TiesPrecede, NilRead: "absent", FailCas: "observe", Initial: history.Int(0)}
	calls := Defaults{Order: history.ByLine, NilRead: "absent", FailCas: "drop"}
	intervals := Defaults{Order: history.ByTime, NilRead: "absent", FailCas: "drop"}
	return []format{
		{describe("native", "Pinyon's own JSON Lines", Defaults{NilRead: "absent", FailCas: "drop"}), readNative},
		{describe("jepsen-edn", "Jepsen's history.edn: one EDN map a line", jepsen), readEDN},
		{describe("knossos", "one EDN vector or list of maps, or [process type f value] tuples", jepsen), readEDN},
		{describe("jepsen-txt", "Jepsen's history.txt: process, type, f, value in columns", jepsen), readLog},
		{describe("jepsen-log", "jepsen.log: the columns of history.txt behind a logger's prefix", jepsen), readLog},
		{describe("elle-json", "elle-cli: the maps of Jepsen as JSON, an array or one a line", jepsen), readElleJSON},
		{describe("etcd-log", "Jepsen logs of etcd as Porcupine ships them: one cas-register", etcd), readLog},
		{describe("porcupine-kv", "Porcupine's key-value logs: EDN maps with :key", kv), readEDN},
		{describe("splitbrain", "Splitbrain's JSON Lines: one operation a line", splitbrain), readSplitbrain},
		{describe("violin", "violin's queue and stack logs: [id] call push(1), [id] return", calls), readViolin},
		{describe("object-log", "fptlin, PolyLin and fastlin: # stack, and an operation with both its times a line", intervals), readObjectLog},
		{describe("etcd-report", "an etcd robustness report: client-*/operations.json", intervals), readEtcdReport},
		{describe("chaos", "the JSON Lines of chaos (tipocket): action, proc, time, data", calls), readChaos},
		{describe("s2", "the records of S2's verification: JSON Lines of Start and Finish", calls), readS2},
		{describe("turnpike", "turnpike's CSV: call_ns, return_ns, client_id, op, key, value, output", intervals), readTurnpike},
		{describe("turnpike-events", "turnpike's CSV of events: UniqueID, ClientID, Kind, Action and JSON payloads", calls), readTurnpikeEvents},
		{describe("table", "any CSV or JSON Lines, whose columns --map names", intervals), readTable},
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
	if o.Map != "" {
		if _, err := ParseMapping(o.Map); err != nil {
			return err
		}
		if o.Format != "" && o.Format != "table" {
			return fmt.Errorf("a mapping reads the format table, not %s", o.Format)
		}
	}
	if k := o.Keyed; k != "" && k != "auto" && k != "yes" && k != "no" {
		return fmt.Errorf("unknown value %q for keyed: auto, yes or no", k)
	}
	if d := o.Order; d != "" && d != "file" && d != "time" {
		return fmt.Errorf("unknown value %q for order: file or time", d)
	}
	return nil
}

// Load reads the history at path ("-": o.Stdin), whatever its format: a file, a
// Pinyon bundle, a Jepsen or Maelstrom store, or an etcd robustness report. The
// report says which file was read. Malformed input is a *history.Error; a missing file is the error of
// os.Open. The defaults of the format are reported, not applied: the header
// holds only what the file itself says.
func Load(path string, o Options) (*history.Raw, *Report, error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	p, err := locate(path)
	if err != nil {
		return nil, nil, err
	}
	src, err := p.open(&o)
	if err != nil {
		return nil, nil, err
	}
	name, why, err := p.tell(src, &o)
	if err != nil {
		return nil, nil, err
	}
	f, _ := findFormat(name)
	src.format = name
	r := &Report{Path: p.path, Format: name, Why: why, Defaults: f.Defaults, Order: f.Defaults.Order, Dropped: map[string]int{}}
	r.Warnings = append(r.Warnings, p.notices...)
	if p.results != "" {
		r.Results = readResults(p.results)
	}
	switch o.Order {
	case "file":
		r.Order = history.ByLine
	case "time":
		r.Order = history.ByTime
	}
	if o.Keyed == "yes" && fieldForKey[name] {
		r.warn("keyed yes means nothing for the format %s, which has a field for the key", name)
	}
	var h *history.Raw
	switch {
	case src.parts == nil && src.text == "":
		h = &history.Raw{}
		if o.Format == "" {
			r.Why = "the file is empty"
		}
	case src.parts == nil && blank(src.text):
		// A line that a writer began and did not fill is no empty history.
		return nil, nil, src.errorAt(0, "an empty line; remove it")
	default:
		if h, err = f.read(src, &o, r); err != nil {
			return nil, nil, err
		}
	}
	h.Path, h.Format, h.Order = p.path, name, r.Order
	r.count(h)
	return h, r, nil
}

// fieldForKey are the formats whose values are never [key value].
var fieldForKey = map[string]bool{"native": true, "splitbrain": true, "porcupine-kv": true, "object-log": true, "etcd-report": true,
	"turnpike": true, "turnpike-events": true, "table": true}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
