package faultnet

import (
	"context"
	"fmt"
	"net"
	"os"
	"syscall"
)

// port is a port of the loopback interface that stays ours whether we listen on
// it or not: a socket is bound to it and never listens. While nobody listens, a
// dial is refused as if the port were free. Linux lets a second socket listen
// where the first one is bound when both say SO_REUSEADDR; the first one says so
// only for that moment, so that nobody else gets in.
type port struct {
	fd   int
	addr string
}

func reserve() (*port, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	p := &port{fd: fd}
	if err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		p.close()
		return nil, os.NewSyscallError("bind", err)
	}
	name, err := syscall.Getsockname(fd)
	bound, ok := name.(*syscall.SockaddrInet4)
	if err != nil || !ok {
		p.close()
		return nil, fmt.Errorf("getsockname: %v: expected an IPv4 address", err)
	}
	p.addr = fmt.Sprintf("127.0.0.1:%d", bound.Port)
	return p, nil
}

// listen opens the port.
func (p *port) listen() (net.Listener, error) {
	if err := p.share(1); err != nil {
		return nil, err
	}
	var c net.ListenConfig
	c.SetMultipathTCP(false) // plain TCP has the resets that we promise
	ln, err := c.Listen(context.Background(), "tcp4", p.addr)
	if err != nil {
		return nil, err
	}
	return ln, p.share(0)
}

func (p *port) share(yes int) error {
	return os.NewSyscallError("setsockopt", syscall.SetsockoptInt(p.fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, yes))
}

// close gives the port back.
func (p *port) close() error { return os.NewSyscallError("close", syscall.Close(p.fd)) }
