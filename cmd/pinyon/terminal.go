package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"pinyon/consistency"
)

// The rules of the terminal:
//
//   - Progress is drawn over itself when stderr is a terminal that understands
//     it, and is otherwise one line each 30 seconds.
//   - Colours are used when stdout is a terminal, unless NO_COLOR is set, TERM
//     is dumb, or --color says otherwise.

// print writes data to stdout.
func (a *app) print(format string, args ...any) { fmt.Fprintf(a.stdout, format, args...) }

// isTerminal reports whether w is a terminal that understands escapes.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// colorful reports whether to write colours to w.
func colorful(mode string, w io.Writer) bool {
	switch mode {
	case "always":
		return true
	case "never":
		return false
	}
	return isTerminal(w) && os.Getenv("NO_COLOR") == ""
}

// quietFor is the time between two lines where progress cannot be drawn.
const quietFor = 30 * time.Second

// progress shows how far a check is.
type progress struct {
	w     io.Writer
	path  string
	drawn bool // on a terminal: there is a line to clear
	live  bool
	last  time.Duration
}

func (a *app) newProgress(path string) *progress {
	return &progress{w: a.stderr, path: path, live: isTerminal(a.stderr)}
}

// show is called by one goroutine at a time.
func (p *progress) show(at consistency.Progress) {
	if !p.live && at.Elapsed-p.last < quietFor || p.live && at.Elapsed < time.Second {
		return
	}
	p.last = at.Elapsed
	text := fmt.Sprintf("%s: %s, %d states, %.0f states/s", p.path, at.Elapsed.Round(time.Second), at.States,
		float64(at.States)/max(at.Elapsed.Seconds(), 1e-3))
	if at.Parts > 0 {
		text += fmt.Sprintf(", %d of %d keys", at.PartsDone, at.Parts)
	}
	if at.Memory > 0 {
		text += fmt.Sprintf(", %d MiB", at.Memory>>20)
	}
	if !p.live {
		fmt.Fprintln(p.w, "pinyon: "+text)
		return
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
	p.drawn = true
}

// clear removes what was drawn.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}
