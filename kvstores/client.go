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
	"syscall"
	"time"
)

// Client is one connection of a client to a node. It knows three outcomes and
// never more than it can prove: a refused dial and a decided refusal are Fail;
// a time-out, a reset, the end of the stream, a cut-off or unexpected answer
// are Info.
type Client struct {
	address string
	http    *http.Client
}

// NewClient returns a client of the node at address. No operation is repeated
// behind the caller's back.
func NewClient(address string) *Client {
	dial := net.Dialer{Timeout: 2 * time.Second}
	return &Client{address, &http.Client{Transport: &http.Transport{DialContext: dial.DialContext,
		MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1, DisableCompression: true}}}
}

// Close lets go of the connection.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Do carries out one operation; ctx must have a deadline.
func (c *Client) Do(ctx context.Context, q Request) Reply {
	body, err := json.Marshal(q)
	if err != nil {
		return failed("never sent: " + err.Error())
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.address+"/op", bytes.NewReader(body))
	if err != nil {
		return failed("never sent: " + err.Error())
	}
	request.GetBody = nil // net/http must not send it twice
	response, err := c.http.Do(request)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return failed("connection refused")
	case err != nil:
		return unknown(reason(err))
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return unknown(reason(err))
	}
	return understood(response.StatusCode, text)
}

// understood reads a reply that came whole, or says that it does not.
func understood(status int, text []byte) Reply {
	var r Reply
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&r); err != nil {
		return unknown(fmt.Sprintf("unexpected answer (status %d)", status))
	}
	switch {
	case r.Outcome == Fail && (status == http.StatusOK || status == http.StatusBadRequest):
		return r
	case status == http.StatusOK && (r.Outcome == OK || r.Outcome == Info):
		return r
	}
	return unknown(fmt.Sprintf("unexpected answer (status %d, outcome %q)", status, r.Outcome))
}

// reason is err without the address, which differs from run to run.
func reason(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, syscall.ECONNRESET):
		return "connection reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "end of stream"
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "timeout"
	}
	return "connection failed"
}
