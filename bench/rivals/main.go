// Command rivals checks a history in Pinyon's native format for linearizability
// with Porcupine, and prints its verdict and what it cost as one JSON line.
//
//	rivals FILE --model register --timeout 20s
//
// It is a module of its own, so that Pinyon does not depend on what it is
// compared with. `pinyon bench --rival` runs it on the bytes that Pinyon reads.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/anishathalye/porcupine"

	"pinyon/engine/history"
)

// result is what is printed. Seconds and megabytes are those of the check
// alone: from operations in memory to the verdict.
type result struct {
	Checker string  `json:"checker"`
	Verdict string  `json:"verdict"` // consistent, violation, or unknown: the time was up
	CPU     float64 `json:"cpu_s"`
	Wall    float64 `json:"wall_s"`
	PeakMB  float64 `json:"peak_mb"` // most resident memory of the process while it checked
	BaseMB  float64 `json:"base_mb"` // resident memory before
}

// The exit statuses are those of pinyon check.
var statuses = map[string]int{"consistent": 0, "violation": 1, "unknown": 2}

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintf(os.Stderr, "rivals: %v\n", err)
	}
	os.Exit(code)
}

// run returns the exit status: 64 for wrong usage, 65 for a history that this
// program cannot give to Porcupine.
func run(args []string, out io.Writer) (int, error) {
	flags := flag.NewFlagSet("rivals", flag.ContinueOnError)
	model := flags.String("model", "", "register, cas-register, kv, queue, stack, counter or log (default: the header's)")
	timeout := flags.Duration("timeout", 20*time.Second, "how long it may take; 0: no limit")
	var files []string
	for len(args) > 0 { // flags may stand behind the file
		if err := flags.Parse(args); err != nil {
			return 64, err
		}
		if args = flags.Args(); len(args) > 0 {
			files, args = append(files, args[0]), args[1:]
		}
	}
	if len(files) != 1 {
		return 64, fmt.Errorf("expected one file, got %d", len(files))
	}
	m, ops, err := load(files[0], *model)
	if err != nil {
		return 65, err
	}
	r := measure(m, ops, *timeout)
	return statuses[r.Verdict], json.NewEncoder(out).Encode(r)
}

// load reads the history and makes Porcupine's operations and model of it.
func load(path, model string) (porcupine.Model, []porcupine.Operation, error) {
	file, err := os.Open(path)
	if err != nil {
		return porcupine.Model{}, nil, err
	}
	defer file.Close()
	h, err := history.ReadNative(path, file)
	if err != nil {
		return porcupine.Model{}, nil, err
	}
	if model == "" {
		model = h.Header.Model
	}
	return translate(h, model)
}

// measure checks with everything else out of the way.
func measure(m porcupine.Model, ops []porcupine.Operation, timeout time.Duration) result {
	runtime.GC()
	debug.FreeOSMemory()
	r := result{Checker: "porcupine v1.3.1", BaseMB: resetPeak()}
	cpu, start := processTime(), time.Now()
	verdict := porcupine.CheckOperationsTimeout(m, ops, timeout)
	r.CPU, r.Wall = (processTime() - cpu).Seconds(), time.Since(start).Seconds()
	r.PeakMB = peak()
	r.Verdict = map[porcupine.CheckResult]string{porcupine.Ok: "consistent", porcupine.Illegal: "violation", porcupine.Unknown: "unknown"}[verdict]
	return r
}
