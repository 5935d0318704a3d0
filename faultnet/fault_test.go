package faultnet

import (
	"bytes"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"
)

// Each fault, in the middle of a request: the server has it and is about to
// answer when the rule changes.

func TestDropInARequest(t *testing.T) {
	g := newGate(t)
	n := network(t, g.addr())
	done := ask(n.Addr(link), patience)
	wait(t, g.arrived, "the request")
	before := counter(n)
	set(t, n, Both, Rule{Kind: Drop})
	g.release <- struct{}{}
	eventually(t, "the answer is dropped", func() bool { return counter(n).DroppedBackward > 0 })
	quiet(t, done, "an answer through a drop")
	late := dial(t, n) // accepted, and silent
	const request = "GET / HTTP/1.1\r\nHost: n2\r\n\r\n"
	send(t, late, request)
	quiet(t, g.arrived, "a request through a drop")
	eventually(t, "the request is dropped", func() bool { return counter(n).DroppedForward == int64(len(request)) })
	if c := counter(n); c.Forward != before.Forward || c.Backward != 0 {
		t.Errorf("forwarded through a drop: %+v, before %+v", c, before)
	}
	heal(t, n)
	if r := wait(t, done, "the end of the request"); !errors.Is(r.err, syscall.ECONNRESET) {
		t.Errorf("the answer had a hole, and the request ended with %q, %v; want a reset", r.body, r.err)
	}
	broken(t, late)
	if c := counter(n); c.Resets != 2 || c.Dials != 2 {
		t.Errorf("%+v, want 2 resets of 2 dials", c)
	}
	works(t, n, g)
}

func TestStallInARequest(t *testing.T) {
	g := newGate(t)
	n := network(t, g.addr())
	done := ask(n.Addr(link), patience)
	wait(t, g.arrived, "the request")
	set(t, n, Both, Rule{Kind: Stall})
	g.release <- struct{}{}
	late := ask(n.Addr(link), patience)
	quiet(t, done, "an answer through a stall")
	quiet(t, g.arrived, "a request through a stall")
	if c := counter(n); c.Backward != 0 || c.DroppedBackward != 0 || c.DroppedForward != 0 {
		t.Errorf("forwarded or dropped by a stall: %+v", c)
	}
	heal(t, n)
	if r := wait(t, done, "the answer"); r.err != nil || r.body != answer {
		t.Errorf("after the stall: %q, %v", r.body, r.err)
	}
	wait(t, g.arrived, "the request made during the stall")
	g.release <- struct{}{}
	if r := wait(t, late, "its answer"); r.err != nil || r.body != answer {
		t.Errorf("asked during the stall: %q, %v", r.body, r.err)
	}
}

func TestResetInARequest(t *testing.T) {
	g := newGate(t)
	n := network(t, g.addr())
	done := ask(n.Addr(link), patience)
	wait(t, g.arrived, "the request")
	set(t, n, Both, Rule{Kind: Reset})
	if r := wait(t, done, "the end of the request"); !errors.Is(r.err, syscall.ECONNRESET) {
		t.Errorf("%q, %v; want a reset", r.body, r.err)
	}
	wait(t, g.ended, "the server's end of it")
	brokenDial(t, n)
	if c := counter(n); c.Resets != 2 || c.Refused != 1 || c.Dials != 2 {
		t.Errorf("%+v, want 2 resets of 2 dials, 1 refused", c)
	}
	heal(t, n)
	works(t, n, g)
}

func TestRefuseInARequest(t *testing.T) {
	g := newGate(t)
	n := network(t, g.addr())
	addr := n.Addr(link)
	for range 3 { // the port survives
		done := ask(addr, patience)
		wait(t, g.arrived, "the request")
		set(t, n, Both, Rule{Kind: Refuse})
		if _, err := net.Dial("tcp4", addr); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial: %v; want a refusal", err)
		}
		if ln, err := net.Listen("tcp4", addr); err == nil {
			ln.Close()
			t.Error("the port was free for others while dials were refused")
		}
		g.release <- struct{}{}
		if r := wait(t, done, "the answer on the old connection"); r.err != nil || r.body != answer {
			t.Errorf("the old connection: %q, %v", r.body, r.err)
		}
		heal(t, n)
		if n.Addr(link) != addr {
			t.Fatalf("the address has changed from %s to %s", addr, n.Addr(link))
		}
		works(t, n, g)
	}
}

func TestDelayInARequest(t *testing.T) {
	g := newGate(t)
	n := network(t, g.addr())
	done := ask(n.Addr(link), patience)
	wait(t, g.arrived, "the request")
	const delay = 150 * time.Millisecond
	set(t, n, Both, Rule{Kind: Delay, Delay: delay, Jitter: delay})
	start := time.Now()
	g.release <- struct{}{}
	if r := wait(t, done, "the answer"); r.err != nil || r.body != answer {
		t.Errorf("%q, %v", r.body, r.err)
	}
	if took := time.Since(start); took < delay {
		t.Errorf("the answer took %v, the delay is %v", took, delay)
	}
}

func TestThrottleInARequest(t *testing.T) {
	g := newGate(t)
	n := network(t, g.addr())
	done := ask(n.Addr(link), patience)
	wait(t, g.arrived, "the request")
	set(t, n, Both, Rule{Kind: Throttle, BytesPerSecond: 500})
	start := time.Now()
	g.release <- struct{}{}
	if r := wait(t, done, "the answer"); r.err != nil || r.body != answer {
		t.Errorf("%q, %v", r.body, r.err)
	}
	// The last piece, of 25 bytes, does not wait for its own time.
	want := time.Duration(counter(n).Backward-25) * time.Second / 500
	if took := time.Since(start); took < want || want < 100*time.Millisecond {
		t.Errorf("%d bytes took %v, want at least %v", counter(n).Backward, took, want)
	}
}

// TestThrottleIsOfTheLink: the connections of a link share its rate.
func TestThrottleIsOfTheLink(t *testing.T) {
	ln := server(t)
	n := network(t, ln.Addr().String())
	a, b := connect(t, n, ln), connect(t, n, ln)
	set(t, n, Forward, Rule{Kind: Throttle, BytesPerSecond: 100_000})
	start := time.Now()
	text := string(bytes.Repeat([]byte("x"), 20_000))
	send(t, a.from, text)
	send(t, b.from, text)
	receive(t, a.to, text)
	receive(t, b.to, text)
	if took := time.Since(start); took < 340*time.Millisecond {
		t.Errorf("40,000 bytes at 100,000 a second took %v", took)
	}
	send(t, a.to, text) // the other way is free
	receive(t, a.from, text)
}

// TestNodeDown: a node that is down refuses, a link that drops hides that.
func TestNodeDown(t *testing.T) {
	ln := server(t)
	n := network(t, "")
	refused := func(when string) {
		t.Helper()
		if _, err := net.Dial("tcp4", n.Addr(link)); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s: %v; want a refusal", when, err)
		}
	}
	refused("before Aim")
	n.Aim(link.To, ln.Addr().String())
	p := connect(t, n, ln)
	n.Aim(link.To, "")
	refused("after the node went down")
	send(t, p.from, "on") // what is open goes on as long as its process does
	receive(t, p.to, "on")
	set(t, n, Both, Rule{Kind: Drop})
	hidden := dial(t, n)
	silent(t, hidden)
	heal(t, n)
	broken(t, hidden) // it lost nothing, so the dial is made now, and fails
	refused("after the drop")
	n.Aim(link.To, ln.Addr().String())
	connect(t, n, ln)

	other := Link{"n3", "n2"} // opened later, aimed before
	_, err := n.Open(other)
	must(t, err)
	c, err := net.Dial("tcp4", n.Addr(other))
	must(t, err)
	defer c.Close()
	_, err = ln.Accept()
	must(t, err)
}

// TestNobodyListens: a target that is gone without a word to the network
// resets, since the proxy has taken the connection already.
func TestNobodyListens(t *testing.T) {
	ln := server(t)
	n := network(t, ln.Addr().String())
	ln.Close()
	brokenDial(t, n)
	if c := counter(n); c.Dials != 1 || c.Refused != 1 || c.Resets != 0 {
		t.Errorf("%+v, want 1 dial, refused, and no reset by a rule", c)
	}
}
