package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLab attacks the command as a program of its own, from which it also
// starts the nodes of its stores.
func TestLab(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the laboratory needs Linux")
	}
	program := filepath.Join(t.TempDir(), "pinyon")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for name, test := range map[string]func(*testing.T, string){
		"interrupted": labInterrupted, "interrupted early": labInterruptedEarly, "interrupted twice": labInterruptedTwice, "killed": labKilled,
		"no folder": labWithoutFolder, "bundle": labBundle, "redis": labRedis,
		"port of a node taken": labPortOfANodeTaken, "port taken while down": labPortTakenWhileDown, "no port for a proxy": labNoPortForAProxy,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, program)
		})
	}
}

// lab is one run of the program.
type lab struct {
	t      *testing.T
	cmd    *exec.Cmd
	out    string // the folder of runs
	stdout bytes.Buffer
	lines  chan string // of stderr
	ended  chan error
}

// laboratory starts pinyon run with these arguments. It is killed at the end of
// the test, should it still run, and no process may be left then.
func laboratory(t *testing.T, program string, args ...string) *lab {
	t.Helper()
	l := &lab{t: t, out: t.TempDir(), lines: make(chan string, 1000), ended: make(chan error, 1)}
	l.cmd = exec.Command(program, append([]string{"run", "--out", l.out}, args...)...)
	l.cmd.Stdout = &l.stdout
	stderr, err := l.cmd.StderrPipe()
	if err == nil {
		err = l.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			l.lines <- lines.Text()
		}
		close(l.lines)
		l.ended <- l.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = l.cmd.Process.Kill()
		l.gone(2 * time.Second)
	})
	return l
}

// says waits for a line of stderr, which it returns.
func (l *lab) says(pattern string) string {
	l.t.Helper()
	re, limit := regexp.MustCompile(pattern), time.After(20*time.Second)
	var seen []string
	for {
		select {
		case line, ok := <-l.lines:
			if seen = append(seen, line); !ok {
				l.t.Fatalf("it ended without saying %q:\n%s", pattern, strings.Join(seen, "\n"))
			}
			if re.MatchString(line) {
				return line
			}
		case <-limit:
			l.t.Fatalf("it does not say %q:\n%s", pattern, strings.Join(seen, "\n"))
		}
	}
}

func (l *lab) signal(s syscall.Signal) {
	l.t.Helper()
	if err := l.cmd.Process.Signal(s); err != nil {
		l.t.Fatal(err)
	}
}

// status waits for the end and returns the exit status.
func (l *lab) status(limit time.Duration) int {
	l.t.Helper()
	until, lines := time.After(limit), l.lines
	for {
		select {
		case _, ok := <-lines: // let it talk
			if !ok {
				lines = nil
			}
		case err := <-l.ended:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				l.t.Fatal(err)
			}
			return l.cmd.ProcessState.ExitCode()
		case <-until:
			l.t.Fatalf("it has not ended after %s", limit)
		}
	}
}

// children are the processes that name the folder of runs in their arguments.
func (l *lab) children() (pids []int) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		l.t.Fatal(err)
	}
	for _, f := range files {
		text, _ := os.ReadFile(f)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if bytes.Contains(text, []byte(l.out+"/")) && pid != l.cmd.Process.Pid {
			pids = append(pids, pid)
		}
	}
	return pids
}

// addresses are those on which the nodes listen, and of the proxies before them.
func (l *lab) addresses() (list []string) {
	for _, pid := range l.children() {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		list = append(list, regexp.MustCompile(`127\.0\.0\.1:\d+`).FindAllString(string(text), -1)...)
	}
	return list
}

// gone requires that no process is left after so long, and ends what is.
func (l *lab) gone(limit time.Duration) {
	l.t.Helper()
	for until := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		left := l.children()
		if len(left) == 0 {
			return
		}
		if time.Now().After(until) {
			l.t.Errorf("after %s processes are left: %v", limit, left)
			for _, pid := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			return
		}
	}
}

// closed requires that nobody listens at any of the addresses, unless it is
// another program that was given the port since.
func (l *lab) closed(addresses []string) {
	l.t.Helper()
	if len(addresses) == 0 {
		l.t.Error("no addresses of nodes were seen")
	}
	for _, a := range addresses {
		if c, err := net.DialTimeout("tcp", a, time.Second); err == nil {
			_ = c.Close()
			if pid := l.listener(a); pid != 0 {
				l.t.Errorf("process %d still listens at %s", pid, a)
			}
		}
	}
}

// listener is the process of this program that listens at the address, or 0.
func (l *lab) listener(address string) int {
	_, port, _ := net.SplitHostPort(address)
	n, _ := strconv.Atoi(port)
	text, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		l.t.Fatal(err)
	}
	sockets := map[string]bool{} // that listen there
	for _, line := range strings.Split(string(text), "\n") {
		if f := strings.Fields(line); len(f) > 9 && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", n)) && f[3] == "0A" {
			sockets["socket:["+f[9]+"]"] = true
		}
	}
	files, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		l.t.Fatal(err)
	}
	for _, f := range files {
		of := filepath.Dir(filepath.Dir(f))
		if link, _ := os.Readlink(f); !sockets[link] {
			continue
		}
		exe, _ := os.Readlink(filepath.Join(of, "exe"))
		args, _ := os.ReadFile(filepath.Join(of, "cmdline"))
		args = bytes.ReplaceAll(args, []byte(l.cmd.Path), nil)
		others := bytes.Contains(args, []byte("/TestLab")) && !bytes.Contains(args, []byte(l.out)) // the tests run beside each other
		if strings.TrimSuffix(exe, " (deleted)") == l.cmd.Path && !others {
			pid, _ := strconv.Atoi(filepath.Base(of))
			return pid
		}
	}
	return 0
}

// An interrupt in the middle of a cut ends the run: no process and no port is
// left, and what was recorded is checked.
func labInterrupted(t *testing.T, program string) {
	l := laboratory(t, program, "--store", "kvforward", "--faults", "halves", "--duration", "30s", "--rate", "100")
	l.says(`drop n\d>n\d.* for`)
	ports := l.addresses()
	l.signal(syscall.SIGINT)
	if code := l.status(20 * time.Second); code != exitConsistent && code != exitVacuous {
		t.Errorf("exit status %d, want a verdict\n%s", code, &l.stdout)
	}
	l.gone(0)
	l.closed(ports)
	for _, want := range []string{"operations ", `interrupted after \d+\.\d s of 30 s; what was recorded until then is checked`, "kept in ", "consistent"} {
		if !regexp.MustCompile(want).MatchString(l.stdout.String()) {
			t.Errorf("it does not print %q:\n%s", want, &l.stdout)
		}
	}
	if _, err := os.Stat(filepath.Join(l.out, "latest", "verdict.json")); err != nil {
		t.Error(err)
	}
}

// An interrupt before the store runs is no failure, and no verdict.
func labInterruptedEarly(t *testing.T, program string) {
	mute := filepath.Join(t.TempDir(), "mute") // its nodes start, and answer nothing
	script := `read -r _
echo '{"id":1,"name":"mute","model":"kv","level":"linearizable","ops":["get","put"],"read":"get"}'
while read -r line; do
	id=${line#*\"id\":}
	case $line in *'"command"'*) echo "{\"id\":${id%%[,\}]*},\"path\":\"sleep\",\"args\":[\"60\"]}" ;; esac
done
`
	if err := os.WriteFile(mute, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	l := laboratory(t, program, "--target", "sh "+mute)
	l.says("mute in ")
	time.Sleep(100 * time.Millisecond)
	l.signal(syscall.SIGINT)
	l.says("interrupted before anything was recorded")
	if code := l.status(20 * time.Second); code != exitUnknown {
		t.Errorf("exit status %d, want %d", code, exitUnknown)
	}
}

// The second interrupt ends the program at once, and its nodes with it.
func labInterruptedTwice(t *testing.T, program string) {
	l := laboratory(t, program, "--store", "kvraft", "--faults", "pause", "--duration", "30s", "--timeout", "20s", "--rate", "100")
	l.says(`pause \[`)
	l.signal(syscall.SIGINT)
	time.Sleep(20 * time.Millisecond) // two signals at once may count as one
	l.signal(syscall.SIGINT)
	if code := l.status(10 * time.Second); code == exitConsistent {
		t.Errorf("exit status %d", code)
	}
	l.gone(2 * time.Second)
}

// When the harness is killed its nodes die too, also those that are stopped.
func labKilled(t *testing.T, program string) {
	l := laboratory(t, program, "--store", "kvforward", "--faults", "pause", "--duration", "30s", "--rate", "100")
	l.says(`pause \[`)
	if len(l.children()) < 3 {
		t.Errorf("children %v, want three nodes", l.children())
	}
	ports := l.addresses()
	l.signal(syscall.SIGKILL)
	l.status(10 * time.Second)
	l.gone(2 * time.Second)
	l.closed(ports)
}

// A folder that cannot be written is an error and no verdict.
func labWithoutFolder(t *testing.T, program string) {
	l := laboratory(t, program, "--store", "kvforward", "--duration", "1s", "--out", os.DevNull)
	if code := l.status(10 * time.Second); code != exitFailure && code != exitNoInput {
		t.Errorf("exit status %d, want that it failed", code)
	}
}

// A run directory is what check, run and run --schedule accept.
func labBundle(t *testing.T, program string) {
	l := laboratory(t, program, "--store", "kvforward", "--faults", "flaky", "--duration", "1s", "--rate", "100", "--seed", "4")
	if code := l.status(20 * time.Second); code != exitConsistent && code != exitVacuous {
		t.Fatalf("exit status %d\n%s", code, &l.stdout)
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(l.out, "latest"))
	if err != nil {
		t.Fatal(err)
	}
	again := laboratory(t, program, dir)
	if code := again.status(20 * time.Second); code != exitConsistent && code != exitVacuous {
		t.Errorf("run RUN: exit status %d", code)
	}
	replay := laboratory(t, program, "--store", "kvforward", "--duration", "1s", "--rate", "100", "--schedule", dir)
	if code := replay.status(20 * time.Second); code != exitConsistent && code != exitVacuous {
		t.Errorf("run --schedule RUN: exit status %d", code)
	}
	first, err := os.ReadFile(filepath.Join(dir, "schedule.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []*lab{again, replay} {
		if second, err := os.ReadFile(filepath.Join(other.out, "latest", "schedule.jsonl")); err != nil || !bytes.Equal(first, second) {
			t.Errorf("another schedule: %v\n%s\n%s", err, first, second)
		}
	}
}

// The parts of a sweep are the sweep: none twice, none missing; merge adds
// their results up, and refuses those that count twice.
func TestSweepPartsAddUp(t *testing.T) {
	f := &sweepFlags{stores: []string{"kvforward", "kvabd"}, faults: []string{"none", "halves"}, seeds: "3-9"}
	whole, err := f.cases()
	if err != nil || len(whole) != 28 {
		t.Fatalf("%d cases, %v", len(whole), err)
	}
	count := map[string]int{}
	dirs := []string{"merge"}
	for i := range 4 {
		f.shard = fmt.Sprintf("%d/4", i+1)
		part, err := f.cases()
		if err != nil || len(part) != 7 {
			t.Fatalf("part %s has %d cases, %v", f.shard, len(part), err)
		}
		var lines strings.Builder
		for _, c := range part {
			count[c.Name()]++
			fmt.Fprintf(&lines, `{"store":%q,"faults":%q,"seed":%d,"verdict":"consistent"}`+"\n", c.Store, c.Faults, c.Seed)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "results.jsonl"), []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	for _, c := range whole {
		if count[c.Name()] != 1 {
			t.Errorf("%s stands in %d parts", c.Name(), count[c.Name()])
		}
	}
	var out bytes.Buffer
	if code := run(dirs, nil, &out, io.Discard); code != exitConsistent || !strings.Contains(out.String(), "28 runs") || !strings.Contains(out.String(), "fewer than 0.11 of") {
		t.Errorf("merge: exit status %d\n%s", code, &out)
	}
	if code := run(append(slices.Clone(dirs), dirs[1]), nil, io.Discard, io.Discard); code != exitMalformed {
		t.Errorf("merge of one part twice: exit status %d, want %d", code, exitMalformed)
	}
}

// A real store: a Redis primary whose replicas answer reads, adapted by a
// program in a module of its own. Held to linearizable it is convicted; in how
// far it is stale is measured, and that much staleness is allowed it.
func labRedis(t *testing.T, program string) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed (apt-get install redis-server):", err)
	}
	adapter := filepath.Join(t.TempDir(), "redis")
	build := exec.Command("go", "build", "-o", adapter, ".")
	build.Dir = filepath.Join("..", "..", "kvstores", "adapters", "redis")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	l := laboratory(t, program, "--target", adapter, "--faults", "isolate-one", "--duration", "3s", "--rate", "300", "--seed", "4")
	if code := l.status(30 * time.Second); code != exitViolation {
		t.Fatalf("exit status %d, want a violation\n%s", code, &l.stdout)
	}
	if !regexp.MustCompile(`faults +drop: \d+ planned, \d+ applied, [1-9]\d* seen to work`).MatchString(l.stdout.String()) {
		t.Errorf("no cut was seen to work:\n%s", &l.stdout)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	path := filepath.Join(l.out, "latest", "history.jsonl")
	text, _ := exec.CommandContext(ctx, program, "check", "--level", "all", path).Output() // exits by the level that it claims
	bound := regexp.MustCompile(`bounded-staleness:t=\S+ holds`).FindString(string(text))
	if bound == "" || !strings.Contains(string(text), "stale reads: at least ") {
		t.Fatalf("staleness is not measured:\n%s", text)
	}
	level := strings.TrimSuffix(bound, " holds")
	if out, err := exec.CommandContext(ctx, program, "check", "--level", level, path).CombinedOutput(); err != nil {
		t.Errorf("check --level %s: %v\n%s", level, err, out)
	}
}
