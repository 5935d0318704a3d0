package consistency

import (
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
)

// DefaultMemory, the budget of memory where Options name none, is half of the memory that the machine, or the control group
// that the process runs in, allows; 1 GiB where neither can be read.
func DefaultMemory() int64 { return defaultMemory() }

var defaultMemory = sync.OnceValue(readMemory)

func readMemory() int64 {
	limit := int64(2 << 30)
	if total := memTotal(); total > 0 {
		limit = total
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 && n < limit {
			limit = n
		}
	}
	return limit / 2
}

// memTotal reads the machine's memory in bytes from /proc/meminfo, or 0.
func memTotal() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err == nil {
				return kb << 10
			}
		}
	}
	return 0
}

// heapLimit is the live heap of the whole process at which a check stops: nine
// tenths of the budget, so that the collector has room, but at least half of
// the budget beyond what is there at the start, such as a large history.
func heapLimit(budget int64) int64 {
	return max(1, budget/10*9, heapNow(budget/4)+budget/2)
}

// heapNow is the heap in use; where it seems to exceed some, garbage is
// collected before it is believed.
func heapNow(some int64) int64 {
	sample := [1]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for range 2 {
		metrics.Read(sample[:])
		if sample[0].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		if n := int64(sample[0].Value.Uint64()); n <= some {
			return n
		}
		runtime.GC()
	}
	return int64(sample[0].Value.Uint64())
}
