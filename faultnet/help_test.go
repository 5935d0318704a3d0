package faultnet

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for something that must happen; silence is how
// long something that must not happen is waited for.
const (
	patience = 15 * time.Second
	silence  = 80 * time.Millisecond
)

var link = Link{"n1", "n2"}

// network opens one link to target and closes it with the test, which must not
// leave a goroutine behind.
func network(t testing.TB, target string) *Network {
	t.Helper()
	n := New(1)
	n.Aim(link.To, target)
	if _, err := n.Open(link); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if stack := goroutines(); stack != "" {
			t.Errorf("goroutines after Close:\n%s", stack)
		}
	})
	return n
}

// goroutines returns the stacks of goroutines of this package's own code. One
// that has told its wait group may still be returning: that is waited for.
func goroutines() (stacks string) {
	for start := time.Now(); time.Since(start) < time.Second; runtime.Gosched() {
		buf := make([]byte, 1<<20)
		stacks = ""
		for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "created by pinyon/faultnet.(*") {
				stacks += g + "\n\n"
			}
		}
		if stacks == "" {
			return ""
		}
	}
	return stacks
}

// gate is an HTTP server that keeps each request until it is let go.
type gate struct {
	*httptest.Server
	arrived chan struct{}
	release chan struct{}
	ended   chan struct{} // the client of a request went away first
}

const answer = "the answer"

func newGate(t testing.TB) *gate {
	g := &gate{arrived: make(chan struct{}, 16), release: make(chan struct{}, 16), ended: make(chan struct{}, 16)}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.arrived <- struct{}{}
		select {
		case <-g.release:
			io.WriteString(w, answer)
		case <-r.Context().Done():
			g.ended <- struct{}{}
		}
	}))
	t.Cleanup(func() {
		close(g.release)
		g.CloseClientConnections()
		g.Close()
	})
	return g
}

func (g *gate) addr() string { return g.Listener.Addr().String() }

// reply is how an HTTP request ended.
type reply struct {
	body string
	err  error
}

// ask sends a request on a connection of its own.
func ask(addr string, timeout time.Duration) <-chan reply {
	done := make(chan reply, 1)
	go func() {
		c := http.Client{Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := c.Get("http://" + addr)
		if err != nil {
			done <- reply{err: err}
			return
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		done <- reply{string(body), err}
	}()
	return done
}

// wait receives, within reason.
func wait[T any](t testing.TB, ch <-chan T, what string) (x T) {
	t.Helper()
	select {
	case x = <-ch:
	case <-time.After(patience):
		t.Fatalf("waited %v in vain: %s", patience, what)
	}
	return x
}

// quiet fails when something arrives that should not.
func quiet[T any](t testing.TB, ch <-chan T, what string) {
	t.Helper()
	select {
	case x := <-ch:
		t.Fatalf("%s: %v", what, x)
	case <-time.After(silence):
	}
}

// eventually polls.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for start := time.Now(); !ok(); time.Sleep(time.Millisecond) {
		if time.Since(start) > patience {
			t.Fatalf("waited %v in vain: %s", patience, what)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func set(t testing.TB, n *Network, w Way, r Rule) {
	t.Helper()
	must(t, n.Set(link, w, r))
}

func heal(t testing.TB, n *Network) {
	t.Helper()
	must(t, n.Heal(link))
}

// works requires that a new request is answered through the link.
func works(t testing.TB, n *Network, g *gate) {
	t.Helper()
	done := ask(n.Addr(link), patience)
	wait(t, g.arrived, "a request through a healed link")
	g.release <- struct{}{}
	if r := wait(t, done, "the answer through a healed link"); r.err != nil || r.body != answer {
		t.Fatalf("through a healed link: %q, %v", r.body, r.err)
	}
}

// pair is a connection through the link and its other end.
type pair struct{ from, to *net.TCPConn }

// server listens for pairs.
func server(t testing.TB) *net.TCPListener {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { ln.Close() })
	return ln.(*net.TCPListener)
}

func connect(t testing.TB, n *Network, ln *net.TCPListener) pair {
	t.Helper()
	from := dial(t, n)
	must(t, ln.SetDeadline(time.Now().Add(patience)))
	to, err := ln.AcceptTCP()
	must(t, err)
	t.Cleanup(func() { to.Close() })
	must(t, to.SetDeadline(time.Now().Add(patience)))
	return pair{from, to}
}

func dial(t testing.TB, n *Network) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp4", n.Addr(link))
	must(t, err)
	t.Cleanup(func() { c.Close() })
	must(t, c.SetDeadline(time.Now().Add(patience)))
	return c.(*net.TCPConn)
}

func send(t testing.TB, c *net.TCPConn, text string) {
	t.Helper()
	_, err := io.WriteString(c, text)
	must(t, err)
}

func receive(t testing.TB, c *net.TCPConn, text string) {
	t.Helper()
	buf := make([]byte, len(text))
	if n, err := io.ReadFull(c, buf); err != nil || string(buf) != text {
		t.Fatalf("received %q, %v; want %q", buf[:n], err, text)
	}
}

// silent requires that nothing arrives, not even an end.
func silent(t testing.TB, c *net.TCPConn) {
	t.Helper()
	must(t, c.SetReadDeadline(time.Now().Add(silence)))
	n, err := c.Read(make([]byte, 100))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read %d bytes, %v; want silence", n, err)
	}
	must(t, c.SetReadDeadline(time.Now().Add(patience)))
}

// broken requires that the connection ends with a reset.
func broken(t testing.TB, c *net.TCPConn) {
	t.Helper()
	if n, err := c.Read(make([]byte, 100)); n > 0 || !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("read %d bytes, %v; want a reset", n, err)
	}
}

// brokenDial requires that a new connection is reset, sooner or later.
func brokenDial(t testing.TB, n *Network) {
	t.Helper()
	c, err := net.Dial("tcp4", n.Addr(link))
	if err == nil {
		defer c.Close()
		must(t, c.SetDeadline(time.Now().Add(patience)))
		broken(t, c.(*net.TCPConn))
	} else if !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("dial: %v; want a reset", err)
	}
}

// closed requires that the stream ends properly.
func closed(t testing.TB, c *net.TCPConn) {
	t.Helper()
	if n, err := c.Read(make([]byte, 100)); n > 0 || err != io.EOF {
		t.Fatalf("read %d bytes, %v; want the end of the stream", n, err)
	}
}

func counter(n *Network) Counter { return n.Counters()[0] }
