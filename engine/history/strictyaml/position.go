package strictyaml

import (
	"strings"
	"unicode"
)

// source walks the characters of a file.
type source struct {
	runes     []rune
	i         int
	line, col int
}

func (s *source) peek() rune {
	if s.i < len(s.runes) {
		return s.runes[s.i]
	}
	return 0
}

func (s *source) next() {
	if s.i >= len(s.runes) {
		return
	}
	if s.runes[s.i] == '\n' {
		s.line, s.col = s.line+1, 0
	}
	s.i, s.col = s.i+1, s.col+1
}

// skip passes white space, and what stands for it in double quotes.
func (s *source) skip(q Quoting) {
	for s.i < len(s.runes) {
		if q == DoubleQuoted && s.peek() == '\\' && s.i+1 < len(s.runes) && strings.ContainsRune("ntr \t\n", s.runes[s.i+1]) {
			s.next()
		} else if !unicode.IsSpace(s.peek()) {
			return
		}
		s.next()
	}
}

// Position says where the byte offset of the scalar n's text stands in the
// file. YAML folds white space and resolves escapes, so file and text are
// walked together, by the characters that are not white space. Where they do
// not match, it is the start of the scalar.
func (f *File) Position(n *Node, offset int) (line, col int) {
	s := &source{runes: []rune(string(f.Data)), line: 1, col: 1}
	for s.i < len(s.runes) && (s.line < n.Line || s.line == n.Line && s.col < n.Col) {
		s.next()
	}
	switch n.Quoting {
	case SingleQuoted, DoubleQuoted:
		s.next()
	case Block:
		for s.i < len(s.runes) && s.peek() != '\n' {
			s.next()
		}
	}
	for _, r := range n.Text[:offset] {
		if unicode.IsSpace(r) {
			continue
		}
		s.skip(n.Quoting)
		width := 1
		switch c := s.peek(); {
		case n.Quoting == DoubleQuoted && c == '\\':
			width = escapeWidth(s)
		case c != r:
			return n.Line, n.Col
		case n.Quoting == SingleQuoted && c == '\'':
			width = 2
		}
		for range width {
			s.next()
		}
	}
	if rest := n.Text[offset:]; strings.TrimSpace(rest) != "" && strings.TrimLeftFunc(rest, unicode.IsSpace) == rest {
		s.skip(n.Quoting)
	}
	return s.line, s.col
}

// escapeWidth is the length of the escape sequence that s stands at.
func escapeWidth(s *source) int {
	if s.i+1 < len(s.runes) {
		switch s.runes[s.i+1] {
		case 'x':
			return 4
		case 'u':
			return 6
		case 'U':
			return 10
		}
	}
	return 2
}
