package kvstores

import (
	"os"
	"syscall"
)

// syncData waits until what was written to f is on the disk, and its length.
func syncData(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); err != syscall.EINTR {
			return err
		}
	}
}
