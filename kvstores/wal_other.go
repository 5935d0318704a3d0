//go:build !linux

package kvstores

import "os"

// syncData waits until what was written to f is on the disk, and its length.
func syncData(f *os.File) error { return f.Sync() }
