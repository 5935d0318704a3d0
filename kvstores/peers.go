package kvstores

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"
)

// Peers reaches the other nodes of a store.
type Peers struct {
	self    string
	address map[string]string
	client  *http.Client
	sent    atomic.Int64
}

// ErrNotSent is wrapped by errors of Call where the message provably did not
// reach the peer: nothing was connected.
var ErrNotSent = errors.New("not sent")

// NewPeers returns the peers of node self, which listen at the addresses.
func NewPeers(self string, address map[string]string) *Peers {
	dial := net.Dialer{Timeout: time.Second}
	return &Peers{self: self, address: address, client: &http.Client{Transport: &http.Transport{
		DialContext: dial.DialContext, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, DisableCompression: true}}}
}

// Sent is how many messages were sent so far.
func (p *Peers) Sent() int64 { return p.sent.Load() }

// Close lets go of idle connections.
func (p *Peers) Close() { p.client.CloseIdleConnections() }

// Call sends in to a peer as JSON and reads its answer into out (nil: not
// wanted). ctx must have a deadline.
func (p *Peers) Call(ctx context.Context, to, kind string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	answer, err := p.Send(ctx, to, kind, body)
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(answer, out)
}

// Send sends body to a peer and returns its answer.
func (p *Peers) Send(ctx context.Context, to, kind string, body []byte) ([]byte, error) {
	address, ok := p.address[to]
	if !ok {
		return nil, fmt.Errorf("no address of node %q: %w", to, ErrNotSent)
	}
	p.sent.Add(1)
	target := url.URL{Scheme: "http", Host: address, Path: "/peer/" + kind, RawQuery: "from=" + url.QueryEscape(p.self)}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	// A message is sent once: net/http may not repeat it on another connection.
	request.GetBody = nil
	response, err := p.client.Do(request)
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			return nil, fmt.Errorf("node %s: %w: %w", to, ErrNotSent, err)
		}
		return nil, fmt.Errorf("node %s: %w", to, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", to, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("node %s: %s: %s", to, response.Status, bytes.TrimSpace(answer))
	}
	return answer, nil
}
