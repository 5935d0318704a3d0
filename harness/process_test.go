package harness

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"pinyon/kvstores"
)

// runPanicking records a run in dir in which something panics: a step of the
// nemesis, on a goroutine of its own, or the target, on the caller's.
func runPanicking(where, dir string) error {
	s, err := kvstores.Lookup("kvforward")
	if err != nil {
		return err
	}
	inner := Fixture(s, "", nil, os.Args[0])
	stubborn := wrapped{inner, func(n NodeSpec) (Command, error) {
		c, err := inner.Command(n)
		c.Env = append(c.Env, "PINYON_STUBBORN=1")
		return c, err
	}}
	c := Config{Target: stubborn, Dir: dir, Faults: "pause", Duration: 10 * time.Second, Rate: 50}
	switch where {
	case "step":
		c.Say = func(string, ...any) { panic("as it was told") }
	case "target":
		c.Target = panicking{c.Target}
	}
	_, err = Record(context.Background(), c)
	return errors.Join(err, errors.New("it did not panic"))
}

type panicking struct{ Target }

func (panicking) Bootstrap(context.Context, map[string]string) error { panic("as it was told") }

// A panic, wherever it is, leaves no process: not even one that is stopped, or
// that heeds no signal and no end of its input.
func TestPanicLeavesNoProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the laboratory needs Linux")
	}
	for _, where := range []string{"step", "target"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			out, err := exec.CommandContext(ctx, self(t), "panics", where, dir).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "panic: as it was told") {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Cleanup(func() {
				for _, pid := range processes(t, dir) {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			})
			until := time.Now().Add(2 * time.Second)
			for len(processes(t, dir)) > 0 {
				if time.Now().After(until) {
					t.Fatalf("after 2 seconds processes are left: %v", processes(t, dir))
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
}
