package faultnet

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// headerLine is the first line of a schedule file.
type headerLine struct {
	Pinyon   string       `json:"pinyon"`
	Version  int          `json:"version"`
	Profile  string       `json:"profile"`
	Seed     uint64       `json:"seed"`
	Duration span         `json:"duration"`
	Nodes    []string     `json:"nodes"`
	Clients  []clientLine `json:"clients,omitempty"`
}

type clientLine struct {
	Name string `json:"name"`
	Node string `json:"node"`
}

// stepLine is each other line.
type stepLine struct {
	At             span     `json:"at"`
	For            span     `json:"for"`
	Kind           Kind     `json:"kind"`
	Way            Way      `json:"way,omitempty"`
	Links          []Link   `json:"links,omitempty"`
	Nodes          []string `json:"nodes,omitempty"`
	Delay          span     `json:"delay,omitempty"`
	Jitter         span     `json:"jitter,omitempty"`
	BytesPerSecond int64    `json:"bytes_per_second,omitempty"`
	Offset         span     `json:"offset,omitempty"`
}

// span is a duration that JSON shows as people write it: "1.2s".
type span time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d span) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// magic is the kind of file that a schedule's header names.
const magic = "schedule"

// Encode writes s as JSON Lines: a header, then one step a line. Equal schedules
// give equal bytes. A schedule that does not pass Check is an error, and so is
// whatever w returns.
//
//	{"pinyon":"schedule","version":1,"profile":"halves","seed":7,"duration":"8s","nodes":["n1","n2"],"clients":[{"name":"c1","node":"n1"}]}
//	{"at":"1.2s","for":"900ms","kind":"drop","links":["n1>n2","n2>n1"]}
func Encode(w io.Writer, s Schedule) error {
	if err := s.Check(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	out := json.NewEncoder(b)
	out.SetEscapeHTML(false) // a link's text holds >
	header := headerLine{Pinyon: magic, Version: s.Version, Profile: s.Profile, Seed: s.Seed, Duration: span(s.Duration), Nodes: s.Topology.Nodes}
	for _, c := range s.Topology.Clients {
		header.Clients = append(header.Clients, clientLine(c))
	}
	err := out.Encode(header)
	for _, step := range s.Steps {
		if err != nil {
			break
		}
		err = out.Encode(stepLine{
			At: span(step.At), For: span(step.For), Kind: step.Kind, Way: step.Way, Links: step.Links, Nodes: step.Nodes,
			Delay: span(step.Delay), Jitter: span(step.Jitter), BytesPerSecond: step.BytesPerSecond, Offset: span(step.Offset),
		})
	}
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		return fmt.Errorf("faultnet: write schedule: %w", err)
	}
	return nil
}
