package verify

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// FileVersion is the version of the proof file's format.
const FileVersion = 1

// File is a proof file: a verdict with its evidence, to be checked again by
// somebody who has the history. Operations are named by their ids.
type File struct {
	Version int    `json:"version"`
	Digest  string `json:"digest"` // of the history, by Digest
	Model   string `json:"model"`
	// ModelText is the file that defines the model; absent where it is built in.
	ModelText string          `json:"model_text,omitempty"`
	Initial   json.RawMessage `json:"initial,omitempty"` // absent: the model's own
	NilRead   string          `json:"nil_read,omitempty"`
	Level     string          `json:"level"` // its full name, without oracles
	// LevelText is the file that defines a level per operation. Whoever reads the
	// proof turns it into Entitled before Check.
	LevelText string                                          `json:"level_text,omitempty"`
	Entitled  func(v *history.View, i int32) spec.Entitlement `json:"-"`
	// TryCore checks a core by trying every order of it (brute.Core); nil: cores
	// are not checkable.
	TryCore func(s *spec.Subject, d Definition, extra func(a, b int32) bool, core []int32) error `json:"-"`
	// Contradictions lists the operations whose hints contradict each other by what
	// the oracles say of single ones; nil: hints are not checkable.
	Contradictions func() [][]int32 `json:"-"`
	Oracles        []OracleText     `json:"oracles,omitempty"`
	Rules          Rules            `json:"rules"`
	Verdict        string           `json:"verdict"`
	Split          bool             `json:"split"` // a part is a key; otherwise there is one part
	Parts          []FilePart       `json:"parts"`
	Producer       string           `json:"producer,omitempty"` // who wrote it, for people
}

// OracleText is an oracle in force: its name, and the text that defines it
// where it is not built in.
type OracleText struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
}

// Rules are the rules in force that a history leaves open.
type Rules struct {
	Ties       string           `json:"ties"`
	Order      string           `json:"order"`
	ClockError int64            `json:"clock_error,omitempty"`
	ByNode     map[string]int64 `json:"clock_error_by_node,omitempty"`
	FailCas    string           `json:"fail_cas,omitempty"`
	Numeric    string           `json:"numeric,omitempty"`
}

// FilePart is the verdict of one key, or of the whole history.
type FilePart struct {
	Key     string  `json:"key"`
	Verdict string  `json:"verdict"`
	Order   []int64 `json:"order,omitempty"` // consistent
	// Orders, in place of Order, are witnesses for each of the levels that the
	// level is made of; Level is the one of them that Cycle refutes.
	Orders []FileOrder `json:"orders,omitempty"`
	Level  string      `json:"level,omitempty"`
	Cycle  []FileEdge  `json:"cycle,omitempty"` // violation
	// Saw, Arbitration and Views are of consistent parts at levels without a
	// single order: what each operation saw, an order of the writes, and the order
	// of each process. Pattern is the proof of a violation there.
	Saw         []FileSaw    `json:"saw,omitempty"`
	Arbitration []int64      `json:"arbitration,omitempty"`
	Views       []FileView   `json:"views,omitempty"`
	Pattern     *FilePattern `json:"pattern,omitempty"`
	// Core are operations that are impossible by themselves, whatever the others
	// do: a violation.
	Core []int64 `json:"core,omitempty"`
	// Hints are operations whose hints contradict each other without any order: a
	// violation.
	Hints []int64 `json:"hints,omitempty"`
	// Exhausted: the violation rests on a search that tried every order.
	Exhausted bool   `json:"exhausted,omitempty"`
	Reason    string `json:"reason,omitempty"` // unknown
}

// FileSaw says that an operation saw what a write left; null: the initial value.
type FileSaw struct {
	Op    int64  `json:"op"`
	Write *int64 `json:"write"`
}

// FileView is the order of one process.
type FileView struct {
	Process string  `json:"process"`
	Order   []int64 `json:"order"`
}

// FilePattern is a pattern that the level forbids (spec.Pattern), with all that
// it rests on; Process is the one that it is about, where it is about one.
type FilePattern struct {
	Name       string     `json:"name"`
	Process    string     `json:"process,omitempty"`
	Operations []int64    `json:"operations"`
	Steps      []FileStep `json:"steps,omitempty"`
}

// FileStep is a step of such a proof (spec.Step).
type FileStep struct {
	From  int64  `json:"from"`
	To    int64  `json:"to"`
	Why   string `json:"why"`
	Read  *int64 `json:"read,omitempty"`
	After *int64 `json:"after,omitempty"`
}

// FileOrder is a witness for one of several levels.
type FileOrder struct {
	Level string  `json:"level"`
	Order []int64 `json:"order"`
}

// FileEdge is one edge of a cycle.
type FileEdge struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Source string `json:"source"`
	Why    string `json:"why,omitempty"`
}

// NewFile returns the proof file of a verdict on s at the level with this full
// name. Initial, NilRead, Oracles and the rules about values are the caller's
// to add.
func NewFile(s *spec.Subject, level string, v *spec.Verdict) *File {
	f := &File{
		Version: FileVersion, Digest: Digest(s), Model: s.Model, Level: level,
		Rules: rulesOf(s.View), Verdict: v.Kind.String(), Split: v.Split,
	}
	for i := range v.Parts {
		p := &v.Parts[i]
		part := FilePart{Key: p.Key, Verdict: p.Kind.String(), Reason: p.Reason}
		part.Order, part.Level = ids(s, p.Witness), p.Level
		for _, o := range p.Orders {
			part.Orders = append(part.Orders, FileOrder{o.Level, ids(s, o.Order)})
		}
		part.weak(s, p)
		if p.Proof != nil {
			if p.Proof.Kind == spec.ProofCore {
				part.Core = ids(s, p.Proof.Ops)
			}
			if p.Proof.Kind == spec.ProofHints {
				part.Hints = ids(s, p.Proof.Ops)
			}
			part.Exhausted = p.Proof.Kind != spec.ProofCycle && part.Hints == nil && part.Pattern == nil && part.Core == nil
			for _, e := range p.Proof.Cycle {
				part.Cycle = append(part.Cycle, FileEdge{s.ID(e.From), s.ID(e.To), e.Source, e.Why})
			}
		}
		f.Parts = append(f.Parts, part)
	}
	return f
}

// ids names positions by ids; nil stays nil.
func ids(s *spec.Subject, positions []int32) (list []int64) {
	for _, x := range positions {
		list = append(list, s.ID(x))
	}
	return list
}

// weak adds the evidence of a level without a single order.
func (f *FilePart) weak(s *spec.Subject, p *spec.Part) {
	id := func(x int32) *int64 {
		if x < 0 {
			return nil
		}
		n := s.ID(x)
		return &n
	}
	for _, e := range p.Saw {
		f.Saw = append(f.Saw, FileSaw{s.ID(e.Op), id(e.Write)})
	}
	f.Arbitration = ids(s, p.Arbitration)
	for _, v := range p.Views {
		f.Views = append(f.Views, FileView{v.Process, ids(s, v.Order)})
	}
	if p.Proof == nil || p.Proof.Kind != spec.ProofPattern || p.Proof.Name == "" {
		return
	}
	f.Pattern = &FilePattern{Name: string(p.Proof.Name), Process: p.Process, Operations: ids(s, p.Proof.Ops)}
	for _, e := range p.Proof.Steps {
		f.Pattern.Steps = append(f.Pattern.Steps, FileStep{s.ID(e.From), s.ID(e.To), string(e.Why), id(e.Read), id(e.After)})
	}
}

func rulesOf(v *history.View) Rules {
	r := Rules{Ties: v.Ties.String(), Order: v.Order.String(), ByNode: v.ClockError.ByNode}
	if r.ByNode == nil {
		r.ClockError = v.ClockError.All
	}
	return r
}

// Digest returns the SHA-256, in hexadecimal, of the operations of s that may
// have taken effect: a line for each, in the order of the View, with its id,
// process, key, node, input and output as the model writes them, the four
// times, and whether it is without an answer or a read.
func Digest(s *spec.Subject) string {
	h := sha256.New()
	v := s.View
	var line []byte
	for i := range int32(v.N) {
		line = strconv.AppendInt(line[:0], s.ID(i), 10)
		for _, word := range [...]string{v.ProcessName[v.Process[i]], v.KeyName[v.Key[i]], v.NodeName[v.Node[i]], s.Text(i)} {
			line = strconv.AppendQuote(append(line, ' '), word)
		}
		for _, t := range [...]int64{v.Invoke[i], v.Return[i], v.Call[i], v.Ret[i]} {
			line = strconv.AppendInt(append(line, ' '), t, 10)
		}
		line = strconv.AppendBool(append(line, ' '), v.Info[i])
		line = strconv.AppendBool(append(line, ' '), v.Read != nil && v.Read[i])
		h.Write(append(line, '\n'))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// WriteFile writes f as indented JSON, the same bytes for the same f.
func WriteFile(w io.Writer, f *File) error {
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// ReadFile reads a proof file. It is strict: one JSON object, every field
// known, spelt exactly and standing once, and the version its own.
func ReadFile(r io.Reader) (*File, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("the proof file is empty")
	}
	value, err := history.ParseValue(string(text))
	if err != nil {
		return nil, fmt.Errorf("the proof file is not JSON: %w", err)
	}
	f := &File{}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(f); err != nil {
		return nil, fmt.Errorf("the proof file: %w", err)
	}
	if f.Version != FileVersion {
		return nil, fmt.Errorf("the proof file has version %d, expected %d", f.Version, FileVersion)
	}
	// encoding/json forgives fields that are missing or spelt in other letters;
	// what it read, written again, must be the same value.
	again, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	if same, err := history.ParseValue(string(again)); err != nil || same != value {
		return nil, errors.New("the proof file has a field that is missing, empty or misspelt")
	}
	return f, nil
}
