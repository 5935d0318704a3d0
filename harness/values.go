package harness

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"pinyon/engine/history"
)

func keysOf[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }

// hintsOf reads a JSON object of hints, sorted by name.
func hintsOf(text string) ([]history.Hint, error) {
	v, err := history.ParseValue(text)
	if err != nil {
		return nil, err
	}
	members, ok := v.Members()
	if !ok {
		return nil, fmt.Errorf("expected an object of hints, got %s", v.Kind())
	}
	var hints []history.Hint
	for _, m := range members {
		name, _ := m.Key.Str()
		hints = append(hints, history.Hint{Name: name, Value: m.Value})
	}
	slices.SortFunc(hints, func(a, b history.Hint) int { return cmp.Compare(a.Name, b.Name) })
	return hints, nil
}

// many is a number of things: "1 run", "2 runs".
func many(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

func untilMilliseconds(t time.Time) int64 { return time.Until(t).Milliseconds() }
