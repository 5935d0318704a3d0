package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTableStands: every fragment stands once in its file, no rule has two rows,
// and the document is the table.
func TestTableStands(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	if err := standing(root, mutations); err != nil {
		t.Error(err)
	}
	seen := map[string]bool{}
	for _, m := range mutations {
		if seen[m.Name] {
			t.Errorf("%s: two rows have this name", m.Name)
		}
		seen[m.Name] = true
	}
	text, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != markdown(mutations) {
		t.Errorf("%s is not the table; renew it with: go run ./bench/mutations -write -only RULE", document)
	}
}
