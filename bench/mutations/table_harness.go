package main

const (
	clientsGo  = "harness/clients.go"
	clusterGo  = "harness/cluster.go"
	nemesisGo  = "harness/nemesis.go"
	harnessGo  = "harness/run.go"
	evidenceGo = "harness/evidence.go"
	campaignGo = "harness/campaign.go"
	programGo  = "harness/program.go"
	processGo  = "harness/process_linux.go"
	vainGo     = "harness/vain.go"
)

// harnessRules are those of the laboratory: what a client may say, what counts
// as a fault, and what is let go of. Equivalent, so not here: that the network
// heals as a whole before the last reads, which finds every link healed by its
// own step.
var harnessRules = []mutation{
	lab("TestOutcomesAreRecorded", "A process retires after an answer that it did not get.", clientsGo,
		`if r.Outcome == history.Info {`, `if false {`),
	lab("TestOutcomesAreRecorded", "An unknown outcome is not recorded as a refusal.", clientsGo,
		`Time: s.clock.now(), Outcome: r.Outcome,`, `Time: s.clock.now(), Outcome: min(r.Outcome, history.Fail),`),
	lab("TestOutcomesAreRecorded", "What is counted as answered was answered.", clientsGo,
		`s.counts[r.Outcome].Add(1)`, `s.counts[0].Add(1)`),
	lab("TestNoOperationWithoutConnection", "An operation that was never sent is in no history.", clientsGo,
		`		if err != nil { // the operation was never sent
`, `		if err != nil {
			s.recorder.Call(history.Called{ID: s.ids.Add(1) - 1, Process: s.process, F: op.F, Key: op.Key, In: op.In, Time: s.clock.now()})
`),
	lab("TestNothingIsLost", "An id is used once.", clientsGo, `id := s.ids.Add(1) - 1`, `id := s.ids.Load()`),
	lab("TestLastReadsReachEveryNode", "A last read that fails is tried again.", clientsGo,
		`left, u.Why = append(left[1:], left[0]), r.Error`, `left, u.Why = left[1:], r.Error`),
	lab("TestLastReadsReachEveryNode", "A last read is tried until the node has had its time.", clientsGo,
		`			pause = min(2*pause, 4*lastReadPause)
			continue
`, `			if pause = min(2*pause, 4*lastReadPause); pause == 4*lastReadPause {
				break
			}
			continue
`),
	lab("TestLastReadsReachEveryNode", "Every node has its last reads.", clientsGo,
		`nodes := l.cluster.topo.Nodes
`, `nodes := l.cluster.topo.Nodes[1:]
`),
	lab("TestPacer", "A client that is late does not catch up with a burst.", clientsGo, `		p.next = late
`, ``),

	lab("TestConfigRefuses", "Fewer clients than nodes are refused.", harnessGo, `case c.Clients < c.Nodes:`, `case false:`),
	lab("TestTopologyServesEveryNode", "Clients are on both sides of every cut.", harnessGo, `Node: t.Nodes[i%nodes]`, `Node: t.Nodes[0]`),
	lab("TestRecord", "The clock's granularity is in the header.", harnessGo, `ClockError: history.ClockError{All: granularity}, `, ``),
	lab("TestSavedScheduleIsReplayed", "A saved schedule is the one that runs.", harnessGo, `	return c.Schedule, nil
`, `	s, err := faultnet.Plan("halves", c.Seed, t, c.Duration)
	return &s, err
`),
	lab("TestSavedScheduleIsReplayed", "A schedule of another topology is refused.", harnessGo,
		`fmt.Sprint(c.Schedule.Topology) != fmt.Sprint(t)`, `false`),
	lab("TestEvidence", "A run in which no fault was seen to work is vacuous.", harnessGo, `planned > 0 && verified == 0`, `false`),
	lab("TestDisarmedRunIsVacuous", "A campaign calls such a run vacuous.", campaignGo, `why != "" && v.Kind == spec.Consistent`, `false`),
	lab("TestProgramThatDiesInARun", "A program that died is no quiet store.", harnessGo, `err = errors.Join(err, t.Err())`, `_ = t`),
	lab("TestBypassIsCaught", "A connection that no proxy holds is found.", harnessGo, `errors.Join(err, bypass(), rec.Err()`, `errors.Join(err, func() error { _ = bypass(); return nil }(), rec.Err()`),

	lab("TestBypassAtAnotherPortIsCaught", "Two nodes may meet at no other port either.", "harness/bypass.go",
		`case !ok && listens[e.local] == "" &&`, `case !ok && false &&`),
	lab("TestFaultOnIdleLinkIsNotVerified", "A fault on links that nobody uses shows nothing.", evidenceGo,
		`e.Verified = e.Verified && busy`, `_ = busy`),
	lab("TestFaultOnIdleLinkIsNotVerified", "A probe is no use of a link by the store.", clusterGo,
		`!n.LastForwarded.IsZero() && !own && `, `!n.LastForwarded.IsZero() && (!own || true) && `),
	lab("TestFaultThatLetsThroughIsNotVerified", "A probe that passes during a fault shows that there is none.", evidenceGo,
		`p.Before && p.During && p.After`, `p.Before && p.After`),
	lab("TestFaultThatStaysIsNotVerified", "A link must come back after a fault.", evidenceGo,
		`p.Before && p.During && p.After`, `p.Before && p.During`),
	lab("TestEvidence", "A link must have worked before a fault.", evidenceGo,
		`p.Before && p.During && p.After`, `p.During && p.After`),
	lab("TestEvidence", "A fault that could not be taken back is not verified.", evidenceGo, `e.Applied && e.Error == "" &&`, `e.Applied &&`),
	lab("TestEveryLinkIsProbedBefore", "Every link passes a probe before the load begins.", clusterGo,
		`errs[i] = fmt.Errorf("a probe of the healthy link %s does not pass: %w", l, errs[i])`, `errs[i] = nil`),
	lab("TestFaultThatHitsNothingIsAnError", "A fault that hits nothing is an error.", nemesisGo, `if len(places) == 0 {`, `if false {`),

	lab("TestFaultIsVerified", "Every fault is taken back.", nemesisGo,
		`err = errors.Join(err, n.undo(undo, &step))`, `_ = undo`),
	lab("TestStepsEndWithTheRun", "It is taken back also when the run has ended.", nemesisGo, `	// Everything is taken back,`, `	if ctx.Err() != nil {
		return
	}
	// Everything is taken back,`),
	lab("TestUndoGoesOnAfterAnError", "A link that does not heal keeps no other from healing.", nemesisGo, `		there, back := n.rule(`, `		if err != nil {
			return err
		}
		there, back := n.rule(`),
	lab("TestUndoGoesOnAfterAnError", "A node that does not start keeps no other from starting.", nemesisGo,
		`wg.Go(func() { errs[i] = do(id) })`, `if errs[i] = do(id); errs[i] != nil {
			break
		}`),
	lab("TestNodesAreHitTogether", "A step hits all its nodes at one instant.", nemesisGo,
		`wg.Go(func() { errs[i] = do(id) })`, `errs[i] = do(id)`),
	lab("TestKilledNodeRefusesDials", "A dead node refuses dials.", clusterGo, `	c.network.Aim(id, "")
`, ``),
	lab("TestKilledNodeRefusesDials", "A node that was started again takes them.", clusterGo, `	c.network.Aim(id, c.nodes[id].spec.Listen)
	err`, `	err`),
	lab("TestVain", "Faults of the leader are refused where none leads.", vainGo, `c.Leaderless && onlyLeader(s)`, `false`),
	lab("TestVain", "Cuts are refused where nodes do not speak to each other.", vainGo, `c.Apart && onlyPeers(s)`, `false`),
	lab("TestVain", "Faults some of which may work are not refused.", vainGo, `len(s.Steps) > 0 && !slices.ContainsFunc(s.Steps, func(step faultnet.Step) bool { return !step.NeedsLeader() })`,
		`len(s.Steps) > 0 && slices.ContainsFunc(s.Steps, faultnet.Step.NeedsLeader)`),
	lab("TestVainFromOutside", "A run without a leader to hit does not begin.", vainGo, `if leader, err := c.leader(ctx); err != nil || leader == "" {`, `if _, err := c.leader(ctx); err != nil {`),
	lab("TestOverlappingSteps", "The end of one fault is not the end of another.", nemesisGo,
		`s := n.active[i]; (s.Way == w || s.Way == faultnet.Both) && `, `s := n.active[i]; i == len(n.active)-1 && (s.Way == w || s.Way == faultnet.Both) && `),
	lab("TestOverlappingSteps", "A fault of one way leaves the other alone.", nemesisGo,
		`(s.Way == w || s.Way == faultnet.Both) && `, ``),
	lab("TestStepsOfANodeTakeTurns", "Two faults of one node take turns.", nemesisGo, `held[len(held)-1].Lock()`, `held[len(held)-1] = new(sync.Mutex); held[len(held)-1].Lock()`),
	lab("TestPauseIsComplete", "A node is paused when it has stopped, not when it was told to.", processGo, `err == nil && !p.stopped(); time.Sleep`, `false; time.Sleep`),
	lab("TestPanicLeavesNoProcess", "A child dies with the thread that made it.", processGo, `, Pdeathsig: syscall.SIGKILL`, ``),
	lab("TestOnlineStopsWithNodesFrozen", "The nodes are frozen where a run with --online stops.", "harness/online.go", `if err := cl.freeze(); err != nil {`, `if err := error(nil); err != nil {`),
	lab("TestRunLeavesNoGoroutine", "The thread that starts processes ends with the run.", clusterGo, `	c.spawner.close()
`, ``),

	lab("TestServedCountsTheMajoritySide", "A majority is asked for answers only where it can be one.", "harness/served.go",
		`|| overlapped(evidence, i) {`, `|| i < 0 {`),
	lab("TestServedCountsTheMajoritySide", "A majority has the time to find a leader.", "harness/served.go",
		`e.To-e.From < int64(settleWithin)`, `false`),

	lab("TestCampaignGoesOn", "What has a result is not run again.", campaignGo, `			results[i] = &r
			continue
`, `			results[i] = &r
`),
	lab("TestCampaignGoesOn", "A line that was cut off does not spoil the next.", campaignGo, `err == nil && whole < len(text)`, `false`),
	lab("TestCampaignKeepsWhatDidNotPass", "A run that did not pass keeps its folder.", campaignGo, `if c.Dir == "" || r.Passed() {`, `if true {`),
	lab("TestProgramThatGoesWrong", "No answer of a program is no refusal.", programGo,
		`return Result{Outcome: history.Info, Error: "no answer: " + err.Error()}`, `return Result{Outcome: history.Fail, Error: "no answer: " + err.Error()}`),
	lab("TestProgramThatDoesNotRead", "A program that does not read holds nobody up.", programGo,
		`in.SetWriteDeadline(until)`, `in.SetWriteDeadline(until.Add(7 * time.Second))`),
}

// lab is a rule of the laboratory.
func lab(test, name, file, from, to string) mutation {
	return by("harness", test, name, file, from, to)
}
