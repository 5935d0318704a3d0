package importers

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"pinyon/engine/history"
)

// source is a file read whole, with the positions of its text.
type source struct {
	path, text, format string
	parts              []string // the files of an etcd report, in place of text

	exact bool // -1 is a time like any other

	lastAt, lastLine int // the latest position asked for; lines are counted from there
}

// open reads the file at path, or stdin, and unpacks gzip by its magic number.
func open(path string, stdin io.Reader) (*source, error) {
	data, err := readAll(path, stdin)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err == nil {
			data, err = io.ReadAll(z)
		}
		if err != nil {
			return nil, &history.Error{Path: path, Msg: fmt.Sprintf("damaged gzip file: %v", err)}
		}
	}
	if err := refuseBinary(path, data); err != nil {
		return nil, err
	}
	return &source{path: path, text: string(data), lastLine: 1}, nil
}

func readAll(path string, stdin io.Reader) ([]byte, error) {
	if path == "-" {
		if stdin == nil {
			return nil, errors.New("standard input was asked for, but there is none")
		}
		return io.ReadAll(stdin)
	}
	return os.ReadFile(path)
}

// binaryWay is how to get a history out of Jepsen's binary files.
const binaryWay = "; convert it with `lein run serve` or jepsen.store/load, or give the history.edn that stands beside it"

// refuseBinary names the binary files of Jepsen, and the way to convert them.
func refuseBinary(path string, data []byte) error {
	msg := ""
	switch head := data[:min(len(data), 512)]; {
	case bytes.HasPrefix(data, []byte("JEPSEN")):
		msg = "a binary Jepsen test file (test.jepsen)" + binaryWay
	case strings.HasSuffix(path, ".fressian"):
		msg = "a binary Jepsen test file (test.fressian)" + binaryWay
	case bytes.IndexByte(head, 0) >= 0:
		msg = "a binary file; formats tried: " + formatNames()
	default:
		return nil
	}
	return &history.Error{Path: path, Msg: msg}
}

// line returns the line of an offset, from 1. Offsets that grow from call to
// call cost one pass over the text in all.
func (s *source) line(at int) int32 {
	at = min(at, len(s.text))
	if at < s.lastAt {
		s.lastAt, s.lastLine = 0, 1
	}
	s.lastLine += strings.Count(s.text[s.lastAt:at], "\n")
	s.lastAt = at
	return int32(s.lastLine)
}

// errorAt builds the error about the text at an offset.
func (s *source) errorAt(at int, format string, args ...any) error {
	at = min(at, len(s.text))
	col := at - strings.LastIndexByte(s.text[:at], '\n')
	return &history.Error{Path: s.path, Line: int(s.line(at)), Col: col, Msg: fmt.Sprintf(format, args...)}
}

// errorOn builds the error about a line.
func (s *source) errorOn(line int32, format string, args ...any) error {
	return &history.Error{Path: s.path, Line: int(line), Msg: fmt.Sprintf(format, args...)}
}

// room estimates how many operations or events of at least width bytes the
// text holds, one a line, so that their slice need not grow by copying.
func (s *source) room(width int) int {
	return min(strings.Count(s.text, "\n")+1, len(s.text)/width+1)
}

// lines calls visit with each line, its number and the offset of its start.
func (s *source) lines(visit func(text string, line int32, at int) error) error {
	for at, line := 0, int32(1); at < len(s.text); line++ {
		text, next := s.text[at:], len(s.text)
		if n := strings.IndexByte(text, '\n'); n >= 0 {
			text, next = text[:n], at+n+1
		}
		if err := visit(strings.TrimSuffix(text, "\r"), line, at); err != nil {
			return err
		}
		at = next
	}
	return nil
}
