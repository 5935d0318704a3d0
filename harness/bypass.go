package harness

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bypassEvery is how often the table of connections is read during a run.
const bypassEvery = 300 * time.Millisecond

// bypassSightings is in how many readings in a row a connection must stand: a
// proxy that was held up may not have listed a young one as its own yet.
const bypassSightings = 4

// watchBypass reads the table of connections until the returned function is
// called, which says whether any connection to a node did not come from a
// proxy. Every run is watched: a store that finds its peers some other way would
// make each fault a fiction.
func watchBypass(c *cluster) (end func() error) {
	stop, found := make(chan struct{}), make(chan error, 1)
	go func() {
		seen := map[string]int{} // readings in a row
		ending := false
		for {
			err := sight(c, seen)
			if err != nil || ending && len(seen) == 0 {
				found <- err
				return
			}
			select {
			case <-stop: // whoever is under suspicion now is looked at again
				ending = true
				time.Sleep(bypassEvery / 4)
			case <-time.After(bypassEvery):
			}
		}
	}()
	return func() error {
		close(stop)
		return <-found
	}
}

// sight reads the table once and counts on.
func sight(c *cluster, seen map[string]int) error {
	now, err := strangers(c)
	if err != nil {
		return err
	}
	for s := range seen {
		if !slices.Contains(now, s) {
			delete(seen, s)
		}
	}
	for _, s := range now {
		if seen[s]++; seen[s] >= bypassSightings {
			return fmt.Errorf("%w: %s", ErrBypass, s)
		}
	}
	return nil
}

// strangers are the established connections that no proxy holds, to the address
// of a node or between two processes of the store, as "FROM to NODE".
func strangers(c *cluster) ([]string, error) {
	table, err := connections("/proc/net/tcp")
	if err != nil {
		return nil, err
	}
	listens := map[string]string{}
	for _, id := range c.topo.Nodes {
		listens[c.nodes[id].spec.Listen] = id
	}
	proxies := c.network.Outgoing()
	owners := c.sockets()
	ends := map[string]string{} // the node at an end of a connection
	for _, e := range table {
		if id, ok := owners[e.inode]; ok {
			ends[e.local] = id
		}
	}
	var list []string
	for _, e := range table {
		id, ok := listens[e.remote]
		switch {
		case ok && !slices.Contains(proxies, e.local):
			list = append(list, e.local+" to "+id)
		case !ok && listens[e.local] == "" && ends[e.local] != "" && ends[e.remote] != "" && ends[e.local] != ends[e.remote]:
			list = append(list, e.local+" of "+ends[e.local]+" to "+ends[e.remote]) // at a port of its own
		}
	}
	return list, nil
}

// sockets are the sockets of the nodes' processes, by number: of all that are
// in a node's group.
func (c *cluster) sockets() map[string]string {
	nodes := map[string]string{}
	for id, pid := range c.pids() {
		nodes[strconv.Itoa(pid)] = id
	}
	owners := map[string]string{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, _ := os.ReadFile(path) // of one that has ended meanwhile: nothing
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) < 3 || nodes[fields[2]] == "" { // state, parent, group
			continue
		}
		files, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "fd", "*"))
		for _, f := range files {
			link, _ := os.Readlink(f)
			if inode, ok := strings.CutPrefix(link, "socket:["); ok {
				owners[strings.TrimSuffix(inode, "]")] = nodes[fields[2]]
			}
		}
	}
	return owners
}

// connection is an established one, seen from one of its ends.
type connection struct{ local, remote, inode string }

// connections reads a table of connections as the kernel prints it (man 5
// proc): addresses in hexadecimal, the bytes of the IPv4 address in host order.
func connections(path string) ([]connection, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the table of connections: %w", err)
	}
	defer f.Close()
	var list []connection
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 || fields[3] != "01" { // 01: established
			continue
		}
		local, okLocal := tableAddress(fields[1])
		remote, okRemote := tableAddress(fields[2])
		if okLocal && okRemote {
			list = append(list, connection{local, remote, fields[9]})
		}
	}
	return list, lines.Err()
}

// tableAddress reads 0100007F:1F90 as 127.0.0.1:8080.
func tableAddress(text string) (string, bool) {
	host, port, ok := strings.Cut(text, ":")
	b, err := hex.DecodeString(host)
	n, bad := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil || bad != nil || len(b) != 4 {
		return "", false
	}
	return fmt.Sprintf("%d.%d.%d.%d:%d", b[3], b[2], b[1], b[0], n), true
}
