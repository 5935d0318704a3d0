package importers

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"pinyon/engine/history"
)

// tableRow is a row of a CSV table or one JSON object.
type tableRow struct {
	src  *source
	line int32
	at   int // the offset of a JSON object

	table  *csvTable // nil: JSON
	record []string
	fields []entry
}

// csvTable is what all rows of a CSV table share.
type csvTable struct {
	r     *csv.Reader
	names map[string]int
}

// cell is a value of a row, and where it stands.
type cell struct {
	v         history.Value
	text      string // as a word: a string without its quotes
	line, col int
}

// rows calls visit with each row of a CSV table that has a header line, or with
// each object of JSON Lines or an array. check sees the names of the columns
// first; of JSON there are none.
func (s *source) rows(check func(names []string) error, visit func(*tableRow) error) error {
	if first := strings.TrimLeft(s.text, " \t\r\n"); first == "" || first[0] == '{' || first[0] == '[' {
		return s.objects(func(es []entry, at int) error {
			return visit(&tableRow{src: s, line: s.line(at), at: at, fields: es})
		})
	}
	t := &csvTable{r: csv.NewReader(strings.NewReader(strings.TrimPrefix(s.text, "\uFEFF"))), names: map[string]int{}}
	t.r.Comma = delimiter(firstLine(s.text))
	t.r.ReuseRecord = true
	header, err := t.r.Read()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return s.csvError(err)
	}
	var names []string
	for i, name := range header {
		name = strings.Clone(strings.TrimSpace(name))
		if _, twice := t.names[name]; twice {
			return &history.Error{Path: s.path, Line: 1, Msg: "the column " + ednString(name) + " stands twice"}
		}
		t.names[name] = i
		names = append(names, name)
	}
	if err := check(names); err != nil {
		return err
	}
	row := &tableRow{src: s, table: t}
	for n := int32(0); ; n++ {
		if err := s.interrupted(n); err != nil {
			return err
		}
		record, err := t.r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return s.csvError(err)
		}
		line, _ := t.r.FieldPos(0)
		row.line, row.record = int32(line), record
		if err := visit(row); err != nil {
			return err
		}
	}
}

// delimiter is a tab or a semicolon where the header has no comma.
func delimiter(header string) rune {
	for _, d := range ",\t;" {
		if strings.ContainsRune(header, d) {
			return d
		}
	}
	return ','
}

func (s *source) csvError(err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return &history.Error{Path: s.path, Line: parse.Line, Col: parse.Column, Msg: parse.Err.Error()}
	}
	return &history.Error{Path: s.path, Msg: err.Error()}
}

// noColumn says that a CSV table lacks a column.
func (s *source) noColumn(column string, names []string) error {
	msg := "there is no column " + ednString(column) + likely(column, names, "the columns are ")
	return &history.Error{Path: s.path, Line: 1, Msg: msg}
}

// cell returns the value of a column, or of a path into one; Absent where it is
// empty. It fails on text that is not UTF-8.
func (r *tableRow) cell(column string) (cell, error) {
	for end := len(column); end > 0; end = strings.LastIndexByte(column[:end], '.') {
		c, ok := r.column(column[:end])
		if !ok {
			continue
		}
		if !utf8.ValidString(c.text) {
			return c, &history.Error{Path: r.src.path, Line: c.line, Col: c.col, Msg: "the cell is not valid UTF-8"}
		}
		for path := column[end:]; path != ""; {
			name := path[1:]
			if dot := strings.IndexByte(name, '.'); dot >= 0 {
				name = name[:dot]
			}
			c.v, path = c.v.Get(name), path[1+len(name):]
		}
		if end < len(column) || r.table == nil {
			c.text = fName(orNull(c.v))
		}
		return c, nil
	}
	return cell{line: int(r.line)}, nil
}

// column returns the whole value of a column.
func (r *tableRow) column(name string) (cell, bool) {
	if r.table == nil {
		for i := range r.fields {
			if e := &r.fields[i]; e.key == name {
				col := e.at - strings.LastIndexByte(r.src.text[:e.at], '\n')
				return cell{v: e.val(), line: int(r.src.line(e.at)), col: col}, true
			}
		}
		return cell{}, false
	}
	i, ok := r.table.names[name]
	if !ok || i >= len(r.record) {
		return cell{}, false
	}
	c := cell{text: strings.TrimSpace(r.record[i])}
	c.line, c.col = r.table.r.FieldPos(i)
	if c.text != "" {
		c.v = cellValue(c.text)
	}
	return c, true
}

// cellValue is what a cell of CSV means: JSON where it is JSON, else a string.
func cellValue(text string) history.Value {
	if first := text[0]; first >= 'A' && first <= 'Z' || first >= 'a' && first <= 'z' && text != "null" && text != "true" && text != "false" {
		return history.String(text) // a word; the message of an error would cost more than all else
	}
	if v, err := history.ParseValue(text); err == nil {
		return v
	}
	return history.String(text)
}
