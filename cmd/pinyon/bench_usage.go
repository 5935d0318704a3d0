//go:build unix

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// processTime is the processor time of the process so far, on all processors.
func processTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resetPeak forgets the most resident memory so far where the system can, and
// returns the resident memory in MB.
func resetPeak() float64 {
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // where it fails, the peak is that of the process
	return memoryField("VmRSS:")
}

// residentPeak is the most resident memory in MB.
func residentPeak() float64 { return memoryField("VmHWM:") }

// memoryField reads a field of the process's status in MB; 0 where there is none.
func memoryField(name string) float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		var kb float64
		if rest, ok := strings.CutPrefix(line, name); ok {
			fmt.Sscan(rest, &kb)
			return kb / 1024
		}
	}
	return 0
}
