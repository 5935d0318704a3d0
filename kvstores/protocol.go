package kvstores

import (
	"bytes"
	"encoding/json"
)

// Request is one operation of a client: the body of POST /op.
type Request struct {
	Client string          `json:"client"`        // one sequential client
	Seq    int64           `json:"seq"`           // counts up by client; a retry repeats it
	F      string          `json:"f"`             // put, get, cas, append, add, delete; a log: append, get
	Key    string          `json:"key,omitempty"` // the object
	In     json.RawMessage `json:"in,omitempty"`  // as the model takes it: cas has [from, to]
	// Carried is what the client brings back from the last reply it saw
	// (a carstamp, a session's zxid); stores that need none ignore it.
	Carried json.RawMessage `json:"carried,omitempty"`
}

// The outcomes of an operation. Info: it may have been applied, or may yet be.
const (
	OK   = "ok"
	Fail = "fail"
	Info = "info"
)

// Reply is the answer to a Request.
type Reply struct {
	Outcome string          `json:"outcome"`
	Out     json.RawMessage `json:"out,omitempty"`   // as the model gives it; null of an absent key
	Error   string          `json:"error,omitempty"` // why it failed or is not known
	Hints   map[string]any  `json:"hints,omitempty"` // integers, strings, arrays of integers
	Carried json.RawMessage `json:"carried,omitempty"`
	Never   bool            `json:"never,omitempty"` // failed, and this node will never answer otherwise
}

var null = json.RawMessage("null")

func okay(out json.RawMessage) Reply { return Reply{Outcome: OK, Out: out} }
func failed(why string) Reply        { return Reply{Outcome: Fail, Error: why} }
func unknown(why string) Reply       { return Reply{Outcome: Info, Error: why} }
func marshal(v any) json.RawMessage  { b, _ := json.Marshal(v); return b }
func isRead(f string) bool           { return f == "get" || f == "read" }
func same(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
