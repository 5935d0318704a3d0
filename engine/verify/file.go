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
	Version  int             `json:"version"`
	Digest   string          `json:"digest"` // of the history, by Digest
	Model    string          `json:"model"`
	Initial  json.RawMessage `json:"initial,omitempty"` // absent: the model's own
	NilRead  string          `json:"nil_read,omitempty"`
	Level    string          `json:"level"` // its full name, without oracles
	Oracles  []OracleText    `json:"oracles,omitempty"`
	Rules    Rules           `json:"rules"`
	Verdict  string          `json:"verdict"`
	Split    bool            `json:"split"` // a part is a key; otherwise there is one part
	Parts    []FilePart      `json:"parts"`
	Producer string          `json:"producer,omitempty"` // who wrote it, for people
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
	Key     string     `json:"key"`
	Verdict string     `json:"verdict"`
	Order   []int64    `json:"order,omitempty"` // consistent
	Cycle   []FileEdge `json:"cycle,omitempty"` // violation
	// Exhausted: the violation rests on a search that tried every order.
	Exhausted bool   `json:"exhausted,omitempty"`
	Reason    string `json:"reason,omitempty"` // unknown
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
		for _, x := range p.Witness {
			part.Order = append(part.Order, s.ID(x))
		}
		if p.Proof != nil {
			part.Exhausted = p.Proof.Kind != spec.ProofCycle
			for _, e := range p.Proof.Cycle {
				part.Cycle = append(part.Cycle, FileEdge{s.ID(e.From), s.ID(e.To), e.Source, e.Why})
			}
		}
		f.Parts = append(f.Parts, part)
	}
	return f
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
