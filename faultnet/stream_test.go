package faultnet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"
)

// stuff is a stretch of random bytes, of a length that no buffer has.
var stuff = func() []byte {
	buf, d := make([]byte, 1<<20+7), newDice(1, "stuff")
	for i := range buf {
		buf[i] = byte(d.next())
	}
	return buf
}()

// pattern fills buf with the bytes that stand at offset at of a stream in which
// a hole, a repetition or a swap shows.
func pattern(buf []byte, at int) {
	for len(buf) > 0 {
		n := copy(buf, stuff[at%len(stuff):])
		buf, at = buf[n:], at+n
	}
}

// pour writes size bytes of the pattern and closes that half.
func pour(c *net.TCPConn, size int) error {
	buf := make([]byte, 64<<10)
	for at := 0; at < size; {
		n := min(len(buf), size-at)
		pattern(buf[:n], at)
		if _, err := c.Write(buf[:n]); err != nil {
			return err
		}
		at += n
	}
	return c.CloseWrite()
}

// drain reads to the end and says how many bytes there were, all of the
// pattern; wrong is set at the first that is not.
func drain(c *net.TCPConn) (size int, wrong, err error) {
	buf, want := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := c.Read(buf)
		pattern(want[:n], size)
		if !bytes.Equal(buf[:n], want[:n]) && wrong == nil {
			wrong = fmt.Errorf("the stream is wrong somewhere in the %d bytes after offset %d", n, size)
		}
		size += n
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return size, wrong, err
		}
	}
}

// transfer moves size bytes of the pattern from From to To.
func transfer(t *testing.T, n *Network, ln *net.TCPListener, size int) time.Duration {
	t.Helper()
	p := connect(t, n, ln)
	start := time.Now()
	sent := make(chan error, 1)
	go func() { sent <- pour(p.from, size) }()
	got, wrong, err := drain(p.to)
	if got != size || wrong != nil || err != nil {
		t.Fatalf("received %d of %d bytes, %v, %v", got, size, wrong, err)
	}
	must(t, wait(t, sent, "the sender"))
	return time.Since(start)
}

// TestDelayDoesNotThrottle: a long transfer takes its usual time and the delay
// once, although each of its thousand chunks waits, and keeps its order although
// the waits differ.
func TestDelayDoesNotThrottle(t *testing.T) {
	ln := server(t)
	n := network(t, ln.Addr().String())
	const size, delay, jitter = 64 << 20, 100 * time.Millisecond, 50 * time.Millisecond
	usual := transfer(t, n, ln, size)
	set(t, n, Both, Rule{Kind: Delay, Delay: delay, Jitter: jitter})
	took := transfer(t, n, ln, size)
	t.Logf("64 MiB: %v, with a delay of %v to %v: %v", usual, delay, delay+jitter, took)
	if took < delay {
		t.Errorf("the delayed transfer took %v, less than the delay", took)
	}
	if limit := 4*usual + 3*time.Second; took > limit { // a thousand delays would be minutes
		t.Errorf("the delayed transfer took %v, the other one %v; want at most %v", took, usual, limit)
	}
	if c := counter(n); c.Forward != 2*size || c.Backward != 0 {
		t.Errorf("%+v, want %d bytes forward", c, 2*size)
	}
}

// TestStallKeepsEveryByte: what a stall held back arrives whole and in order,
// more of it than any buffer between the two ends takes, and the end of the
// stream after it.
func TestStallKeepsEveryByte(t *testing.T) {
	ln := server(t)
	n := network(t, ln.Addr().String())
	p := connect(t, n, ln)
	must(t, p.to.SetReadBuffer(64<<10)) // so that the proxy's writes wait
	const size = 24 << 20
	sent := make(chan error, 1)
	go func() { sent <- pour(p.from, size) }()
	buf, want := make([]byte, 1<<20), make([]byte, 1<<20)
	for at := 0; at < 4<<20; at += len(buf) { // in the middle of it
		_, err := io.ReadFull(p.to, buf)
		pattern(want, at)
		if err != nil || !bytes.Equal(buf, want) {
			t.Fatalf("around offset %d: %v", at, err)
		}
	}
	for range 3 { // stalled and healed while a write is under way
		stuck(t, n)
		set(t, n, Both, Rule{Kind: Stall})
		held := counter(n).Forward
		for end := time.Now().Add(silence / 4); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if c := counter(n); c.Forward != held {
				t.Fatalf("%d bytes went through a stall", c.Forward-held)
			}
		}
		heal(t, n)
	}
	got := 4 << 20
	for err := error(nil); err == nil; {
		var k int
		k, err = p.to.Read(buf)
		pattern(want[:k], got)
		if !bytes.Equal(buf[:k], want[:k]) || err != nil && err != io.EOF {
			t.Fatalf("after offset %d: %v", got, err)
		}
		got += k
	}
	if got != size {
		t.Fatalf("received %d of %d bytes", got, size)
	}
	must(t, wait(t, sent, "the sender"))
	if c := counter(n); c.Forward != size || c.DroppedForward != 0 {
		t.Errorf("%+v, want %d bytes forward", c, size)
	}
}

var errShort = errors.New("the stream ended early, and properly")

// stuck waits until a receiver who does not read has stopped the bytes forward.
func stuck(t *testing.T, n *Network) {
	t.Helper()
	last := int64(-1)
	eventually(t, "the receiver's buffers are full", func() bool {
		before := last
		last = counter(n).Forward
		time.Sleep(20 * time.Millisecond)
		return last > 0 && last == before
	})
}

// TestNeverAHole: under rules that come and go by chance, both ends of every
// connection see the start of what the other one sent, and either all of it and
// its end, or a reset.
func TestNeverAHole(t *testing.T) {
	ln := server(t)
	n := network(t, ln.Addr().String())
	d := newDice(7, t.Name())
	whole, cut := 0, 0
	for round := range 48 {
		p := connect(t, n, ln)
		var poured, results [2]error
		var work sync.WaitGroup
		for i, ends := range [2][2]*net.TCPConn{{p.from, p.to}, {p.to, p.from}} {
			size := 1 + d.below(2<<20)
			work.Go(func() { poured[i] = pour(ends[0], size) })
			work.Go(func() {
				got, wrong, err := drain(ends[1])
				if wrong != nil {
					t.Errorf("round %d, way %d: %v", round, i, wrong)
				}
				if err == nil && got != size {
					err = errShort
				}
				results[i] = err
			})
		}
		for range 1 + d.below(6) {
			kind := []Kind{Drop, Drop, Stall, Delay, Throttle, Pass, Pass}[d.below(7)]
			r := Rule{Kind: kind}
			if kind == Delay {
				r.Delay, r.Jitter = d.between(0, 2*time.Millisecond, 1), time.Millisecond
			} else if kind == Throttle {
				r.BytesPerSecond = 1 << (16 + d.below(10))
			}
			set(t, n, Way(d.below(3)), r)
			time.Sleep(d.between(0, 2*time.Millisecond, 1)) // no condition: the rule acts for a while
		}
		heal(t, n)
		work.Wait()
		for i, err := range results {
			// Of a reset, the system tells only the first who asks: when that
			// was the writer at the same end, the reader sees the end of the stream.
			told := err == errShort && errors.Is(poured[1-i], syscall.ECONNRESET)
			if err != nil && !errors.Is(err, syscall.ECONNRESET) && !told {
				t.Errorf("round %d, way %d: %v (the writer there: %v)", round, i, err, poured[1-i])
			}
		}
		if results[0] == nil && results[1] == nil {
			whole++
		} else {
			cut++
		}
	}
	t.Logf("%d connections came through whole, %d were reset", whole, cut)
	if whole < 8 || cut < 8 {
		t.Errorf("%d connections came through whole, %d were reset; want at least 8 of each", whole, cut)
	}
}

// TestDropLeavesAHole: a connection that lost something is reset when the drop
// ends, even when it lost no more than the end of its stream; one that lost
// nothing goes on.
func TestDropLeavesAHole(t *testing.T) {
	ln := server(t)
	n := network(t, ln.Addr().String())
	lost, ended, idle := connect(t, n, ln), connect(t, n, ln), connect(t, n, ln)
	send(t, lost.from, "abc")
	receive(t, lost.to, "abc")
	set(t, n, Both, Rule{Kind: Drop})
	send(t, lost.from, "def")
	must(t, ended.to.CloseWrite())
	eventually(t, "the bytes are dropped", func() bool { return counter(n).DroppedForward == 3 })
	silent(t, ended.from)
	set(t, n, Forward, Rule{Kind: Pass}) // too early for those two: the other way still drops
	send(t, lost.from, "ghi")
	silent(t, lost.to)
	silent(t, lost.from)
	set(t, n, Forward, Rule{Kind: Drop})
	heal(t, n)
	for _, c := range []*net.TCPConn{lost.from, lost.to, ended.from, ended.to} {
		broken(t, c)
	}
	send(t, idle.from, "on")
	receive(t, idle.to, "on")
	if c := counter(n); c.Forward != 5 || c.DroppedForward != 6 || c.Resets != 2 {
		t.Errorf("%+v, want 5 bytes forward, 6 dropped, 2 resets", c)
	}
}

// TestDropTakesWhatIsOnTheWay: bytes that a delay or a stall holds are on the
// way; a drop takes them.
func TestDropTakesWhatIsOnTheWay(t *testing.T) {
	for _, holding := range []Rule{{Kind: Delay, Delay: time.Hour}, {Kind: Stall}} {
		ln := server(t)
		n := network(t, ln.Addr().String())
		p := connect(t, n, ln)
		set(t, n, Both, holding)
		send(t, p.from, "abc")
		silent(t, p.to)
		set(t, n, Both, Rule{Kind: Drop})
		eventually(t, "the held bytes are dropped", func() bool { return counter(n).DroppedForward == 3 })
		set(t, n, Both, holding) // no longer a drop, but no pass either
		broken(t, p.to)
		broken(t, p.from)
	}
}

// TestHealEndsADelay: what a delay still holds goes out when it ends.
func TestHealEndsADelay(t *testing.T) {
	ln := server(t)
	n := network(t, ln.Addr().String())
	p := connect(t, n, ln)
	set(t, n, Both, Rule{Kind: Delay, Delay: time.Hour})
	send(t, p.from, "abc")
	silent(t, p.to)
	set(t, n, Both, Rule{Kind: Throttle, BytesPerSecond: 1 << 20})
	receive(t, p.to, "abc")
}

// TestDropTakesAStuckWrite: bytes that wait for a receiver who does not read are
// not delivered after the drop has begun.
func TestDropTakesAStuckWrite(t *testing.T) {
	ln := server(t)
	n := network(t, ln.Addr().String())
	p := connect(t, n, ln)
	go pour(p.from, 64<<20)
	stuck(t, n)
	set(t, n, Forward, Rule{Kind: Drop})
	sent := counter(n).Forward
	got := make(chan int, 1)
	go func() {
		size, wrong, err := drain(p.to)
		if wrong != nil || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%v, %v; want a reset", wrong, err)
		}
		got <- size
	}()
	quiet(t, got, "the stream has ended within a drop")
	if c := counter(n); c.Forward != sent || c.DroppedForward == 0 {
		t.Errorf("%d bytes forwarded through a drop, %d dropped", c.Forward-sent, c.DroppedForward)
	}
	heal(t, n)
	if size := wait(t, got, "the receiver"); int64(size) > sent {
		t.Errorf("received %d bytes, %d were forwarded before the drop", size, sent)
	}
}

// TestEachWayApart: a rule for one way leaves the other alone.
func TestEachWayApart(t *testing.T) {
	for _, kind := range []Kind{Drop, Stall} {
		for _, way := range []Way{Forward, Backward} {
			t.Run(fmt.Sprint(kind, " ", way), func(t *testing.T) {
				ln := server(t)
				n := network(t, ln.Addr().String())
				p := connect(t, n, ln)
				cut, open := p, pair{p.to, p.from}
				if way == Backward {
					cut, open = open, cut
				}
				set(t, n, way, Rule{Kind: kind})
				send(t, cut.from, "abc")
				silent(t, cut.to)
				send(t, open.from, "defg")
				receive(t, open.to, "defg")
				want := Counter{Link: link, Dials: 1, Forward: 4}
				if kind == Drop {
					want.DroppedBackward = 3
				}
				if way == Forward {
					want.Forward, want.Backward = want.Backward, want.Forward
					want.DroppedForward, want.DroppedBackward = want.DroppedBackward, want.DroppedForward
				}
				eventually(t, "4 bytes went the open way and none the other", func() bool {
					c := counter(n)
					c.LastForwarded = time.Time{}
					return c == want
				})
				f, b := n.Rules(link)
				if (f.Kind == kind) != (way == Forward) || (b.Kind == kind) != (way == Backward) {
					t.Errorf("rules %v, %v", f, b)
				}
			})
		}
	}
}

// TestDialsWithinADrop: a dial gets through a drop of the answers, but not
// through one of what From sends.
func TestDialsWithinADrop(t *testing.T) {
	ln := server(t)
	n := network(t, ln.Addr().String())
	set(t, n, Backward, Rule{Kind: Drop})
	p := connect(t, n, ln)
	send(t, p.from, "abc")
	receive(t, p.to, "abc")
	send(t, p.to, "abc")
	silent(t, p.from)
	set(t, n, Backward, Rule{Kind: Pass})
	broken(t, p.from)
	set(t, n, Forward, Rule{Kind: Drop})
	c := dial(t, n)
	must(t, ln.SetDeadline(time.Now().Add(silence)))
	if _, err := ln.Accept(); err == nil {
		t.Error("a dial got through a drop")
	}
	heal(t, n)
	must(t, ln.SetDeadline(time.Now().Add(patience))) // nothing was lost: the dial is late, not broken
	to, err := ln.Accept()
	must(t, err)
	defer to.Close()
	send(t, c, "late")
	receive(t, to.(*net.TCPConn), "late")
}

// TestHalfClose: the end of one way is passed on, the other goes on.
func TestHalfClose(t *testing.T) {
	ln := server(t)
	n := network(t, ln.Addr().String())
	p := connect(t, n, ln)
	send(t, p.from, "question")
	must(t, p.from.CloseWrite())
	receive(t, p.to, "question")
	closed(t, p.to)
	send(t, p.to, "answer")
	receive(t, p.from, "answer")
	must(t, p.to.CloseWrite())
	closed(t, p.from)
	eventually(t, "the proxy lets go", func() bool { return len(n.Outgoing()) == 0 })
}

// TestResetIsPassedOn: when one end breaks, the other learns of it as of a
// reset, also when it finds out by writing only.
func TestResetIsPassedOn(t *testing.T) {
	ln := server(t)
	n := network(t, ln.Addr().String())
	p := connect(t, n, ln)
	abort(p.to)
	broken(t, p.from)
	q := connect(t, n, ln)
	abort(q.from)
	broken(t, q.to)
	r := connect(t, n, ln)
	must(t, r.from.Close()) // properly; but then the other end goes on sending
	closed(t, r.to)
	eventually(t, "writing to who is gone fails", func() bool {
		_, err := io.WriteString(r.to, "anybody?")
		return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	})
	eventually(t, "the proxy lets go", func() bool { return len(n.Outgoing()) == 0 })
	if c := counter(n); c.Resets != 0 {
		t.Errorf("%+v, want no reset by a rule", c)
	}
}

// TestResetDuringAWrite: the system tells of a reset once. When the proxy's
// writer is told, its reader must not take that for the proper end of the
// stream: it waits for the write to end. Here the write is told what to say.
func TestResetDuringAWrite(t *testing.T) {
	ln := server(t)
	n := network(t, ln.Addr().String())
	for _, err := range []error{syscall.ECONNRESET, nil} {
		p := connect(t, n, ln)
		proxy := n.proxies[link]
		proxy.mu.Lock()
		back := only(proxy.conns).pipes[backward]
		back.queue, back.held, back.writing = []chunk{{data: []byte("abc")}}, 3, true
		proxy.mu.Unlock()
		must(t, p.from.CloseWrite())
		silent(t, p.to)
		back.wrote(3, 0, err)
		if err != nil {
			broken(t, p.to)
			continue
		}
		closed(t, p.to)
		signal(back.wake)
		receive(t, p.from, "abc") // the rest of the write comes later
	}
}

func only(conns map[*conn]struct{}) (c *conn) {
	for c = range conns {
	}
	return c
}
