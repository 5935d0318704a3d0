package faultnet

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Link is a directed path: the connections that From opens to To. Its text is
// "n1>n2" or "c3>n1", in JSON too, also as the key of an object.
type Link struct{ From, To string }

func (l Link) String() string { return l.From + ">" + l.To }

// Compare orders links by From, then by To.
func (l Link) Compare(m Link) int {
	return cmp.Or(strings.Compare(l.From, m.From), strings.Compare(l.To, m.To))
}

// ParseLink reads the text of a link.
func ParseLink(text string) (Link, error) {
	from, to, ok := strings.Cut(text, ">")
	l := Link{from, to}
	if !ok {
		return Link{}, fmt.Errorf("%q is no link; expected FROM>TO, as in n1>n2", text)
	}
	return l, l.check()
}

// MarshalText implements encoding.TextMarshaler.
func (l Link) MarshalText() ([]byte, error) { return []byte(l.String()), l.check() }

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *Link) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLink(string(text))
	return err
}

// check says why l is no link between two different, named ends.
func (l Link) check() error {
	for _, name := range []string{l.From, l.To} {
		if err := checkName(name); err != nil {
			return fmt.Errorf("link %q: %w", l, err)
		}
	}
	if l.From == l.To && l.From != Every {
		return fmt.Errorf("link %q: both ends are the same; expected two different ones", l)
	}
	return nil
}

// checkName refuses names that a link's text could not hold.
func checkName(name string) error {
	odd := func(r rune) bool { return r == '>' || unicode.IsSpace(r) || !unicode.IsPrint(r) }
	switch {
	case name == "":
		return fmt.Errorf("an empty name; expected the name of a node or client")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, odd):
		return fmt.Errorf("name %q: expected printable text without blanks and without >", name)
	}
	return nil
}
