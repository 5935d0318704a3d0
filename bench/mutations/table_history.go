package main

const (
	validateGo = "engine/history/validate.go"
	buildGo    = "engine/history/importers/build.go"
)

// validation is a rule about well-formed histories.
func validation(name, from, to string) mutation {
	return by("engine/history", "TestValidate", name, validateGo, from, to)
}

// importing is a rule of the importers.
func importing(name, file, from, to string) mutation {
	return by("engine/history/importers", "TestLoad", name, file, from, to)
}

// historyRules are those of histories: which are well-formed, and how events
// become operations.
var historyRules = []mutation{
	validation("There are as many ids as operations.", `h.IDs != nil && len(h.IDs) != n:`, `false:`),
	validation("There are as many origins as operations.", `h.Origins != nil && len(h.Origins) != n:`, `false:`),
	validation("An order of lines needs lines.", `h.Order == ByLine && h.Origins == nil && n > 0:`, `false:`),
	validation("Every process has a name.", `h.Processes != nil && (p < 0 || p >= len(h.Processes))`, `p < 0`),
	validation("An outcome exists.", `op.Outcome > Info:`, `false:`),
	validation("An invocation lies in the range of times.", `case beyond(op.Invoke):`, `case false:`),
	validation("A return lies in the range of times.", `op.Outcome != Info && beyond(op.Return):`, `false:`),
	validation("A clock error is not negative.", `if e.All < 0 || e.All > MaxTime {`, `if e.All > MaxTime {`),
	validation("A clock error of a node is not negative.", `ns < 0 || ns > MaxTime {`, `ns > MaxTime {`),
	validation("Every node has a clock error where one has.", `if _, known := e.ByNode[node]; known {`, `if _, known := e.ByNode[node]; known || true {`),
	validation("An id stands for one operation.", `		if known {
			return c.h.Errorf(i, "the id`, `		if known && false {
			return c.h.Errorf(i, "the id`),
	validation("An operation does not return before it is invoked.", `case ret >= call:`, `case ret >= call || ret >= 0:`),
	validation("Only an unanswered operation has no completion.", `case c.h.Order == ByLine && ret < 0:`, `case false:`),
	validation("A process has one operation in flight.", `case ret > call:`, `case false:`),
	validation("A process may go on at the instant of its answer.", `case ret > call:`, `case ret >= call:`),
	validation("A process ends with an operation without an answer.", `case c.h.Ops[a].Outcome == Info:`, `case false:`),
	validation("With ties precede two operations without width of a key stand on two instants.", `if c.h.Header.Ties != TiesPrecede {`, `if true {`),
	validation("Failed operations need no order at an instant.", `call != ret || c.h.Ops[i].Outcome == Fail {`, `call != ret {`),
	by("models", "TestFailedOperations", "A failed operation did not happen.", "engine/history/view.go", `if h.Ops[i].Outcome != Fail {`, `if true {`),
	importing("A process that goes on after info gets a new name.", buildGo, `c.retired = ev.line`, `_ = ev.line`),
	importing("A fail is a fail.", "engine/history/importers/event.go", `history.Info, history.OK, history.Fail, history.Info}[k]`, `history.Info, history.OK, history.Info, history.Info}[k]`),
	importing("What is open at the end is unanswered.", buildGo, `Return: history.Never, Outcome: history.Info}`, `Return: history.Never, Outcome: history.OK}`),
	importing("What nobody invoked and only informs is a note.", buildGo, `b.h.Notes = append(b.h.Notes, `, `_ = append(b.h.Notes, `),
	by("engine/history/importers", "TestMalformedFilesAreRefusedWithLineAndReason", "A process invokes one operation at a time.", buildGo, `	if c.open >= 0 {
		first`, `	if false {
		first`),
	by("engine/history/importers", "TestLoadRefuses", "A completion completes what was invoked.", buildGo, `ev.f != "" && call.f != "" && ev.f != call.f`, `false`),
	by("engine/history/importers", "TestLoadRefuses", "Strict refuses a process that goes on after info.", buildGo, `case b.opts.Strict:`, `case false:`),
}
