package importers

import (
	"compress/gzip"
	"context"
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
	ctx                context.Context

	exact bool // -1 is a time like any other

	lastAt, lastLine int // the latest position asked for; lines are counted from there
}

// DefaultUnpacked is the ceiling on what a gzip file may unpack to, in bytes.
const DefaultUnpacked = 1 << 30

// open reads the file at path, or stdin, and unpacks gzip by its magic number.
func open(path string, o *Options) (*source, error) {
	text, err := readAll(path, o)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(text, "\x1f\x8b") {
		if text, err = unpack(path, text, o); err != nil {
			return nil, err
		}
	}
	if err := refuseBinary(path, text); err != nil {
		return nil, err
	}
	return &source{path: path, text: text, ctx: o.Context, lastLine: 1}, nil
}

// readAll reads a file or stdin into one string, without a second copy where
// the size is known.
func readAll(path string, o *Options) (string, error) {
	r, size := o.Stdin, 0
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer file.Close()
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			size = int(info.Size())
		}
		r = file
	} else if r == nil {
		return "", errors.New("standard input was asked for, but there is none")
	}
	var b strings.Builder
	b.Grow(size)
	_, err := io.Copy(&b, stoppable{o.Context, r})
	return b.String(), err
}

// unpack unpacks a gzip file twice: first to learn its size, as a small file
// can hold more than any memory, and then into a string of that size.
func unpack(path, packed string, o *Options) (string, error) {
	most := o.MaxUnpacked
	if most <= 0 {
		most = DefaultUnpacked
	}
	size := int64(0)
	var b strings.Builder
	for _, w := range [...]io.Writer{io.Discard, &b} {
		b.Grow(int(size))
		z, err := gzip.NewReader(strings.NewReader(packed))
		if err == nil {
			size, err = io.Copy(w, io.LimitReader(stoppable{o.Context, z}, most+1))
		}
		switch {
		case err != nil && o.Context != nil && o.Context.Err() != nil:
			return "", err
		case errors.Is(err, io.ErrUnexpectedEOF):
			return "", &history.Error{Path: path, Msg: "damaged gzip file: it ends early; it was cut off, or is still being written"}
		case err != nil:
			return "", &history.Error{Path: path, Msg: fmt.Sprintf("damaged gzip file: %v", err)}
		case size > most:
			return "", &history.Error{Path: path, Msg: fmt.Sprintf("unpacks to more than %d bytes, which is the ceiling for a gzip file; "+
				"if it is meant to be that large, unpack it and give the file itself", most)}
		}
	}
	return b.String(), nil
}

// stoppable is a reader that ends with its context's error; ctx may be nil.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s stoppable) Read(p []byte) (int, error) {
	if s.ctx != nil && s.ctx.Err() != nil {
		return 0, s.ctx.Err()
	}
	return s.r.Read(p)
}

// interrupted returns the error of the context, asked for now and then: i
// counts the calls.
func (s *source) interrupted(i int32) error {
	if s.ctx == nil || i%512 != 0 {
		return nil
	}
	return s.ctx.Err()
}

// binaryWay is how to get a history out of Jepsen's binary files.
const binaryWay = "; convert it with `lein run serve` or jepsen.store/load, or give the history.edn that stands beside it"

// refuseBinary names the binary files of Jepsen, and the way to convert them.
func refuseBinary(path, data string) error {
	msg := ""
	switch head := data[:min(len(data), 512)]; {
	case strings.HasPrefix(data, "JEPSEN"):
		msg = "a binary Jepsen test file (test.jepsen)" + binaryWay
	case strings.HasSuffix(path, ".fressian"):
		msg = "a binary Jepsen test file (test.fressian)" + binaryWay
	case strings.IndexByte(head, 0) >= 0:
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

// room estimates how many operations a text with one a line holds, so that
// their slice need not grow by copying: lines that are neither blank nor a
// comment and, of JSON, hold a whole object.
func (s *source) room() (n int) {
	object := strings.HasPrefix(strings.TrimLeft(s.text, " \t\r\n["), "{")
	for rest := s.text; rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		whole := strings.HasPrefix(line, "{") && strings.HasSuffix(strings.TrimRight(line, "\r,"), "}")
		if len(line) > 3 && line[0] != '#' && (whole || !object) {
			n++
		}
	}
	return n
}

// lines calls visit with each line, its number and the offset of its start.
func (s *source) lines(visit func(text string, line int32, at int) error) error {
	for at, line := 0, int32(1); at < len(s.text); line++ {
		text, next := s.text[at:], len(s.text)
		if n := strings.IndexByte(text, '\n'); n >= 0 {
			text, next = text[:n], at+n+1
		}
		if err := s.interrupted(line); err != nil {
			return err
		}
		if err := visit(strings.TrimSuffix(text, "\r"), line, at); err != nil {
			return err
		}
		at = next
	}
	return nil
}

// written is how the file would write a value, for messages.
func (s *source) written(v history.Value) string {
	if v == history.Absent || s.format == "elle-json" {
		return v.Text()
	}
	return ednText(v)
}
