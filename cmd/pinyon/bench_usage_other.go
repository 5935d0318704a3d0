//go:build !unix

package main

import "time"

var benchStart = time.Now()

// processTime is the time since the start, where processor time is not known.
func processTime() time.Duration { return time.Since(benchStart) }

func resetPeak() float64 { return 0 }

func residentPeak() float64 { return 0 }
