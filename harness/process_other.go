//go:build !linux

package harness

import (
	"errors"
	"io"
	"os"
)

// errLinux: process groups, death signals and the table of connections are
// Linux's.
var errLinux = errors.New("the laboratory needs Linux")

type process struct {
	err   error
	stdin io.WriteCloser
}

type spawner struct{}

func newSpawner() *spawner                                           { return &spawner{} }
func (*spawner) close()                                              {}
func (*spawner) start(Command, *os.File) (*process, error)           { return nil, errLinux }
func (*spawner) piped(Command, *os.File, *os.File) (*process, error) { return nil, errLinux }
func (*process) pid() int                                            { return 0 }
func (*process) alive() bool                                         { return false }
func (*process) pause() error                                        { return errLinux }
func (*process) resume() error                                       { return errLinux }
func (*process) kill() error                                         { return errLinux }
func (*process) stop() error                                         { return errLinux }
func reserve() (io.Closer, string, error)                            { return nil, "", errLinux }
