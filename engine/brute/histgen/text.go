package histgen

import (
	"bytes"
	"fmt"

	"pinyon/engine/history"
)

// Text writes the case in the native format, ready to be kept as a file: its
// source says how to make it again, and a note holds its Edges, by ids.
func (c *Case) Text() []byte {
	raw := *c.Raw
	raw.Header.Source = fmt.Sprintf("histgen seed %d, history %d", c.Seed, c.Number)
	if len(c.Edges) > 0 {
		var pairs []history.Value
		for _, e := range c.Edges {
			pairs = append(pairs, history.Array(history.Int(int64(e[0])), history.Int(int64(e[1]))))
		}
		raw.Notes = []history.Note{{Name: "edges", Detail: history.Array(pairs...)}}
	}
	var b bytes.Buffer
	if err := history.WriteNative(&b, &raw); err != nil {
		fmt.Fprintf(&b, "not writable: %v\n%+v\n", err, raw)
	}
	return b.Bytes()
}
