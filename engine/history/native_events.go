package history

import (
	"io"
	"strconv"
	"sync"
)

// Recorder writes a history as it happens, in the native format: the two ends
// of an operation are lines of their own, each written at once and in one
// piece, so that what was recorded outlives whoever records it. It is safe for
// concurrent use; after the first error of the writer it writes nothing more.
type Recorder struct {
	mutex sync.Mutex
	w     io.Writer
	buf   []byte
	err   error
}

// Called is the beginning of an operation.
type Called struct {
	ID      int64
	Process int
	F       string
	Key     Value // Absent: the model describes one object only
	In      Value // Absent: the operation takes none
	Node    string
	Time    int64 // ns
}

// Ended is its completion.
type Ended struct {
	ID      int64
	Time    int64 // ns; of Info, when it was given up
	Outcome Outcome
	Out     Value // Absent: it has none
	Error   string
	Hints   []Hint
}

// NewRecorder writes the header.
func NewRecorder(w io.Writer, h *Header) (*Recorder, error) {
	r := &Recorder{w: w}
	r.write(func(b []byte) []byte { return appendHeader(b, h) })
	return r, r.err
}

// Err returns the first error of the writer.
func (r *Recorder) Err() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.err
}

func (r *Recorder) write(line func([]byte) []byte) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.err == nil {
		r.buf = line(r.buf[:0])
		_, r.err = r.w.Write(r.buf)
	}
}

// Call writes that an operation begins.
func (r *Recorder) Call(c Called) {
	r.write(func(b []byte) []byte {
		b = strconv.AppendInt(append(b, `{"event":"invoke","id":`...), c.ID, 10)
		b = strconv.AppendInt(append(b, `,"process":`...), int64(c.Process), 10)
		b = appendQuoted(append(b, `,"f":`...), c.F)
		b = appendField(b, "key", c.Key.Text())
		b = appendField(b, "in", c.In.Text())
		if c.Node != "" {
			b = appendQuoted(append(b, `,"node":`...), c.Node)
		}
		return append(strconv.AppendInt(append(b, `,"time":`...), c.Time, 10), "}\n"...)
	})
}

// End writes that it ended, or that it is not known how.
func (r *Recorder) End(e Ended) {
	r.write(func(b []byte) []byte {
		b = strconv.AppendInt(append(b, `{"event":"complete","id":`...), e.ID, 10)
		b = strconv.AppendInt(append(b, `,"time":`...), e.Time, 10)
		b = append(append(append(b, `,"outcome":"`...), e.Outcome.String()...), '"')
		if e.Outcome == OK {
			b = appendField(b, "out", e.Out.Text())
		}
		if e.Error != "" {
			b = appendQuoted(append(b, `,"error":`...), e.Error)
		}
		return append(appendHints(b, e.Hints), "}\n"...)
	})
}

// Note writes what happened around the operations.
func (r *Recorder) Note(n Note) { r.write(func(b []byte) []byte { return appendNote(b, n) }) }
