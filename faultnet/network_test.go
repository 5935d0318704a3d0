package faultnet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestCountersAreExact: every byte is counted, on its link and its way, by the
// time that the other end has it and has answered.
func TestCountersAreExact(t *testing.T) {
	start := time.Now()
	ln := server(t)
	n := network(t, ln.Addr().String())
	other := Link{"c1", "n2"}
	_, err := n.Open(other)
	must(t, err)
	if got := n.Counters(); len(got) != 2 || got[0] != (Counter{Link: other}) || got[1] != (Counter{Link: link}) {
		t.Fatalf("%+v, want two counters at zero, c1>n2 first", got)
	}
	p := connect(t, n, ln)
	want := Counter{Link: link, Dials: 1}
	for i := range 200 {
		there, back := strings.Repeat("x", 1+i%7*11), strings.Repeat("y", 1+i%5*13)
		send(t, p.from, there)
		receive(t, p.to, there)
		send(t, p.to, back)
		receive(t, p.from, back)
		want.Forward += int64(len(there))
		want.Backward += int64(len(back))
	}
	set(t, n, Both, Rule{Kind: Drop})
	send(t, p.from, "lost")
	send(t, p.to, "gone too")
	want.DroppedForward, want.DroppedBackward = 4, 8
	var got Counter
	eventually(t, "the counters are exact", func() bool {
		got = n.Counters()[1]
		last := got.LastForwarded
		got.LastForwarded = time.Time{}
		return got == want && last.After(start) && last.Before(time.Now())
	})
	if c := n.Counters()[0]; c != (Counter{Link: other}) {
		t.Errorf("%+v: the other link has moved", c)
	}
	text, err := json.Marshal(got)
	if want := fmt.Sprintf(`{"link":"n1\u003en2","dials":1,"refused":0,"resets":0,"forward":%d,"backward":%d,"dropped_forward":4,"dropped_backward":8}`, want.Forward, want.Backward); err != nil || string(text) != want {
		t.Errorf("%s, %v\nwant %s", text, err, want)
	}
}

// TestHealAllTriesEveryLink: a link that cannot listen again does not keep the
// others from healing, nor later attempts from helping it.
func TestHealAllTriesEveryLink(t *testing.T) {
	g := newGate(t)
	n := network(t, g.addr())
	links := []Link{{"a1", "n2"}, {"a2", "n2"}, link, {"z", "n2"}}
	jammed := errors.New("jammed")
	for i, l := range links {
		_, err := n.Open(l)
		must(t, err)
		must(t, n.Set(l, Both, Rule{Kind: Refuse}))
		if i%2 == 0 {
			n.proxies[l].listen = func() (net.Listener, error) { return nil, jammed }
		}
	}
	err := n.HealAll()
	if !errors.Is(err, jammed) || strings.Count(err.Error(), "jammed") != 2 || !strings.Contains(err.Error(), "a1>n2") || !strings.Contains(err.Error(), "n1>n2") {
		t.Errorf("%v; want the errors of a1>n2 and n1>n2", err)
	}
	for i, l := range links {
		c, err := net.Dial("tcp4", n.Addr(l))
		if err == nil {
			c.Close()
		}
		if (err != nil) != (i%2 == 0) {
			t.Errorf("%v: dial: %v", l, err)
		}
		n.proxies[l].listen = n.proxies[l].port.listen
	}
	must(t, n.HealAll())
	works(t, n, g)
}

// TestOutgoing: the established connections to the target, as the operating
// system lists them, are exactly those that the proxies say are theirs.
func TestOutgoing(t *testing.T) {
	if _, err := os.Stat("/proc/net/tcp"); err != nil {
		t.Skip("no table of connections:", err)
	}
	ln := server(t)
	n := network(t, ln.Addr().String())
	for range 3 {
		connect(t, n, ln)
	}
	table, err := os.ReadFile("/proc/net/tcp")
	must(t, err)
	var established []string
	for _, line := range strings.Split(string(table), "\n")[1:] {
		if f := strings.Fields(line); len(f) > 3 && f[3] == "01" && port16(f[2]) == ln.Addr().(*net.TCPAddr).Port {
			established = append(established, fmt.Sprintf("127.0.0.1:%d", port16(f[1])))
		}
	}
	slices.Sort(established)
	if got := n.Outgoing(); !slices.Equal(got, established) || len(got) != 3 {
		t.Errorf("proxies say %v, the system %v; want three, the same", got, established)
	}
	set(t, n, Both, Rule{Kind: Reset})
	if got := n.Outgoing(); len(got) != 0 {
		t.Errorf("after a reset: %v", got)
	}
}

// port16 reads the port of an address in /proc/net/tcp.
func port16(addr string) int {
	_, hex, _ := strings.Cut(addr, ":")
	n, _ := strconv.ParseUint(hex, 16, 16)
	return int(n)
}

// TestCloseEndsEverything: whatever is going on, in whatever state.
func TestCloseEndsEverything(t *testing.T) {
	ln := server(t)
	for _, r := range []Rule{{}, {Kind: Delay, Delay: time.Hour}, {Kind: Drop}, {Kind: Stall}, {Kind: Refuse}, {Kind: Throttle, BytesPerSecond: 1}, {Kind: Reset}} {
		n := network(t, ln.Addr().String()) // its end looks for goroutines
		var ends []*net.TCPConn
		for range 3 {
			p := connect(t, n, ln)
			ends = append(ends, p.from, p.to)
			go pour(p.from, 32<<20)
			go pour(p.to, 32<<20)
		}
		eventually(t, "bytes flow", func() bool { return counter(n).Forward > 1<<20 })
		set(t, n, Both, r)
		if r.Kind != Refuse && r.Kind != Reset {
			dial(t, n)
		}
		must(t, n.Close())
		for _, c := range ends {
			if _, _, err := drain(c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("%s: %v", r.Kind, err)
			}
		}
		must(t, n.Close())
		if _, err := n.Open(Link{"n3", "n2"}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("open after Close: %v", err)
		}
		if err := n.Heal(link); !errors.Is(err, net.ErrClosed) {
			t.Errorf("heal after Close: %v", err)
		}
		if _, err := net.Dial("tcp4", n.Addr(link)); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial after Close: %v", err)
		}
		if c := counter(n); c.Forward <= 1<<20 || len(n.Outgoing()) != 0 {
			t.Errorf("after Close: %+v, %v", c, n.Outgoing())
		}
	}
}

// TestAllAtOnce calls everything from everywhere while clients come and go; the
// race detector and the end of the test look on.
func TestAllAtOnce(t *testing.T) {
	ln := server(t)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				io.Copy(c, c)
			}()
		}
	}()
	n := network(t, ln.Addr().String())
	end := time.Now().Add(700 * time.Millisecond)
	var work sync.WaitGroup
	for i := range 4 {
		work.Go(func() {
			d := newDice(uint64(i), "rules")
			for time.Now().Before(end) {
				kind := linkKinds[d.below(len(linkKinds))]
				r := Rule{Kind: kind}
				if kind == Delay {
					r.Jitter = time.Millisecond
				} else if kind == Throttle {
					r.BytesPerSecond = 1 << 20
				}
				if err := n.Set(link, Way(d.below(3)), r); err != nil {
					t.Error(err)
				}
				n.Aim(link.To, []string{"", ln.Addr().String(), ln.Addr().String()}[d.below(3)])
				n.Counters()
				n.Outgoing()
				time.Sleep(d.between(0, 4*time.Millisecond, 1))
			}
		})
		work.Go(func() {
			d := newDice(uint64(i), "clients")
			for time.Now().Before(end) {
				c, err := net.DialTimeout("tcp4", n.Addr(link), time.Second)
				if err != nil {
					continue
				}
				c.SetDeadline(time.Now().Add(d.between(0, 20*time.Millisecond, 1)))
				io.WriteString(c, "hello")
				io.ReadAll(c)
				c.Close()
			}
		})
	}
	work.Wait()
	n.Aim(link.To, ln.Addr().String())
	must(t, n.HealAll())
	c := dial(t, n)
	send(t, c, "hello")
	receive(t, c, "hello")
	if c := counter(n); c.Resets == 0 || c.DroppedForward == 0 || c.Backward == 0 {
		t.Errorf("%+v: hardly anything happened", c)
	}
	work.Go(func() { n.Close() })
	work.Go(func() { n.HealAll() })
	work.Go(func() { n.Aim(link.To, "") })
	work.Wait()
}

// TestRefusesNonsense: wrong calls say what was wrong and what was expected.
func TestRefusesNonsense(t *testing.T) {
	n := network(t, "")
	for _, c := range []struct {
		link Link
		way  Way
		rule Rule
		want string
	}{
		{Link{"n1", "n9"}, Both, Rule{Kind: Drop}, "faultnet: set n1>n9: no such link; open it first"},
		{link, Both, Rule{Kind: "cut"}, `faultnet: set n1>n2: unknown kind "cut"; expected one of pass, delay, drop, stall, reset, refuse, throttle`},
		{link, Both, Rule{Kind: Kill}, "kill is a fault of nodes; a link takes one of pass, delay, drop, stall, reset, refuse, throttle"},
		{link, 3, Rule{Kind: Drop}, "Way(3) is no way; expected both, forward or backward"},
		{link, Both, Rule{Kind: Delay}, "delay and jitter are both 0; expected at least one above"},
		{link, Both, Rule{Kind: Delay, Delay: 1, Jitter: -1}, "expected none below 0"},
		{link, Both, Rule{Kind: Drop, Delay: 1}, "drop: takes neither delay nor jitter"},
		{link, Both, Rule{Kind: Throttle}, "throttle: 0 bytes per second: expected at least 1"},
		{link, Both, Rule{BytesPerSecond: 1}, "takes no bytes per second"},
	} {
		if err := n.Set(c.link, c.way, c.rule); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %v %+v: %v\nwant %s", c.link, c.way, c.rule, err, c.want)
		}
	}
	for _, l := range []Link{{"", "n1"}, {"n1", ""}, {"n1", "n1"}, {"a>b", "n1"}, {"a b", "n1"}, {"\xff", "n1"}} {
		if addr, err := n.Open(l); err == nil {
			t.Errorf("open %q: %s", l, addr)
		}
	}
	if f, b := n.Rules(link); f != (Rule{Kind: Pass}) || b != f {
		t.Errorf("rules %v, %v; want pass", f, b)
	}
	again, err := n.Open(link)
	if err != nil || again != n.Addr(link) || again == "" {
		t.Errorf("opened again: %q, %v; want %q", again, err, n.Addr(link))
	}
	if got := n.Addr(Link{"n1", "n9"}); got != "" {
		t.Errorf("the address of no link: %q", got)
	}
}

// TestLinkText: links and ways are text in JSON, as keys too.
func TestLinkText(t *testing.T) {
	in := map[Link]Way{{"c3", "n1"}: Backward, {"n1", "n2"}: Both}
	text, err := json.Marshal(in)
	if want := `{"c3\u003en1":"backward","n1\u003en2":"both"}`; err != nil || string(text) != want {
		t.Fatalf("%s, %v", text, err)
	}
	var out map[Link]Way
	must(t, json.Unmarshal(text, &out))
	if len(out) != 2 || out[Link{"c3", "n1"}] != Backward {
		t.Errorf("read back %v", out)
	}
	for _, bad := range []string{"", "n1", "n1>", ">n1", "n1>n1", "n1>n2>n3", "n1 >n2"} {
		if l, err := ParseLink(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, l)
		}
	}
	if err := new(Way).UnmarshalText([]byte("Forward")); err == nil {
		t.Error("a way in capitals is read")
	}
}

// TestJitterComesFromTheSeed: the same connection of the same link waits the
// same under the same seed, and differently under another.
func TestJitterComesFromTheSeed(t *testing.T) {
	waits := func(seed uint64) (w []time.Duration) {
		p := &proxy{link: link, seed: seed}
		q := newConn(p, nil).pipes[backward]
		for range 5 {
			w = append(w, q.dice.between(0, time.Second, 1))
		}
		return w
	}
	if a, b := waits(7), waits(7); !slices.Equal(a, b) {
		t.Errorf("seed 7 gives %v and %v", a, b)
	}
	if a, b := waits(7), waits(8); slices.Equal(a, b) {
		t.Errorf("seeds 7 and 8 both give %v", a)
	}
}
