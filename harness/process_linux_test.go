package harness

import "testing"

// A process that was paused answers nothing from the moment that pause returns,
// and is the same process when it goes on.
func TestPauseIsComplete(t *testing.T) {
	e := newEchoes(t, &fakeTarget{command: func(n NodeSpec) (Command, error) {
		return Command{Path: self(t), Args: []string{"store", "kvsingle", "--id", n.ID, "--listen", n.Listen}}, nil
	}})
	must(t, e.launch("n1"))
	p := e.nodes["n1"].process
	for range 30 {
		must(t, e.pause("n1"))
		if !p.stopped() {
			t.Fatal("a thread of the paused process still runs")
		}
		must(t, e.resume("n1"))
		eventually(t, "the process going on", func() bool { return !p.stopped() })
	}
	must(t, p.kill())
	if err := p.pause(); err == nil {
		t.Error("a process that has ended was paused")
	}
}
