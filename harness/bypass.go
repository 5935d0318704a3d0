package harness

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bypassEvery is how often the table of connections is read during a run.
const bypassEvery = 300 * time.Millisecond

// watchBypass reads the table of connections until the returned function is
// called, which says whether any connection to a node did not come from a
// proxy. Every run is watched: a store that finds its peers some other way would
// make each fault a fiction.
func watchBypass(c *cluster) (end func() error) {
	stop, found := make(chan struct{}), make(chan error, 1)
	go func() {
		suspects := map[string]bool{}
		for {
			now, err := strangers(c)
			if err != nil {
				found <- err
				return
			}
			for _, s := range now {
				// One reading may fall between the table and the list of the
				// proxies' own; what is there twice in a row is not young.
				if suspects[s] {
					found <- fmt.Errorf("%w: %s", ErrBypass, s)
					return
				}
			}
			suspects = setOf(now)
			select {
			case <-stop:
				found <- nil
				return
			case <-time.After(bypassEvery):
			}
		}
	}()
	return func() error {
		close(stop)
		return <-found
	}
}

func setOf(list []string) map[string]bool {
	return maps.Collect(func(yield func(string, bool) bool) {
		for _, s := range list {
			if !yield(s, true) {
				return
			}
		}
	})
}

// strangers are the established connections to nodes that no proxy holds, as
// "FROM to NODE".
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
	var list []string
	for _, e := range table {
		if id, ok := listens[e.remote]; ok && !slices.Contains(proxies, e.local) {
			list = append(list, e.local+" to "+id)
		}
	}
	return list, nil
}

// connection is an established one, seen from one of its ends.
type connection struct{ local, remote string }

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
		if len(fields) < 4 || fields[3] != "01" { // 01: established
			continue
		}
		local, okLocal := tableAddress(fields[1])
		remote, okRemote := tableAddress(fields[2])
		if okLocal && okRemote {
			list = append(list, connection{local, remote})
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
