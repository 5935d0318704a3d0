package main

const (
	raftGo         = "kvstores/kvraft.go"
	raftLoopGo     = "kvstores/kvraft_loop.go"
	raftReadsGo    = "kvstores/kvraft_reads.go"
	raftStateGo    = "kvstores/kvraft_state.go"
	raftFollowerGo = "kvstores/kvfollower.go"
	raftWALGo      = "kvstores/wal.go"
	logViewsGo     = "kvstores/kvlog_views.go"
	logSequencerGo = "kvstores/kvlog_sequencer.go"
	skyrosGo       = "kvstores/kvskyros.go"
)

// logged is a rule of the stores on a replicated log, guarded by a test of the
// store itself: nothing else would tell that a fixture stopped being correct.
func logged(test, name, file, from, to string) mutation {
	return mutation{Name: name, File: file, Old: from, New: to, Package: "./kvstores", Test: test}
}

// raftStoreRules are those of kvraft, its kin, and their write-ahead log.
var raftStoreRules = []mutation{
	logged("TestRevisionsAreEtcds", "A cas that failed needs no revision.", raftStateGo,
		`changed = changed && string(reply.Out) == "true"`, `changed = changed && true`),
	logged("TestRevisionsAreEtcds", "A read names the revision of what it found.", raftStateGo,
		`reply.Hints["mod_revision"] = mod`, `reply.Hints["mod_revision"] = max(mod, s.Revision)`),
	logged("TestRaftKeepsWhatItAcknowledgedOverKill9", "A node writes its log before it answers or sends.", raftLoopGo,
		`if err == nil && must {`, `if err == nil && must && false {`),
	logged("TestRaftAnswersARetryOnce", "A retry gets the stored result.", raftStateGo,
		`case !known || o.seq > last.Seq:`, `case !known || true:`),
	logged("TestRaftAnswersARetryOnce", "A stored result keeps the hints of its own entry.", raftLoopGo,
		`n.flavor.entry, r.Term, r.Index)`, `n.flavor.entry, n.state.Term, n.state.Index)`),
	logged("TestRaftMinorityDoesNotKnow", "What was proposed is never answered with fail.", raftGo,
		`case was == fresh:`, `case was != gone:`),
	logged("TestRaftReadWaitsUntilEnoughIsApplied", "A read waits for what was committed when it was asked.", raftReadsGo,
		`if n.state.Index >= b.index || n.fewMissing(a.Key, b.index) {`, `if true {`),
	logged("TestRaftReadWaitsUntilEnoughIsApplied", "What is applied is as of when the question was asked, not answered.", raftReadsGo,
		`n.reads.asOf = b.asked`, `n.reads.asOf = time.Now()`),
	logged("TestRaftStartsFromASnapshot", "A snapshot holds the table of clients.", raftStateGo,
		"`json:\"clients\"`", "`json:\"-\"`"),
	logged("TestRaftServesOnTheMajoritySide", "A leader that hears no majority steps down.", raftGo,
		`CheckQuorum: !n.clings()`, `CheckQuorum: false`),
	logged("TestFollowerAnswersFromTheLastVersionsOnly", "A follower that misses k versions applies them first.", raftFollowerGo,
		`return missing < s.versions`, `return missing <= s.versions`),
	logged("TestFollowerAnswersFromTheLastVersionsOnly", "A follower counts only when it knows what is committed.", raftFollowerGo,
		` || n.backlog[len(n.backlog)-1].index < index {`, ` {`),
	logged("TestFollowerThatIsCutOff", "A follower's state may be used no longer than t.", raftFollowerGo,
		`s.age > 0 && ago <= s.age-s.age/1000`, `s.age > 0 && ago <= 100*s.age`),
	logged("TestWALDropsATornRecord", "A broken record at the end is dropped.", raftWALGo,
		`if len(bytes.Trim(behind, "\x00")) > 0 {`, `if len(bytes.Trim(behind, "\x00")) >= 0 {`),
	logged("TestWALRefusesDamageInTheMiddle", "A broken record with others behind it is an error.", raftWALGo,
		`if len(bytes.Trim(behind, "\x00")) > 0 {`, `if len(bytes.Trim(behind, "\x00")) < 0 {`),
	logged("TestLogFailover", "A new view makes final what the one before left.", logViewsGo,
		`View: view.Number, Records: tail, Next:`, `View: view.Number, Records: tail[:0], Next:`),
	logged("TestLogKeepsTheOrderOfWhatWasAcknowledged", "The leader makes everything final before a position is said to be empty.", logViewsGo,
		`done, changed := len(n.seq.tail) == 0 || n.seq.tail[0].Index >= end, n.changed`, `done, changed := end >= 0, n.changed`),
	logged("TestLogSequencerAfterAKill", "A sequencer's log outlives a kill.", logSequencerGo,
		`if s.broken = s.log.sync(); s.broken != nil {
		return appendAnswer{}
	}`, ``),
	logged("TestLogSequencerAfterAKill", "A sealed view takes nothing, also after a kill.", logSequencerGo,
		`s.sealed >= q.View || `, ``),
	logged("TestLogLateSequencer", "A late sequencer still gives a place to what its view made final.", logSequencerGo,
		`known && (n.keyed || at.view != q.View) {`, `known && at.view >= 0 {`),
	logged("TestLogLateSequencer", "What an earlier view made final is not taken again.", logSequencerGo,
		`known && (n.keyed || at.view != q.View) {`, `known && n.keyed && at.view != q.View {`),
	logged("TestSkyrosRecovery", "A record that too few logs hold is not recovered.", skyrosGo,
		`if holders[id] >= enough {`, `if holders[id] > 0 {`),
	logged("TestSkyrosRecovery", "What enough logs have first is recovered first.", skyrosGo,
		`return first >= enough`, `return false`),
	logged("TestSkyrosReadOutlivesItsView", "Nobody waits for the leader of a view that is over.", "kvstores/kvlog.go",
		`	stop := context.AfterFunc(n.ended, cancel)
	return ctx, func() { stop(); cancel() }`, `	return ctx, cancel`),
	logged("TestSkyrosFailover", "A write is durable at a supermajority, not at a majority.", skyrosGo,
		`held < n.supermajority() {`, `held < n.config.Majority() {`),
}
