package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"pinyon/engine/history"
)

// program is a Target that is another program: the harness writes one JSON
// object a line to its standard input, and reads one for each from its standard
// output, in any order; what it says on standard error is shown as it is.
//
//	{"id":1,"call":"claim"}                        {"id":1,"name":"redis","model":"kv","level":"linearizable","ops":["get","put"],"read":"get"}
//	{"id":2,"call":"command","node":"n1","listen":"127.0.0.1:7001","dir":"...","nodes":["n1","n2"],"peers":{"n2":"127.0.0.1:9002"}}
//	                                               {"id":2,"path":"redis-server","args":["--port","7001"]}
//	{"id":3,"call":"ping","address":"..."}         {"id":3}
//	{"id":4,"call":"bootstrap","addresses":{"n1":"..."}}   {"id":4}
//	{"id":5,"call":"leader","addresses":{"n1":"..."}}      {"id":5,"leader":"n1"}
//	{"id":6,"call":"connect","client":"c1.0","address":"..."}          {"id":6}
//	{"id":7,"call":"do","client":"c1.0","f":"get","key":"k0","timeout_ms":1000}   {"id":7,"outcome":"ok","out":5,"hints":{"offset":9}}
//	{"id":8,"call":"close","client":"c1.0"}        {"id":8}
//
// A call that went wrong is answered with an "error"; of "do", error says why
// the outcome is "fail" or "info". The program may take the calls of several
// clients at once, and must: a client that waits must not hold up the others.
// It ends when its standard input does.
type program struct {
	process *process
	spawner *spawner
	stdin   io.WriteCloser
	claim   Claim

	mutex   sync.Mutex
	last    int64
	waiting map[int64]chan answer
	ended   error // why no more answers come
}

// readWithin is how long the program may take to read a line.
const readWithin = 5 * time.Second

// answer is one line of the program.
type answer struct {
	ID      int64           `json:"id"`
	Error   string          `json:"error"`
	Name    string          `json:"name"`
	Model   string          `json:"model"`
	Level   string          `json:"level"`
	Oracles []string        `json:"oracles"`
	Ops     []string        `json:"ops"`
	Read    string          `json:"read"`
	Initial json.RawMessage `json:"initial"`
	Path    string          `json:"path"`
	Args    []string        `json:"args"`
	Env     []string        `json:"env"`
	Leader  string          `json:"leader"`
	Outcome string          `json:"outcome"`
	Out     json.RawMessage `json:"out"`
	Hints   json.RawMessage `json:"hints"`
}

// Program starts command (a path and its arguments) and speaks to it.
func Program(ctx context.Context, command []string) (Target, error) {
	if len(command) == 0 {
		return nil, errors.New("no program was named")
	}
	p := &program{spawner: newSpawner(), waiting: map[int64]chan answer{}}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.process, err = p.spawner.piped(Command{Path: command[0], Args: command[1:]}, write, os.Stderr)
	_ = write.Close()
	if err != nil {
		return nil, errors.Join(err, read.Close())
	}
	p.stdin = p.process.stdin
	go p.listen(read)
	a, err := p.ask(ctx, map[string]any{"call": "claim"})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", strings.Join(command, " "), err), p.Close())
	}
	p.claim = Claim{Name: a.Name, Model: a.Model, Level: a.Level, Oracles: a.Oracles, Ops: a.Ops, Read: a.Read}
	if a.Initial != nil {
		if p.claim.Initial, err = history.ParseValue(string(a.Initial)); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: claim: initial: %w", strings.Join(command, " "), err), p.Close())
		}
	}
	if p.claim.Name == "" || p.claim.Model == "" || len(p.claim.Ops) == 0 {
		return nil, errors.Join(fmt.Errorf("%s: its claim needs name, model and ops", strings.Join(command, " ")), p.Close())
	}
	return p, nil
}

// Close ends the program.
func (p *program) Close() error {
	err := p.process.stop()
	p.spawner.close()
	return err
}

// listen hands every answer to whoever asked.
func (p *program) listen(out io.ReadCloser) {
	defer out.Close()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	why := errors.New("the program ended")
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			why = fmt.Errorf("the program wrote %.80q: expected one JSON object a line (%w)", lines.Text(), err)
			break
		}
		p.mutex.Lock()
		c := p.waiting[a.ID]
		delete(p.waiting, a.ID)
		p.mutex.Unlock()
		if c != nil {
			c <- a
		}
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.ended == nil {
		p.ended = why
	}
	for _, c := range p.waiting {
		close(c)
	}
	p.waiting = nil
}

// ask writes one call and waits for its answer.
func (p *program) ask(ctx context.Context, call map[string]any) (answer, error) {
	c := make(chan answer, 1)
	p.mutex.Lock()
	if p.ended != nil {
		defer p.mutex.Unlock()
		return answer{}, p.ended
	}
	p.last++
	call["id"] = p.last
	p.waiting[p.last] = c
	line, err := json.Marshal(call)
	if err == nil {
		err = p.write(ctx, append(line, '\n'))
	}
	if err != nil {
		delete(p.waiting, p.last)
	}
	p.mutex.Unlock()
	if err != nil {
		return answer{}, err
	}
	select {
	case a, ok := <-c:
		switch {
		case !ok:
			return a, p.ended
		case a.Error != "" && call["call"] != "do":
			return a, errors.New(a.Error)
		}
		return a, nil
	case <-ctx.Done():
		p.mutex.Lock()
		delete(p.waiting, call["id"].(int64))
		p.mutex.Unlock()
		return answer{}, ctx.Err()
	}
}

// write writes a line. A program that does not read must not hold up whoever
// calls it; after half a line nothing else can be said to it. The caller holds
// the lock.
func (p *program) write(ctx context.Context, line []byte) error {
	until, ok := ctx.Deadline()
	if !ok {
		until = time.Now().Add(readWithin)
	}
	if in, ok := p.stdin.(*os.File); ok {
		_ = in.SetWriteDeadline(until)
	}
	n, err := p.stdin.Write(line)
	if err != nil && n > 0 && p.ended == nil {
		p.ended = fmt.Errorf("the program stopped reading: %w", err)
	}
	return err
}

// Err says why the program answers no more, or nil.
func (p *program) Err() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.ended
}

func (p *program) Claim() Claim { return p.claim }

func (p *program) Command(n NodeSpec) (Command, error) {
	a, err := p.ask(context.Background(), map[string]any{"call": "command", "node": n.ID, "listen": n.Listen, "dir": n.Dir, "nodes": n.Nodes, "peers": n.Peers})
	return Command{a.Path, a.Args, a.Env}, err
}

func (p *program) Ping(ctx context.Context, address string) error {
	_, err := p.ask(ctx, map[string]any{"call": "ping", "address": address})
	return err
}

func (p *program) Bootstrap(ctx context.Context, nodes map[string]string) error {
	_, err := p.ask(ctx, map[string]any{"call": "bootstrap", "addresses": nodes})
	return err
}

func (p *program) Leader(ctx context.Context, nodes map[string]string) (string, error) {
	a, err := p.ask(ctx, map[string]any{"call": "leader", "addresses": nodes})
	return a.Leader, err
}

func (p *program) Connect(ctx context.Context, name, address string) (Client, error) {
	_, err := p.ask(ctx, map[string]any{"call": "connect", "client": name, "address": address})
	return &programClient{p, name}, err
}

// programClient is one client of a program.
type programClient struct {
	*program
	name string
}

func (c *programClient) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = c.ask(ctx, map[string]any{"call": "close", "client": c.name})
}

// Do never knows more than the program says: no answer in time, or one that
// does not parse, is Info.
func (c *programClient) Do(ctx context.Context, op Operation) Result {
	call := map[string]any{"call": "do", "client": c.name, "f": op.F}
	if op.Key != history.Absent {
		call["key"] = json.RawMessage(op.Key.Text())
	}
	if op.In != history.Absent {
		call["in"] = json.RawMessage(op.In.Text())
	}
	if until, ok := ctx.Deadline(); ok {
		call["timeout_ms"] = untilMilliseconds(until)
	}
	a, err := c.ask(ctx, call)
	if err != nil {
		return Result{Outcome: history.Info, Error: "no answer: " + err.Error()}
	}
	r := Result{Outcome: history.Info, Error: a.Error}
	switch a.Outcome {
	case "fail":
		r.Outcome = history.Fail
		return r
	case "ok":
		r.Outcome = history.OK
	case "info":
		return r
	default:
		return Result{Outcome: history.Info, Error: fmt.Sprintf("unexpected outcome %q", a.Outcome)}
	}
	if a.Out != nil {
		if r.Out, err = history.ParseValue(string(a.Out)); err != nil {
			return Result{Outcome: history.Info, Error: "unexpected answer: " + err.Error()}
		}
	}
	if a.Hints != nil {
		if r.Hints, err = hintsOf(string(a.Hints)); err != nil {
			r.Error = "unexpected hints: " + err.Error()
		}
	}
	return r
}
