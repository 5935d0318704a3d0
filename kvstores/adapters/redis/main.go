// Command redis adapts a Redis primary and its replicas to pinyon run --target.
// The first node is the primary. A client speaks to its own node only, which
// answers reads, and refuses writes where it is a replica. The target claims to
// be linearizable, which replication without waiting cannot keep. The hint
// offset is how far the replication log was at a read, and just before a write.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// call is one line of the harness.
type call struct {
	ID                                               int64
	Call, Node, Listen, Dir, Address, Client, F, Key string
	In                                               json.RawMessage
	Nodes                                            []string
	Peers, Addresses                                 map[string]string
	Timeout                                          time.Duration `json:"timeout_ms"`
}

type answer map[string]any

var clients sync.Map // by name: conn

func main() {
	var printing sync.Mutex
	lines := json.NewDecoder(os.Stdin)
	for c := (call{}); lines.Decode(&c) == nil; c = (call{}) {
		go func() { // a client that waits does not hold up the others
			a, err := c.answer()
			if err != nil {
				a = answer{"error": err.Error()}
			}
			a["id"] = c.ID
			printing.Lock()
			defer printing.Unlock()
			_ = json.NewEncoder(os.Stdout).Encode(a)
		}()
	}
}

func (c call) answer() (answer, error) {
	switch c.Call {
	case "claim":
		return answer{"name": "redis", "model": "kv", "level": "linearizable", "ops": []string{"get", "put"}, "read": "get"}, nil
	case "command":
		host, port, _ := strings.Cut(c.Listen, ":")
		args := []string{"--bind", host, "--port", port, "--dir", c.Dir, "--save", "", "--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0"}
		if c.Node != c.Nodes[0] {
			args = append(args, "--replicaof", strings.Replace(c.Peers[c.Nodes[0]], ":", " ", 1))
		}
		return answer{"path": "redis-server", "args": args}, nil
	case "ping":
		_, err := once(c.Address, "PING")
		return answer{}, err
	case "bootstrap": // until every replica follows
		replicas := strconv.Itoa(len(c.Addresses) - 1)
		if n, err := once(c.Addresses["n1"], "WAIT", replicas, "15000"); n != replicas {
			return nil, fmt.Errorf("%q of %s replicas follow: %v", n, replicas, err)
		}
		return answer{}, nil
	case "leader":
		return answer{"leader": "n1"}, nil
	case "connect":
		s, err := net.Dial("tcp", c.Address)
		clients.Store(c.Client, conn{s})
		return answer{}, err
	case "do":
		s, _ := clients.Load(c.Client)
		return s.(conn).do(c), nil
	case "close":
		s, _ := clients.LoadAndDelete(c.Client)
		return answer{}, s.(conn).Close()
	}
	return nil, fmt.Errorf("unknown call %q", c.Call)
}

// script reads or writes, and returns the offset and, of a read, the value.
const script = `local offset = string.match(redis.call('INFO', 'replication'), 'master_repl_offset:(%d+)')
if ARGV[1] ~= '' then redis.call('SET', KEYS[1], ARGV[1]) return offset end
return offset .. ' ' .. (redis.call('GET', KEYS[1]) or 'null')`

// do: what Redis refuses had no effect; without an answer nobody knows.
func (s conn) do(c call) answer {
	text, err := s.ask(c.Timeout*time.Millisecond, "EVAL", script, "1", c.Key, string(c.In))
	offset, value, isRead := strings.Cut(text, " ")
	a := answer{"outcome": "ok", "hints": answer{"offset": json.RawMessage(offset)}}
	switch {
	case errors.Is(err, errRefused):
		a = answer{"outcome": "fail", "error": err.Error()}
	case err != nil:
		a = answer{"outcome": "info", "error": err.Error()}
	case isRead:
		a["out"] = json.RawMessage(value)
	}
	return a
}

var errRefused = errors.New("refused")

// conn speaks RESP2, redis.io/docs/latest/develop/reference/protocol-spec.
type conn struct{ net.Conn }

// once asks on a connection of its own.
func once(address string, words ...string) (string, error) {
	s, err := net.Dial("tcp", address)
	if err != nil {
		return "", err
	}
	defer s.Close()
	return conn{s}.ask(16*time.Second, words...)
}

// ask sends a command and reads its reply: text, or a number as text.
func (s conn) ask(limit time.Duration, words ...string) (string, error) {
	b := fmt.Sprintf("*%d\r\n", len(words))
	for _, w := range words {
		b += fmt.Sprintf("$%d\r\n%s\r\n", len(w), w)
	}
	_ = s.SetDeadline(time.Now().Add(limit))
	_, _ = io.WriteString(s, b)
	r := bufio.NewReader(s) // nothing comes unasked
	line, err := r.ReadString('\n')
	if len(line) < 3 || err != nil {
		return "", fmt.Errorf("no reply, %q: %v", line, err)
	}
	kind, rest := line[0], line[1:len(line)-2]
	if kind == '-' {
		return "", fmt.Errorf("%w: %s", errRefused, rest)
	}
	if kind == '$' { // the length of what follows
		n, _ := strconv.Atoi(rest)
		text := make([]byte, n+2)
		_, err = io.ReadFull(r, text)
		rest = string(text[:n])
	}
	return rest, err
}
