package harness

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pinyon/engine/history"
	"pinyon/kvstores"
)

// TestMain lets the test binary be a node of a store, as pinyon store is, and
// a program that adapts one.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == "store":
		exit(runNode(os.Args[2], os.Args[3:]))
	case len(os.Args) > 2 && os.Args[1] == "program":
		exit(runProgram(os.Args[2]))
	case len(os.Args) > 2 && os.Args[1] == "echo":
		exit(runEcho(os.Args[2]))
	case len(os.Args) > 3 && os.Args[1] == "panics":
		exit(runPanicking(os.Args[2], os.Args[3]))
	}
	os.Exit(m.Run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// runNode is pinyon store NAME. With PINYON_DIRECT in its environment it also
// holds a connection to that address; with PINYON_SIDE it listens there too; with PINYON_STUBBORN it ends with a kill
// only.
func runNode(name string, args []string) error {
	s, err := kvstores.Lookup(name)
	if err != nil {
		return err
	}
	f := flag.NewFlagSet("store", flag.ContinueOnError)
	id, listen := f.String("id", "", ""), f.String("listen", "", "")
	dir, bug := f.String("dir", "", ""), f.String("bug", "", "")
	peers, options := map[string]string{}, map[string]string{}
	pairs := func(m map[string]string) func(string) error {
		return func(text string) error {
			k, v, _ := strings.Cut(text, "=")
			m[k] = v
			return nil
		}
	}
	f.Func("peer", "", pairs(peers))
	f.Func("option", "", pairs(options))
	if err := f.Parse(args); err != nil {
		return err
	}
	if direct := os.Getenv("PINYON_DIRECT"); direct != "" {
		go func() {
			for {
				if c, err := net.Dial("tcp", direct); err == nil {
					defer c.Close()
					_, _ = io.Copy(io.Discard, c)
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
	}
	if side := os.Getenv("PINYON_SIDE"); side != "" {
		l, err := net.Listen("tcp", side)
		if err != nil {
			return err
		}
		go func() {
			for {
				if c, err := l.Accept(); err == nil {
					defer c.Close()
				}
			}
		}()
	}
	nodes := []string{*id}
	for p := range peers {
		nodes = append(nodes, p)
	}
	slices.Sort(nodes)
	ctx, cancel := context.WithCancel(context.Background())
	if os.Getenv("PINYON_STUBBORN") != "" { // as servers are that know nothing of a harness
		signal.Ignore(syscall.SIGHUP, syscall.SIGTERM)
		defer cancel()
	} else {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	return kvstores.Serve(ctx, s, kvstores.Config{ID: *id, Nodes: nodes, Peers: kvstores.NewPeers(*id, peers), Dir: *dir, Bug: *bug,
		Options: options, Clock: new(kvstores.Clock), Log: os.Stderr}, *listen, os.Stdout)
}

// self is this binary.
func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// fixtureOf is a fixture store whose nodes this binary runs.
func fixtureOf(t testing.TB, name, bug string) Target {
	t.Helper()
	s, err := kvstores.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return Fixture(s, bug, nil, self(t))
}

// recorded runs c in a folder of its own; afterwards no process may be left.
func recorded(t *testing.T, c Config) *Summary {
	t.Helper()
	sum, err := try(t, c)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func try(t *testing.T, c Config) (*Summary, error) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the laboratory needs Linux")
	}
	c.Dir = t.TempDir()
	sum, err := Record(t.Context(), c)
	if left := processes(t, c.Dir); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	return sum, err
}

// processes are those of the machine that name the folder in their arguments.
func processes(t testing.TB, dir string) (pids []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, _ := os.ReadFile(f) // of one that has ended meanwhile: nothing
		if bytes.Contains(text, []byte(dir+"/")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// loaded reads a recorded history.
func loaded(t testing.TB, path string) *history.Raw {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, text)
}

func parsed(t testing.TB, text []byte) *history.Raw {
	t.Helper()
	h, err := history.ReadNative("history.jsonl", bytes.NewReader(text))
	if err == nil {
		err = history.Validate(h)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return h
}

// eventually waits until what must come has come.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for until := time.Now().Add(8 * time.Second); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("in vain: %s", what)
		}
	}
}

// goroutines are the stacks of those that these packages started.
func goroutines() (list []string) {
	buf := make([]byte, 4<<20)
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(g, "created by pinyon/harness.") && !strings.Contains(g, "_test.go") || strings.Contains(g, "created by pinyon/faultnet.") {
			list = append(list, g)
		}
	}
	return list
}
