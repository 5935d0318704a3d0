package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"pinyon/engine/history"
	"pinyon/kvstores"
)

// runProgram is a program that adapts kvsingle, or one that goes wrong:
//
//	good       answers every call, each on its own
//	garbage    answers "do" with what is no JSON
//	dies       ends at the first "do"
//	deaf       answers the claim and reads nothing more
//	backwards  answers two calls of "do" at a time, the later one first
//	silent     never answers "do"
//	NAME       claims less than a claim needs
func runProgram(mode string) error {
	var mutex sync.Mutex
	reply := func(id json.RawMessage, more string) {
		mutex.Lock()
		defer mutex.Unlock()
		fmt.Printf("{\"id\":%s%s}\n", id, more)
	}
	a := &adapter{clients: map[string]*fixtureClient{}, path: os.Args[0]}
	var held []func()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var q struct {
			ID   json.RawMessage `json:"id"`
			Call string          `json:"call"`
			Key  string          `json:"key"`
		}
		line := append([]byte(nil), lines.Bytes()...)
		if err := json.Unmarshal(line, &q); err != nil {
			return err
		}
		switch {
		case q.Call == "claim" && mode == "nameless":
			reply(q.ID, `,"model":"kv"`)
		case q.Call == "claim":
			reply(q.ID, `,"name":"fake","model":"kv","level":"linearizable","ops":["get","put","cas"],"read":"get"`)
			if mode == "deaf" {
				time.Sleep(time.Hour)
			}
		case q.Call != "do" || mode == "good":
			go func() { reply(q.ID, a.answer(line)) }()
		case mode == "dies":
			return errors.New("fake: ends as it was told")
		case mode == "garbage":
			fmt.Println("no JSON")
		case mode == "backwards":
			held = append(held, func() { reply(q.ID, fmt.Sprintf(`,"outcome":"ok","out":%q`, q.Key)) })
			if len(held) == 2 {
				held[1]()
				held[0]()
				held = nil
			}
		}
	}
	return nil
}

// adapter speaks to kvsingle for the program.
type adapter struct {
	mutex   sync.Mutex
	clients map[string]*fixtureClient
	path    string
}

func (a *adapter) answer(line []byte) string {
	var q struct {
		Call, Node, Listen, Dir, Address, Client, F string
		Key, In                                     json.RawMessage
		Peers, Addresses                            map[string]string
		Timeout                                     time.Duration `json:"timeout_ms"`
	}
	if err := json.Unmarshal(line, &q); err != nil {
		return `,"error":"malformed"`
	}
	store, _ := kvstores.Lookup("kvsingle")
	target := Fixture(store, "", nil, a.path)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	fault := func(err error) string {
		if err == nil {
			return ""
		}
		return fmt.Sprintf(`,"error":%q`, err)
	}
	switch q.Call {
	case "command":
		c, err := target.Command(NodeSpec{ID: q.Node, Listen: q.Listen, Dir: q.Dir, Nodes: []string{"n1", "n2", "n3"}, Peers: q.Peers})
		text, _ := json.Marshal(map[string]any{"path": c.Path, "args": c.Args, "env": c.Env})
		return "," + strings.Trim(string(text), "{}") + fault(err)
	case "ping":
		return fault(target.Ping(ctx, q.Address))
	case "bootstrap":
		return fault(target.Bootstrap(ctx, q.Addresses))
	case "leader":
		id, err := target.Leader(ctx, q.Addresses)
		return fmt.Sprintf(`,"leader":%q`, id) + fault(err)
	case "connect":
		c, err := target.Connect(ctx, q.Client, q.Address)
		a.mutex.Lock()
		a.clients[q.Client], _ = c.(*fixtureClient)
		a.mutex.Unlock()
		return fault(err)
	case "close", "do":
		a.mutex.Lock()
		c := a.clients[q.Client]
		a.mutex.Unlock()
		if q.Call == "close" {
			c.Close()
			return ""
		}
		op := Operation{F: q.F}
		op.Key, _ = history.ParseValue(string(q.Key))
		if q.In != nil {
			op.In, _ = history.ParseValue(string(q.In))
		}
		ctx, cancel := context.WithTimeout(context.Background(), q.Timeout*time.Millisecond)
		defer cancel()
		r := c.Do(ctx, op)
		text := fmt.Sprintf(`,"outcome":%q`, r.Outcome) + map[bool]string{true: fmt.Sprintf(`,"error":%q`, r.Error)}[r.Error != ""]
		if r.Out != history.Absent {
			text += `,"out":` + r.Out.Text()
		}
		return text
	}
	return `,"error":"unknown call"`
}

// startProgram starts this binary as a program, and ends it with the test.
func startProgram(t *testing.T, mode string) (*program, error) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the laboratory needs Linux")
	}
	target, err := Program(t.Context(), []string{self(t), "program", mode})
	if err != nil {
		return nil, err
	}
	p := target.(*program)
	t.Cleanup(func() { _ = p.Close() })
	return p, nil
}

// ask has one operation of a new client done.
func ask(t *testing.T, p *program, limit time.Duration, key string) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return (&programClient{p, "c1.0"}).Do(ctx, Operation{F: "get", Key: history.String(key)})
}

// A run through a program is one like any other.
func TestProgramRecordsARun(t *testing.T) {
	t.Parallel()
	p, err := startProgram(t, "good")
	must(t, err)
	sum := recorded(t, Config{Target: p, Ops: 200, Duration: 8 * time.Second, Seed: 1})
	if sum.OK < 20 || sum.Unknown > 0 {
		t.Errorf("%d ok, %d unknown", sum.OK, sum.Unknown)
	}
	v, _, err := Checker{}.Check(t.Context(), sum.History)
	must(t, err)
	if v.Kind.String() != "consistent" {
		t.Errorf("kvsingle through a program: %s", v.Kind)
	}
}

// What a program does not say clearly is not known, and a dead program is an
// error of the run, not a quiet store.
func TestProgramThatGoesWrong(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"garbage": "expected one JSON object a line", "dies": "the program ended", "silent": "deadline"} {
		p, err := startProgram(t, mode)
		must(t, err)
		limit := 8 * time.Second
		if mode == "silent" {
			limit = 50 * time.Millisecond
		}
		r := ask(t, p, limit, "k0")
		if r.Outcome != history.Info || !strings.Contains(r.Error, want) {
			t.Errorf("%s: %+v, want info and %q", mode, r, want)
		}
		if dead := p.Err() != nil; dead != (mode != "silent") {
			t.Errorf("%s: its error is %v", mode, p.Err())
		}
		if mode == "silent" && len(p.waiting) != 0 {
			t.Errorf("%d calls still wait for an answer", len(p.waiting))
		}
	}
	if _, err := startProgram(t, "nameless"); err == nil || !strings.Contains(err.Error(), "needs name, model and ops") {
		t.Errorf("a claim without a name: %v", err)
	}
}

// Answers find whoever asked, in whatever order they come.
func TestProgramAnswersOutOfOrder(t *testing.T) {
	p, err := startProgram(t, "backwards")
	must(t, err)
	var wg sync.WaitGroup
	for _, key := range []string{"a", "b"} {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
			defer cancel()
			r := (&programClient{p, key}).Do(ctx, Operation{F: "get", Key: history.String(key)})
			if r.Outcome != history.OK || r.Out != history.String(key) {
				t.Errorf("%s got the answer %+v", key, r)
			}
		})
	}
	wg.Wait()
}

// A program that reads no more holds nobody up.
func TestProgramThatDoesNotRead(t *testing.T) {
	t.Parallel()
	p, err := startProgram(t, "deaf")
	must(t, err)
	big := strings.Repeat("x", 1<<20) // more than a pipe holds
	began := time.Now()
	for range 2 {
		if r := ask(t, p, time.Second, big); r.Outcome != history.Info {
			t.Errorf("outcome %v, want info", r.Outcome)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("two calls with a time-out of a second took %s", took)
	}
	if p.Err() == nil {
		t.Error("half a line was written, and the program counts as well")
	}
}

// A program that dies in the middle of a run ends it with an error; what was
// recorded stays, and so does no process.
func TestProgramThatDiesInARun(t *testing.T) {
	t.Parallel()
	p, err := startProgram(t, "dies")
	must(t, err)
	sum, err := try(t, Config{Target: p, Duration: 300 * time.Millisecond, Seed: 1})
	if err == nil || !strings.Contains(err.Error(), "the program ended") {
		t.Errorf("error %v, want that the program ended", err)
	}
	if sum == nil || sum.Unknown == 0 {
		t.Fatalf("summary %+v: want operations without an answer", sum)
	}
	loaded(t, sum.History)
}
