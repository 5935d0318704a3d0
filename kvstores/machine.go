package kvstores

import (
	"bytes"
	"encoding/json"
	"math/big"
)

// Machine is the deterministic key-value state that most stores replicate: the
// operations of the model kv. It is not safe for concurrent use.
type Machine map[string]json.RawMessage

// Get returns the value of key, null where it is absent.
func (m Machine) Get(key string) json.RawMessage {
	if v, ok := m[key]; ok {
		return v
	}
	return null
}

// Check says what is wrong with a request, or "". A store refuses such a
// request before it replicates anything.
func Check(r Request) string {
	switch r.F {
	case "get", "delete":
		return ""
	case "put":
		if !json.Valid(r.In) {
			return "put needs a value in"
		}
	case "cas":
		var pair []json.RawMessage
		if json.Unmarshal(r.In, &pair) != nil || len(pair) != 2 {
			return "cas needs in: [from, to]"
		}
	case "append":
		var s string
		if json.Unmarshal(r.In, &s) != nil {
			return "append needs a string in"
		}
	case "add":
		if _, ok := new(big.Int).SetString(string(bytes.TrimSpace(r.In)), 10); !ok {
			return "add needs an integer in"
		}
	default:
		return "unknown operation " + r.F
	}
	return ""
}

// Apply carries out a checked request.
func (m Machine) Apply(r Request) Reply {
	switch now := m.Get(r.Key); r.F {
	case "get":
		return okay(now)
	case "put":
		m[r.Key] = compact(r.In)
		return okay(nil)
	case "delete":
		delete(m, r.Key)
		return okay(nil)
	case "cas":
		var pair []json.RawMessage
		if json.Unmarshal(r.In, &pair) != nil || len(pair) != 2 {
			return failed(Check(r))
		}
		if !same(now, compact(pair[0])) {
			return okay(json.RawMessage("false"))
		}
		m[r.Key] = compact(pair[1])
		return okay(json.RawMessage("true"))
	case "append":
		var old, more string
		if json.Unmarshal(r.In, &more) != nil || !same(now, null) && json.Unmarshal(now, &old) != nil {
			return failed("append needs strings")
		}
		m[r.Key] = marshal(old + more)
		return okay(nil)
	case "add":
		return m.add(r, now)
	}
	return failed(Check(r))
}

func (m Machine) add(r Request, now json.RawMessage) Reply {
	sum, ok := new(big.Int).SetString(string(bytes.TrimSpace(r.In)), 10)
	if old, isInt := new(big.Int).SetString(string(now), 10); isInt {
		sum.Add(sum, old)
	} else if !ok || !same(now, null) {
		return failed("add needs integers")
	}
	m[r.Key] = json.RawMessage(sum.String())
	return okay(m[r.Key])
}

// Clone returns a copy that shares no map.
func (m Machine) Clone() Machine {
	c := make(Machine, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// compact is v without white space, so that equal values have equal bytes as
// far as a store that keeps values as they came can tell.
func compact(v json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return v
	}
	return b.Bytes()
}
