//go:build !linux

package faultnet

import "net"

// port is a port of the loopback interface. Off Linux nothing reserves it while
// nobody listens: should another process take it meanwhile, listening again is
// an error.
type port struct {
	addr string
}

func reserve() (*port, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := ln.Addr().String()
	return &port{addr: addr}, ln.Close()
}

// listen opens the port.
func (p *port) listen() (net.Listener, error) { return net.Listen("tcp4", p.addr) }

// close gives the port back.
func (p *port) close() error { return nil }
