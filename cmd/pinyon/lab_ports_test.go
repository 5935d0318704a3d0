package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// squatter adapts kvforward and takes the port of n2 before that node starts:
// "squatter silent" answers nobody there, "squatter answering" everybody.
// os.Args[2] is the program that runs the nodes.
func squatter() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var q struct {
			ID                          int
			Call, Node, Listen, Address string
			Dir                         string
			Peers                       map[string]string
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			os.Exit(1)
		}
		answer := map[string]any{"id": q.ID}
		switch q.Call {
		case "claim":
			answer["name"], answer["model"], answer["level"], answer["ops"] = "squatted", "kv", "linearizable", []string{"get", "put", "cas"}
		case "command":
			if q.Node == "n2" {
				squat(q.Listen, os.Args[1] == "answering")
			}
			args := []string{"store", "kvforward", "--id", q.Node, "--listen", q.Listen, "--dir", q.Dir}
			for id, address := range q.Peers {
				args = append(args, "--peer", id+"="+address)
			}
			answer["path"], answer["args"] = os.Args[2], args
		case "ping":
			client := http.Client{Timeout: time.Second}
			r, err := client.Get("http://" + q.Address + "/ping")
			if err != nil {
				answer["error"] = err.Error()
				break
			}
			_ = r.Body.Close()
		}
		text, _ := json.Marshal(answer)
		fmt.Println(string(text))
	}
}

func squat(address string, answering bool) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if answering {
		go func() {
			_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "mine") }))
		}()
	}
}

// A node whose port another program has taken ends the run before it begins,
// with an error that says so, also where that program answers in its stead.
func labPortOfANodeTaken(t *testing.T, program string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "squatter") // the test binary goes by its name
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"silent", "answering"} {
		l := laboratory(t, program, "--target", strings.Join([]string{name, mode, program}, " "), "--duration", "5s", "--rate", "50")
		l.says(`node n2 ended: exit status \d+: .*listen tcp 127\.0\.0\.1:\d+: bind: address already in use; see .*node-n2\.log`)
		if code := l.status(20 * time.Second); code != exitFailure {
			t.Errorf("%s: exit status %d, want %d\n%s", mode, code, exitFailure, &l.stdout)
		}
		l.gone(0)
		if text, err := os.ReadFile(filepath.Join(l.out, "latest", "history.jsonl")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: something was recorded: %v\n%s", mode, err, text)
		}
	}
}

// A node that cannot have its port back after a kill stays down; the run goes on,
// says so, and is checked. Nobody can take the ports of the proxies meanwhile.
func labPortTakenWhileDown(t *testing.T, program string) {
	l := laboratory(t, program, "--store", "kvabd", "--faults", "kill", "--duration", "4s", "--rate", "100", "--seed", "1")
	l.says(`kvabd in `)
	var ports map[string]string
	for until := time.Now().Add(10 * time.Second); len(ports) < 3 && time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		ports = l.listens()
	}
	killed := regexp.MustCompile(`kill \[(n\d)\] for`).FindStringSubmatch(l.says(`kill \[n\d\] for`))[1]
	port, err := net.Listen("tcp", ports[killed])
	if err != nil {
		t.Fatalf("taking the port of %s: %v", killed, err)
	}
	defer port.Close()
	for _, a := range l.addresses() {
		if c, err := net.Listen("tcp", a); err == nil {
			_ = c.Close()
			t.Errorf("the port %s of a proxy or node could be taken", a)
		} else if !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("taking %s: %v", a, err)
		}
	}
	l.says(`kill \[` + killed + `\]: node ` + killed + ` ended: exit status \d+: .*bind: address already in use; see `)
	if code := l.status(30 * time.Second); code != exitConsistent && code != exitVacuous {
		t.Errorf("exit status %d, want a verdict\n%s", code, &l.stdout)
	}
	if want := "at " + killed + ": "; !strings.Contains(l.stdout.String(), want) {
		t.Errorf("it does not say that there was no last read %s\n%s", want, &l.stdout)
	}
	l.gone(0)
}

// listens are the addresses of the nodes that run, by name.
func (l *lab) listens() map[string]string {
	m := map[string]string{}
	for _, pid := range l.children() {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		args := strings.Split(string(text), "\x00")
		id, listen := slices.Index(args, "--id")+1, slices.Index(args, "--listen")+1
		if id > 0 && listen > 0 {
			m[args[id]] = args[listen]
		}
	}
	return m
}

// A proxy that gets no port ends the run before any node starts.
func labNoPortForAProxy(t *testing.T, program string) {
	out := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -n 16 && exec "$0" "$@"`, program, "run", "--out", out, "--store", "kvforward", "--duration", "5s")
	stderr := new(strings.Builder)
	cmd.Stdout, cmd.Stderr = io.Discard, stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitFailure {
		t.Errorf("%v, want exit status %d", err, exitFailure)
	}
	if text := stderr.String(); !strings.Contains(text, "proxy of ") || !strings.Contains(text, "too many open files") {
		t.Errorf("it does not say which proxy got no port, and why:\n%s", text)
	}
	(&lab{t: t, cmd: cmd, out: out}).gone(0)
}
