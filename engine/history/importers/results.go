package importers

import (
	"os"
	"strings"

	"pinyon/engine/history"
)

// readResults says in one line what a Jepsen checker found, for comparison:
// the :valid? of results.edn, and the checkers inside that did not say true.
// It never fails: what another tool found decides nothing here.
func readResults(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "results.edn cannot be read: " + err.Error()
	}
	r := newEDN(string(data))
	v, err := r.value(0)
	if err != nil {
		return "results.edn cannot be read: " + err.Error()
	}
	valid := member(v, "valid?")
	if valid == history.Absent {
		return "results.edn names no :valid?"
	}
	line := "results.edn: :valid? " + validText(valid)
	var parts []string
	deepResults(v, "", &parts)
	if more := len(parts) - 8; more > 0 {
		parts = append(parts[:8], "...")
	}
	if len(parts) > 0 {
		line += " (" + strings.Join(parts, ", ") + ")"
	}
	return line
}

// deepResults lists the maps inside v whose :valid? is not true, by the names
// that lead to them.
func deepResults(v history.Value, at string, parts *[]string) {
	if v.Kind() == history.KindTag {
		if elems, _ := v.Elems(); len(elems) == 2 {
			v = elems[1]
		}
	}
	members, _ := v.Members()
	for _, m := range members {
		name := fName(m.Key)
		if at != "" {
			name = at + " " + name
		}
		if valid := member(m.Value, "valid?"); valid != history.Absent && valid != history.True {
			*parts = append(*parts, name+" "+validText(valid))
		}
		deepResults(m.Value, name, parts)
	}
}

func validText(v history.Value) string {
	if v == history.Null {
		return "nil"
	}
	return v.Label()
}

// member returns the member of an object or map whose key is the keyword or
// the string name, or Absent.
func member(v history.Value, name string) history.Value {
	members, _ := v.Members()
	for _, m := range members {
		if m.Key == history.Keyword(name) || m.Key == history.String(name) {
			return m.Value
		}
	}
	return history.Absent
}
