package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// process is one node's process. It runs in a group of its own, which is ended
// by its id; it holds one end of a pipe whose other end is this process', and
// the kernel kills it when this process dies, stopped or not.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{}
	err   error
	once  sync.Once
}

// spawner starts processes on one thread that lives as long as the run: the
// kernel sends a child's death signal when the thread that made it ends.
type spawner struct{ work chan func() }

func newSpawner() *spawner {
	s := &spawner{make(chan func())}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		for f := range s.work {
			f()
		}
	}()
	return s
}

func (s *spawner) close() { close(s.work) }

// start runs c; what it prints goes to log.
func (s *spawner) start(c Command, log *os.File) (*process, error) { return s.piped(c, log, log) }

// piped is start with a file for each stream.
func (s *spawner) piped(c Command, out, log *os.File) (*process, error) {
	p := &process{ended: make(chan struct{})}
	p.cmd = exec.Command(c.Path, c.Args...)
	p.cmd.Env = append(os.Environ(), c.Env...)
	p.cmd.Stdout, p.cmd.Stderr = out, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.stdin = in
	started := make(chan error)
	s.work <- func() { started <- p.cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("%s does not start: %w", c.Path, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// alive reports whether the process has not ended.
func (p *process) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

func (p *process) signal(s syscall.Signal) error {
	if !p.alive() {
		return errors.New("the process has ended")
	}
	return syscall.Kill(-p.pid(), s)
}

// pause stops the process and everything in its group, and returns when no
// thread of the process runs any more, which is a moment after the signal.
func (p *process) pause() error {
	err := p.signal(syscall.SIGSTOP)
	for until := time.Now().Add(stopWithin); err == nil && !p.stopped(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			err = fmt.Errorf("process %d does not stop", p.pid())
		}
	}
	return err
}

// stopWithin is how long a process may take to stop.
const stopWithin = 2 * time.Second

// stopped reports whether every thread of the process is stopped (proc(5)).
func (p *process) stopped() bool {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.pid()))
	for _, f := range files {
		text, err := os.ReadFile(f)
		// The state follows the name, which may hold anything, in brackets.
		state := text[bytes.LastIndexByte(text, ')')+1:]
		if err == nil && !bytes.HasPrefix(state, []byte(" T")) {
			return false
		}
	}
	return err == nil && len(files) > 0
}

// resume lets the group go on.
func (p *process) resume() error { return p.signal(syscall.SIGCONT) }

// kill ends the whole group at once and waits for it.
func (p *process) kill() error {
	err := syscall.Kill(-p.pid(), syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		err = nil
	}
	p.once.Do(func() { _ = p.stdin.Close() })
	select {
	case <-p.ended:
		return err
	case <-time.After(5 * time.Second):
		return errors.Join(err, fmt.Errorf("process %d does not end", p.pid()))
	}
}

// stop asks the process to end, and kills it where it does not.
func (p *process) stop() error {
	_ = p.signal(syscall.SIGCONT)
	_ = p.signal(syscall.SIGTERM)
	p.once.Do(func() { _ = p.stdin.Close() })
	select {
	case <-p.ended:
	case <-time.After(time.Second):
	}
	return p.kill() // the group may outlive its leader
}

// reserve takes a loopback port for a node that starts later, and starts again
// after a kill: a socket that is bound and never listens keeps everybody else
// away, but for one that sets SO_REUSEADDR and names the port, as servers do.
func reserve() (io.Closer, string, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, "", os.NewSyscallError("socket", err)
	}
	held := os.NewFile(uintptr(fd), "reserved port")
	err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	var name syscall.Sockaddr
	if err == nil {
		name, err = syscall.Getsockname(fd)
	}
	if err != nil {
		return nil, "", errors.Join(os.NewSyscallError("reserving a port", err), held.Close())
	}
	return held, fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port), nil
}
