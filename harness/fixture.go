package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"pinyon/engine/history"
	"pinyon/kvstores"
)

// fixture is a store of package kvstores as a Target.
type fixture struct {
	store   kvstores.Store
	bug     string
	options kvstores.Options
	program string
	http    *http.Client
}

// Fixture returns a fixture store as a Target. program is this binary, which
// runs a node as `program store NAME`.
func Fixture(s kvstores.Store, bug string, options kvstores.Options, program string) Target {
	return &fixture{s, bug, options, program, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

// kvOps are the operations of the model kv.
var kvOps = []string{"get", "put", "cas", "append", "add", "delete"}

func (f *fixture) Claim() Claim {
	level, oracle := f.store.Claims(f.options)
	c := Claim{Name: f.store.Name, Model: f.store.Model, Level: level, Ops: f.store.Ops, Read: "get",
		Leaderless: f.store.Leaderless, Apart: f.store.Apart}
	if oracle != "" {
		c.Oracles = []string{oracle}
	}
	if c.Ops == nil {
		c.Ops = kvOps
	}
	c.Keys = f.store.Keys
	if f.store.Model == "log" {
		c.Read = "read"
	}
	if f.bug != "" {
		c.Name += " --bug " + f.bug
	}
	return c
}

func (f *fixture) Command(n NodeSpec) (Command, error) {
	args := []string{"store", f.store.Name, "--id", n.ID, "--listen", n.Listen, "--dir", n.Dir}
	if f.bug != "" {
		args = append(args, "--bug", f.bug)
	}
	for _, p := range n.Nodes {
		if p != n.ID {
			args = append(args, "--peer", p+"="+n.Peers[p])
		}
	}
	var names []string
	for name := range f.options {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		args = append(args, "--option", name+"="+f.options[name])
	}
	return Command{Path: f.program, Args: args, Env: []string{"PINYON_NODE=1"}}, nil
}

func (f *fixture) Ping(ctx context.Context, address string) error {
	_, err := f.ask(ctx, http.MethodGet, address, "/ping", "")
	return err
}

// Bootstrap waits until every node is ready, and somebody leads where the
// store has leaders.
func (f *fixture) Bootstrap(ctx context.Context, nodes map[string]string) error {
	for {
		late := ""
		for _, id := range slices.Sorted(keysOf(nodes)) {
			if s, err := f.status(ctx, nodes[id]); err != nil || !s.Ready {
				late = id
			}
		}
		if late == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("node %s does not become ready: %w", late, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Leader is the node that most say leads; of two that are named as often, the
// one that names itself in the later term.
func (f *fixture) Leader(ctx context.Context, nodes map[string]string) (string, error) {
	votes, term := map[string]int{}, map[string]int64{}
	var last error
	for _, id := range slices.Sorted(keysOf(nodes)) {
		s, err := f.status(ctx, nodes[id])
		if err != nil {
			last = err
			continue
		}
		if s.Leader != "" {
			votes[s.Leader]++
			term[s.Leader] = max(term[s.Leader], s.Term)
		}
	}
	best := ""
	for _, id := range slices.Sorted(keysOf(votes)) {
		if best == "" || votes[id] > votes[best] || votes[id] == votes[best] && term[id] > term[best] {
			best = id
		}
	}
	if best == "" && last != nil {
		return "", last
	}
	return best, nil
}

func (f *fixture) status(ctx context.Context, address string) (s kvstores.Status, err error) {
	text, err := f.ask(ctx, http.MethodGet, address, "/status", "")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, err
}

func (f *fixture) Shift(ctx context.Context, address string, offset time.Duration) error {
	_, err := f.ask(ctx, http.MethodPost, address, "/clock", fmt.Sprintf(`{"offset":%q}`, offset))
	return err
}

func (f *fixture) Offset(ctx context.Context, address string) (time.Duration, error) {
	s, err := f.status(ctx, address)
	if err != nil {
		return 0, err
	}
	return time.ParseDuration(s.Clock)
}

func (f *fixture) ask(ctx context.Context, method, address, path, body string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, method, "http://"+address+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r, err := f.http.Do(q)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", r.Status, bytes.TrimSpace(text))
	}
	return text, err
}

func (f *fixture) Connect(_ context.Context, name, address string) (Client, error) {
	return &fixtureClient{client: kvstores.NewClient(address), name: name}, nil
}

// fixtureClient is one session of a fixture store.
type fixtureClient struct {
	client  *kvstores.Client
	name    string
	seq     int64
	carried json.RawMessage
}

func (c *fixtureClient) Close() { c.client.Close() }

func (c *fixtureClient) Do(ctx context.Context, op Operation) Result {
	c.seq++
	q := kvstores.Request{Client: c.name, Seq: c.seq, F: op.F, Carried: c.carried}
	if op.Key != history.Absent {
		q.Key = op.Key.Label()
	}
	if op.In != history.Absent {
		q.In = json.RawMessage(op.In.Text())
	}
	r := c.client.Do(ctx, q)
	if r.Carried != nil {
		c.carried = r.Carried
	}
	return understood(r)
}

// understood turns the answer of a fixture into a result; an answer that holds
// no value that a history can hold is no answer.
func understood(r kvstores.Reply) Result {
	res := Result{Outcome: history.Info, Error: r.Error}
	switch r.Outcome {
	case kvstores.Fail:
		res.Outcome, res.Never = history.Fail, r.Never
		if res.Error == "" {
			res.Error = "refused"
		}
		return res
	case kvstores.OK:
		res.Outcome = history.OK
	}
	if r.Out != nil && res.Outcome == history.OK {
		v, err := history.ParseValue(string(r.Out))
		if err != nil {
			return Result{Outcome: history.Info, Error: "unexpected answer: " + err.Error()}
		}
		res.Out = v
	}
	text, err := json.Marshal(r.Hints)
	if err != nil || r.Hints == nil {
		return res
	}
	if res.Hints, err = hintsOf(string(text)); err != nil {
		res.Error = "unexpected hints: " + err.Error()
	}
	return res
}
