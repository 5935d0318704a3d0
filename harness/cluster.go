package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"pinyon/faultnet"
)

// admin is the name under which the harness itself speaks to nodes: through
// links that no fault touches.
const admin = "admin"

// cluster is the running store: a process for each node and a proxy for each
// link.
type cluster struct {
	target  Target
	network *faultnet.Network
	topo    faultnet.Topology
	spawner *spawner
	dir     string
	held    []io.Closer // the ports of the nodes

	mutex  sync.Mutex
	nodes  map[string]*node
	frozen bool                        // for inspection: nothing moves any node again
	probed map[faultnet.Link]time.Time // when the last probe of a link ended
}

// node is one node and its process.
type node struct {
	spec    NodeSpec
	process *process
	log     *os.File
	paused  bool
}

// newCluster opens every proxy, so that addresses are known before anything
// starts.
func newCluster(target Target, topo faultnet.Topology, dir string, seed uint64) (*cluster, error) {
	c := &cluster{target: target, network: faultnet.New(seed), topo: topo, spawner: newSpawner(), dir: dir, nodes: map[string]*node{},
		probed: map[faultnet.Link]time.Time{}}
	links := append(topo.Peers(), topo.ClientLinks()...)
	for _, n := range topo.Nodes {
		links = append(links, faultnet.Link{From: admin, To: n})
	}
	for _, l := range links {
		if _, err := c.network.Open(l); err != nil {
			return c, fmt.Errorf("proxy of %s: %w", l, err)
		}
	}
	for _, id := range topo.Nodes {
		held, address, err := reserve()
		if err != nil {
			return c, err
		}
		c.held = append(c.held, held)
		spec := NodeSpec{ID: id, Listen: address, Dir: filepath.Join(dir, "data-"+id), Nodes: topo.Nodes, Peers: map[string]string{}}
		for _, p := range topo.Nodes {
			if p != id {
				spec.Peers[p] = c.network.Addr(faultnet.Link{From: id, To: p})
			}
		}
		if err := os.MkdirAll(spec.Dir, 0o755); err != nil {
			return c, err
		}
		log, err := os.OpenFile(filepath.Join(dir, "node-"+id+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return c, err
		}
		c.nodes[id] = &node{spec: spec, log: log}
		c.network.Aim(id, address)
	}
	return c, nil
}

// addresses are those of all nodes, through the admin's links.
func (c *cluster) addresses() map[string]string {
	m := map[string]string{}
	for _, id := range c.topo.Nodes {
		m[id] = c.network.Addr(faultnet.Link{From: admin, To: id})
	}
	return m
}

// start starts every node and waits until all answer.
func (c *cluster) start(ctx context.Context) error {
	for _, id := range c.topo.Nodes {
		if err := c.launch(id); err != nil {
			return err
		}
	}
	for _, id := range c.topo.Nodes {
		if err := c.await(ctx, id); err != nil {
			return err
		}
	}
	if err := c.target.Bootstrap(ctx, c.addresses()); err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	if err := c.probeAll(ctx); err != nil {
		return err
	}
	// Whoever had taken the port of a node that could not start may have answered for it.
	for _, id := range c.topo.Nodes {
		if !c.process(id).alive() {
			return c.ended(id)
		}
	}
	return nil
}

// ended is the error that the process of a node has ended by itself, with what
// it said last.
func (c *cluster) ended(id string) error {
	path := filepath.Join(c.dir, "node-"+id+".log")
	text, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Errorf("node %s ended: %v: %s; see %s", id, c.process(id).err, lines[len(lines)-1], path)
}

// probeAll has one exchange over every link: a probe that cannot succeed would
// take every silence for a fault.
func (c *cluster) probeAll(ctx context.Context) error {
	links := append(c.topo.Peers(), c.topo.ClientLinks()...)
	errs := make([]error, len(links))
	var wg sync.WaitGroup
	turns := make(chan struct{}, 16)
	for i, l := range links {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			for tries := 0; tries < 3; tries++ { // a slow machine is no dead link
				if errs[i] = c.ping(ctx, l, 2*time.Second); errs[i] == nil || ctx.Err() != nil {
					return
				}
			}
			errs[i] = fmt.Errorf("a probe of the healthy link %s does not pass: %w", l, errs[i])
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// launch starts the process of a node, on the data that it has.
func (c *cluster) launch(id string) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	n := c.nodes[id]
	if c.frozen {
		return fmt.Errorf("node %s: the store is frozen", id)
	}
	command, err := c.target.Command(n.spec)
	if err != nil {
		return fmt.Errorf("node %s: %w", id, err)
	}
	fmt.Fprintf(n.log, "-- %s starts\n", id)
	fresh, err := c.spawner.start(command, n.log)
	if err != nil {
		return fmt.Errorf("node %s: %w", id, err) // it keeps the process that has ended
	}
	n.process, n.paused = fresh, false
	return nil
}

// await waits until a node answers, or has ended.
func (c *cluster) await(ctx context.Context, id string) error {
	var last error
	for ctx.Err() == nil {
		last = c.ping(ctx, faultnet.Link{From: admin, To: id}, time.Second)
		switch {
		case !c.process(id).alive():
			return c.ended(id)
		case last == nil:
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("node %s does not answer (%v); see %s", id, last, filepath.Join(c.dir, "node-"+id+".log"))
}

// ping has one exchange over a link.
func (c *cluster) ping(ctx context.Context, l faultnet.Link, limit time.Duration) error {
	address := c.network.Addr(l)
	if address == "" {
		return fmt.Errorf("link %s has no address", l)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() {
		c.mutex.Lock()
		c.probed[l] = time.Now()
		c.mutex.Unlock()
	}()
	return c.target.Ping(ctx, address)
}

// used are the links that carried bytes shortly before, beside those of probes.
func (c *cluster) used() map[faultnet.Link]bool {
	counters := c.network.Counters()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	m := map[faultnet.Link]bool{}
	for _, n := range counters {
		// The last bytes of a probe are counted just after it has ended.
		own := n.LastForwarded.Before(c.probed[n.Link].Add(probeTail))
		m[n.Link] = !n.LastForwarded.IsZero() && !own && time.Since(n.LastForwarded) < busyWithin
	}
	return m
}

// leader asks who leads.
func (c *cluster) leader(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return c.target.Leader(ctx, c.addresses())
}

// kill ends the process of a node. Nobody waits for its end with the mutex held,
// so that all nodes can be killed at one instant. Until it is started again its
// links refuse dials, as a dead node does: a link that took them would leave
// everybody who dials without an answer, where there is no doubt.
func (c *cluster) kill(id string) error {
	c.network.Aim(id, "")
	return c.process(id).kill()
}

// process is that of a node: of now, a restart gives it another.
func (c *cluster) process(id string) *process {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.nodes[id].process
}

// restart starts a node that was killed and waits until it answers.
func (c *cluster) restart(ctx context.Context, id string) error {
	if err := c.launch(id); err != nil {
		return err
	}
	c.network.Aim(id, c.nodes[id].spec.Listen)
	err := c.await(ctx, id)
	if !c.process(id).alive() {
		c.network.Aim(id, "") // its port may be another's now
	}
	return err
}

func (c *cluster) pause(id string) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.nodes[id].paused = true
	return c.nodes[id].process.pause()
}

func (c *cluster) resume(id string) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	n := c.nodes[id]
	if !n.paused || c.frozen {
		return nil
	}
	n.paused = false
	return n.process.resume()
}

// pids are the processes of the nodes, for people.
func (c *cluster) pids() map[string]int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	m := map[string]int{}
	for id, n := range c.nodes {
		if n.process != nil {
			m[id] = n.process.pid()
		}
	}
	return m
}

// stopped reports whether the store is frozen.
func (c *cluster) stopped() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.frozen
}

// freeze stops every node where it is.
func (c *cluster) freeze() (err error) {
	c.mutex.Lock()
	c.frozen = true
	c.mutex.Unlock()
	for _, id := range c.topo.Nodes {
		err = errors.Join(err, c.pause(id))
	}
	return err
}

// close ends every process and every link, whatever fails on the way.
func (c *cluster) close() (err error) {
	var wg sync.WaitGroup
	errs := make([]error, len(c.topo.Nodes))
	for i, id := range c.topo.Nodes {
		c.mutex.Lock()
		n := c.nodes[id]
		c.mutex.Unlock()
		if n == nil {
			continue
		}
		wg.Go(func() {
			if n.process != nil {
				errs[i] = n.process.stop()
			}
			errs[i] = errors.Join(errs[i], n.log.Close())
		})
	}
	wg.Wait()
	err = errors.Join(errs...)
	err = errors.Join(err, c.network.Close())
	for _, h := range c.held {
		err = errors.Join(err, h.Close())
	}
	c.spawner.close()
	return err
}
