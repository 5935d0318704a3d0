// Command pinyon decides whether what the clients of a distributed store saw
// was possible under the consistency that the store claims, and says why when
// it was not.
//
// Its contract with whoever calls it:
//
//  1. Verdicts and data go to stdout; errors (each with the prefix "pinyon: "),
//     progress and talk go to stderr.
//  2. The exit status is one of exit.go, the same for every subcommand.
//  3. Nothing but a decided "consistent" exits with 0 (see --expect).
//  4. The first interrupt ends a check and reports what is known; the second
//     ends the program.
//
// One file holds one subcommand; the decision itself is in package consistency.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the program: it returns the exit status, and lets no panic out. With
// PINYON_TRACE in the environment, a panic's message comes with its stack.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(stderr, "pinyon: internal error: %v\n", r)
			if os.Getenv("PINYON_TRACE") != "" {
				stderr.Write(debug.Stack())
			}
			code = exitFailure
		}
	}()
	ctx, stop := interruptible()
	defer stop()
	a := &app{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.command()
	root.SetArgs(append([]string{}, args...)) // never nil: cobra would take the process' own
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return a.exit(root.ExecuteContext(ctx))
}

// interruptible returns a context that the first interrupt cancels; after it,
// interrupts end the program as they do by default.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// app is one run of the program.
type app struct {
	ctx            context.Context // ends with the first interrupt
	stdin          io.Reader
	stdout, stderr io.Writer
}

// say writes a line for people.
func (a *app) say(format string, args ...any) {
	fmt.Fprintf(a.stderr, "pinyon: "+format+"\n", args...)
}
