package faultnet

import (
	"slices"
	"time"
)

// ms is the grain of all times in a plan.
const ms = time.Millisecond

// planner collects the steps of a schedule.
type planner struct {
	t     Topology
	dice  *dice
	begin time.Duration // faults may begin
	end   time.Duration // faults have ended
	unit  time.Duration
	steps []Step
}

// rhythm is how long faults and the pauses between them last, in hundredths of
// a unit, from and to.
type rhythm struct{ fault, pause [2]int }

var (
	steady = rhythm{[2]int{80, 200}, [2]int{50, 100}}
	brief  = rhythm{[2]int{20, 50}, [2]int{20, 50}}
	dense  = rhythm{[2]int{50, 160}, [2]int{20, 80}}
	sparse = rhythm{[2]int{50, 160}, [2]int{60, 200}}
	outage = rhythm{[2]int{20, 50}, [2]int{80, 200}} // what is lost must have been written between two
)

// newPlanner lays out the time of a run: the unit is an eighth of it up to 8
// seconds, and grows slowly from there, up to 4 seconds.
func newPlanner(s Schedule) *planner {
	unit := s.Duration / 8
	if s.Duration > 8*time.Second {
		unit = min(4*time.Second, time.Second+(s.Duration-8*time.Second)/32)
	}
	return &planner{
		t:     s.Topology,
		dice:  newDice(s.Seed, "plan "+s.Profile),
		begin: (s.Duration/10 + ms - 1).Truncate(ms),
		end:   (s.Duration - s.Duration/10).Truncate(ms),
		unit:  unit,
	}
}

// share returns so many hundredths of a unit, at least a millisecond.
func (p *planner) share(hundredths int) time.Duration {
	return max(ms, (p.unit * time.Duration(hundredths) / 100).Truncate(ms))
}

// draw returns a duration between two shares.
func (p *planner) draw(r [2]int) time.Duration {
	return p.dice.between(p.share(r[0]), p.share(r[1]), ms)
}

// fill lays faults one after the other over the time there is. A last one that
// would end too late is shortened, or left out when it would get too short.
func (p *planner) fill(r rhythm, fault func(at, length time.Duration)) {
	at := p.begin + p.dice.between(0, p.share(r.pause[0]), ms)
	for {
		length := min(p.draw(r.fault), p.end-at)
		if length < p.share(r.fault[0]) {
			return
		}
		fault(at, length)
		at += length + p.draw(r.pause)
	}
}

func (p *planner) add(s Step) { p.steps = append(p.steps, s) }

// links adds a fault of links, in their order.
func (p *planner) links(at, length time.Duration, kind Kind, way Way, links []Link) {
	slices.SortFunc(links, Link.Compare)
	p.add(Step{At: at, For: length, Kind: kind, Way: way, Links: links})
}

// nodes adds a fault of nodes.
func (p *planner) nodes(at, length time.Duration, kind Kind, nodes ...string) {
	slices.Sort(nodes)
	p.add(Step{At: at, For: length, Kind: kind, Nodes: nodes})
}

// across lists the links from nodes of a to nodes of b.
func across(a, b []string) (links []Link) {
	for _, from := range a {
		for _, to := range b {
			links = append(links, Link{from, to})
		}
	}
	return links
}

// cut parts a from b, both ways.
func (p *planner) cut(at, length time.Duration, kind Kind, a, b []string) {
	p.links(at, length, kind, Both, append(across(a, b), across(b, a)...))
}

// around lists the links from and to a node, or the leader.
func around(node string) []Link { return []Link{{node, Every}, {Every, node}} }

// anyNode returns a node by chance.
func (p *planner) anyNode() string { return p.t.Nodes[p.dice.below(len(p.t.Nodes))] }

// victim returns the leader every other time, otherwise any node.
func (p *planner) victim() string {
	if p.dice.below(2) == 0 {
		return Leader
	}
	return p.anyNode()
}

func (p *planner) halves()        { p.fill(steady, p.halve) }
func (p *planner) isolateOne()    { p.fill(steady, p.isolate) }
func (p *planner) isolateLeader() { p.fill(steady, p.dethrone) }
func (p *planner) majorityRing()  { p.fill(steady, p.ring) }
func (p *planner) bridge()        { p.fill(steady, p.span) }
func (p *planner) oneWay()        { p.fill(steady, p.deafen) }
func (p *planner) flaky()         { p.fill(brief, p.flake) }
func (p *planner) refuse()        { p.fill(steady, p.turnAway) }
func (p *planner) pause()         { p.fill(steady, p.stop) }
func (p *planner) kill()          { p.fill(steady, p.slay) }
func (p *planner) killAll()       { p.fill(outage, p.slayAll) }

func (p *planner) halve(at, length time.Duration) {
	s := p.dice.shuffled(p.t.Nodes)
	p.cut(at, length, Drop, s[:len(s)/2], s[len(s)/2:])
}

func (p *planner) isolate(at, length time.Duration) {
	p.links(at, length, Drop, Both, around(p.anyNode()))
}

func (p *planner) dethrone(at, length time.Duration) {
	p.links(at, length, Drop, Both, around(Leader))
}

// ring seats the nodes in a circle; each hears its nearest neighbours on both
// sides, as few as make a majority with itself. Three nodes would all hear each
// other; there one of the three pairs is cut, and {a,b}, {a,b,c}, {b,c} are
// three majorities.
func (p *planner) ring(at, length time.Duration) {
	s := p.dice.shuffled(p.t.Nodes)
	n := len(s)
	reach := (n/2 + 1) / 2 // 2*reach+1 >= n/2+1
	var links []Link
	for i := range s {
		for j := range s {
			gap := (j - i + n) % n
			apart := gap > reach && n-gap > reach
			if n == 3 {
				apart = i+j == 1 // the first and the second
			}
			if apart {
				links = append(links, Link{s[i], s[j]})
			}
		}
	}
	p.links(at, length, Drop, Both, links)
}

func (p *planner) span(at, length time.Duration) {
	s := p.dice.shuffled(p.t.Nodes)
	rest := s[1:] // s[0] is the bridge
	p.cut(at, length, Drop, rest[:len(rest)/2], rest[len(rest)/2:])
}

// deafen loses what some nodes send to the others: on the connections that they
// open, and on those that the others open to them.
func (p *planner) deafen(at, length time.Duration) {
	s := p.dice.shuffled(p.t.Nodes)
	k := 1 + p.dice.below(len(s)-1)
	p.links(at, length, Drop, Forward, across(s[:k], s[k:]))
	p.links(at, length, Drop, Backward, across(s[k:], s[:k]))
}

// flake troubles one to three links between nodes, or one of a client.
func (p *planner) flake(at, length time.Duration) {
	links, few := p.t.Peers(), 1+p.dice.below(3)
	if clients := p.t.ClientLinks(); len(clients) > 0 && (len(links) == 0 || p.dice.below(4) == 0) {
		links, few = clients, 1
	}
	if len(links) == 0 {
		return
	}
	var some []Link
	for len(some) < min(few, len(links)) {
		some = appendNew(some, links[p.dice.below(len(links))])
	}
	kind := []Kind{Delay, Delay, Drop, Stall, Reset}[p.dice.below(5)]
	way := Both
	if kind != Reset {
		way = []Way{Both, Forward, Backward}[p.dice.below(3)]
	}
	p.links(at, length, kind, way, some)
	if kind == Delay {
		s := &p.steps[len(p.steps)-1]
		s.Delay = p.dice.between(10*ms, 100*ms, ms)
		s.Jitter = p.dice.between(0, 50*ms, ms)
	}
}

// turnAway refuses dials to a node, or from it, or for a moment of a client.
func (p *planner) turnAway(at, length time.Duration) {
	clients := p.t.ClientLinks()
	node := p.anyNode()
	switch way := p.dice.below(3); {
	case len(clients) > 0 && (way == 2 || len(p.t.Nodes) == 1):
		l := clients[p.dice.below(len(clients))]
		p.links(at, min(length, p.share(50)), Refuse, Both, []Link{l})
	case len(p.t.Nodes) == 1:
	case way == 0:
		p.links(at, length, Refuse, Both, []Link{{node, Every}})
	default:
		p.links(at, length, Refuse, Both, []Link{{Every, node}})
	}
}

func (p *planner) stop(at, length time.Duration) {
	p.nodes(at, length, Pause, p.victim())
}

// slay kills any node, the leader, or (one time in four) a majority at once.
func (p *planner) slay(at, length time.Duration) {
	n := len(p.t.Nodes)
	switch k := p.dice.below(4); {
	case k == 0 && n > 2:
		p.nodes(at, length, Kill, p.dice.shuffled(p.t.Nodes)[:n/2+1]...)
	case k == 1:
		p.nodes(at, length, Kill, Leader)
	default:
		p.nodes(at, length, Kill, p.anyNode())
	}
}

// slayAll kills all nodes: whatever none of them had on its disk is gone.
func (p *planner) slayAll(at, length time.Duration) {
	p.nodes(at, length, Kill, slices.Clone(p.t.Nodes)...)
}

// hammer cuts off the same node again and again.
func (p *planner) hammer() {
	node := p.anyNode()
	p.fill(brief, func(at, length time.Duration) {
		p.links(at, length, Drop, Both, around(node))
	})
}

// clock sets clocks wrong. A wrong clock by itself changes no leader, so every
// other time the node is also cut off, within the time that its clock is wrong.
func (p *planner) clock() {
	turn := p.dice.below(2)
	p.fill(steady, func(at, length time.Duration) {
		node := p.skew(at, length)
		if turn++; turn%2 == 0 && len(p.t.Nodes) > 1 {
			p.links(at+(length/5).Truncate(ms), (length * 3 / 5).Truncate(ms), Drop, Both, around(node))
		}
	})
}

// skew sets the clock of a node wrong by 0.1 to 2 s and returns the node.
func (p *planner) skew(at, length time.Duration) string {
	node := p.victim()
	p.nodes(at, length, Clock, node)
	offset := p.dice.between(100*ms, 2*time.Second, ms)
	if p.dice.below(2) == 0 {
		offset = -offset
	}
	p.steps[len(p.steps)-1].Offset = offset
	return node
}

// chaos lays two rows of faults over each other: of links and of nodes. Within a
// row one ends before the next begins, so that no two meet on a link or a node.
func (p *planner) chaos() {
	p.fill(dense, func(at, length time.Duration) {
		faults := p.linkFaults()
		faults[p.dice.below(len(faults))](at, length)
	})
	p.fill(sparse, func(at, length time.Duration) {
		switch p.dice.below(3) {
		case 0:
			p.stop(at, length)
		case 1:
			p.slay(at, length)
		default:
			p.skew(at, length)
		}
	})
}

// linkFaults lists what chaos does to links, as far as there are nodes enough.
func (p *planner) linkFaults() []func(at, length time.Duration) {
	short := func(fault func(at, length time.Duration)) func(at, length time.Duration) {
		return func(at, length time.Duration) { fault(at, min(length, p.share(50))) }
	}
	faults := []func(at, length time.Duration){short(p.flake), short(p.flake), p.turnAway}
	if len(p.t.Nodes) > 1 {
		faults = append(faults, p.halve, p.isolate, p.dethrone, p.deafen, p.choke, p.sever)
	}
	if len(p.t.Nodes) > 2 {
		faults = append(faults, p.ring, p.span)
	}
	return faults
}

// choke makes all links of a node slow.
func (p *planner) choke(at, length time.Duration) {
	p.links(at, length, Throttle, Both, around(p.anyNode()))
	p.steps[len(p.steps)-1].BytesPerSecond = int64(1+p.dice.below(64)) << 10
}

// sever cuts off a node loudly: its connections are reset, or stall.
func (p *planner) sever(at, length time.Duration) {
	p.links(at, length, []Kind{Reset, Stall}[p.dice.below(2)], Both, around(p.anyNode()))
}
