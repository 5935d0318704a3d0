package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pinyon/consistency"
)

// TestLevelsChart: docs/levels.svg is what the command prints, and well-formed.
func TestLevelsChart(t *testing.T) {
	text, err := os.ReadFile("../../docs/levels.svg")
	if err != nil {
		t.Fatal(err)
	}
	_, stdout, _ := call("levels", "--svg")
	if stdout != string(text) {
		t.Error("docs/levels.svg differs; write it with: go run ./cmd/pinyon levels --svg > docs/levels.svg")
	}
	for d := xml.NewDecoder(strings.NewReader(stdout)); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestLayersOfTheChart: every line leads down, no two boxes of a layer overlap,
// and nothing lies left of the edge.
func TestLayersOfTheChart(t *testing.T) {
	c, err := consistency.DrawChart()
	if err != nil {
		t.Fatal(err)
	}
	l := layOut(c)
	for _, e := range c.Edges {
		if l.boxes[e.From].layer >= l.boxes[e.To].layer {
			t.Errorf("%v does not stand above %v", c.Nodes[e.From].Levels, c.Nodes[e.To].Levels)
		}
	}
	for _, layer := range l.layers {
		for i, b := range layer {
			box := l.boxes[b]
			if box.x-box.width/2 < 0 {
				t.Errorf("%v starts at %d", box.lines, box.x-box.width/2)
			}
			if i > 0 && l.boxes[layer[i-1]].x+l.boxes[layer[i-1]].width/2 >= box.x-box.width/2 {
				t.Errorf("%v and %v overlap", l.boxes[layer[i-1]].lines, box.lines)
			}
		}
	}
}

// TestLevelsDocumentLinks: every file that docs/LEVELS.md names is there, and
// it names every kept history of pairs and of locality.
func TestLevelsDocumentLinks(t *testing.T) {
	text, err := os.ReadFile("../../docs/LEVELS.md")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, m := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(string(text), -1) {
		path := filepath.Join("../../docs", m[1])
		named = append(named, path)
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	kept, err := filepath.Glob("../../testdata/litmus/*/*.jsonl")
	if err != nil || len(kept) == 0 {
		t.Fatal("no kept histories", err)
	}
	for _, path := range kept {
		if !slices.Contains(named, path) {
			t.Errorf("docs/LEVELS.md does not name %s", path)
		}
	}
}
