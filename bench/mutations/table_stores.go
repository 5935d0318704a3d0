package main

const (
	clientGo    = "kvstores/client.go"
	peersGo     = "kvstores/peers.go"
	journalGo   = "kvstores/journal.go"
	singleGo    = "kvstores/kvsingle.go"
	kvforwardGo = "kvstores/kvforward.go"
	kvsplitGo   = "kvstores/kvsplit.go"
	registersGo = "kvstores/registers.go"
	abdGo       = "kvstores/kvabd.go"
	acceptorsGo = "kvstores/acceptors.go"
	gryffGo     = "kvstores/kvgryff.go"
	modifyGo    = "kvstores/kvgryff_modify.go"
	zabGo       = "kvstores/kvzab.go"
	zabFollowGo = "kvstores/kvzab_follow.go"
	zabLeadGo   = "kvstores/kvzab_lead.go"
)

// storeRules are those of the fixture stores without Raft, and of their client:
// a store that is said to be correct must be, and an outcome may never say more
// than what is known.
var storeRules = []mutation{
	by("kvstores", "TestClientKnowsThreeOutcomes", "A time-out or a reset says nothing about the operation.", clientGo, `	case err != nil:
		return unknown(reason(err))`, `	case err != nil:
		return failed(reason(err))`),
	by("kvstores", "TestClientKnowsThreeOutcomes", "An answer that breaks off says nothing about the operation.", clientGo, `	if err != nil {
		return unknown(reason(err))`, `	if err != nil {
		return failed(reason(err))`),
	by("kvstores", "TestClientKnowsThreeOutcomes", "A refusal under an unexpected status is none.", clientGo, `case r.Outcome == Fail && (status == http.StatusOK || status == http.StatusBadRequest):`, `case r.Outcome == Fail:`),
	by("kvstores", "TestClientKnowsThreeOutcomes", "A success under an unexpected status is none.", clientGo, `case status == http.StatusOK && (r.Outcome == OK || r.Outcome == Info):`, `case r.Outcome == OK || r.Outcome == Info:`),
	by("kvstores", "TestForwarderNeverFailsWhatMayBeApplied", "What was forwarded without an answer may have been applied.", kvforwardGo, `		return unknown("forwarded, but no answer came: " + reason(err))`, `		return failed(reason(err))`),
	by("kvstores", "TestForwarderNeverFailsWhatMayBeApplied", "What was forwarded and answered with nonsense may have been applied.", kvforwardGo, `		return unknown("forwarded, and the answer made no sense")`, `		return failed("nonsense")`),
	by("kvstores", "TestForwarderNeverFailsWhatMayBeApplied", "Only a refused connection proves that nothing was sent.", peersGo, `if errors.Is(err, syscall.ECONNREFUSED) {`, `if errors.Is(err, syscall.ECONNREFUSED) || true {`),
	by("kvstores", "TestSplitWaitsForWhomOthersHear", "kvsplit does not give up a leader that others hear.", kvsplitGo, `&& !(node == s.leader && heard):`, `:`),
	by("kvstores", "TestSplitPromotesItself", "kvsplit takes its leader's state after a cut.", kvsplitGo, `s.book.state, s.epoch, s.index = n.State.Clone(), n.Epoch, n.Index`, `s.epoch, s.index = n.Epoch, n.Index`),

	by("kvstores", "TestAcknowledgedWritesSurviveAKill", "A map is read back from its journal.", singleGo, `		b.state.Apply(r)
		return nil`, `		return nil`),
	by("kvstores", "TestAcknowledgedWritesSurviveAKill", "A register is read back from its journal.", registersGo, `		g.shown.put(v)
		return nil`, `		return nil`),
	by("kvstores", "TestAcknowledgedWritesSurviveAKill", "The log of kvzab is read back from its journal.", zabGo, `z.log = append(z.log, *r.Entry)`, `_ = r.Entry`),
	by("kvstores", "TestJournalToleratesATornTail", "A record that is torn at the end is dropped.", journalGo, `		if length > len(rest)-frame {
			return int64(at), nil // torn`, `		if length > len(rest)-frame {
			return 0, io.ErrUnexpectedEOF`),
	by("kvstores", "TestJournalToleratesATornTail", "What is written next stands where the torn record began.", journalGo, `	if err == nil {
		err = file.Truncate(end)
	}
	if err == nil {
		_, err = file.Seek(end, io.SeekStart)
	}`, ``),
	by("kvstores", "TestJournalToleratesATornTail", "A record with a wrong checksum is no record.", journalGo, `if crc32.Checksum(record, castagnoli) != sum {`, `if false && sum == 0 {`),
	by("kvstores", "TestJournalServesManyAtOnce", "A journal that failed acknowledges nothing.", journalGo, `	return j.synced >= end, j.broken`, `	return j.synced >= end, nil`),

	by("kvstores", "TestJournalsAreWrittenAnew", "A journal that is written anew holds what counts.", registersGo, `		records = append(records, v)`, `		_ = v`),
	by("kvstores", "TestJournalsAreWrittenAnew", "A journal that is written anew knows what was forgotten.", acceptorsGo, `		records = append(records, instance{Key: key, Stamp: k.floor, Floor: true})`, `		_ = key`),

	by("kvstores", "TestABDWritesBack", "A get of kvabd writes back what it answers.", abdGo, `if a.Bug != "no-write-back" {`, `if false {`),
	by("kvstores", "TestABDDoesNotFailWhatMayBeSeen", "A put that was stored somewhere does not fail.", abdGo, `	if err != nil {
		return unknown(err.Error())
	}`, `	if err != nil {
		return failed(err.Error())
	}`),
	by("kvstores", "TestStampsAreNeverUsedTwice", "A stamp is above all that its writer has used.", registersGo, `max(seen[0], g.held.get(key).Stamp[0]) + 1`, `seen[0] + 1`),
	by("kvstores", "TestStampsAreNeverUsedTwice", "A stamp is above all that was seen.", registersGo, `max(seen[0], g.held.get(key).Stamp[0]) + 1`, `g.held.get(key).Stamp[0] + 1`),
	by("kvstores", "TestRegistersShowWhatSurvives", "An older version takes no newer one's place.", registersGo, `if old := m.get(v.Key); v.Stamp.compare(old.Stamp) <= 0 {`, `if old := m.get(v.Key); v.Stamp == old.Stamp {`),
	by("kvstores", "TestRegistersShowWhatSurvives", "What does not survive is not shown.", registersGo, `	if err = errors.Join(err, g.journal.sync(end)); err != nil {
		return v, err
	}`, `	err = errors.Join(err, g.journal.sync(end))
	defer func() { _ = err }()`),

	by("kvstores", "TestAcceptorsKeepTheirPromises", "An acceptor promises a ballot once.", acceptorsGo, `if p.Ballot.compare(i.Promised) <= 0 {`, `if p.Ballot.compare(i.Promised) < 0 {`),
	by("kvstores", "TestAcceptorsKeepTheirPromises", "An acceptor accepts nothing below its promise.", acceptorsGo, `if p.Ballot.compare(i.Promised) < 0 {`, `if false {`),
	by("kvstores", "TestAcceptorsKeepTheirPromises", "An acceptor remembers after a restart.", acceptorsGo, `			k.put(i)
		}
		return nil`, `		}
		return nil`),
	by("kvstores", "TestAcceptorsKeepTheirPromises", "An acceptor grants nothing in what it has forgotten.", acceptorsGo, `if s.compare(k.floor) <= 0 {`, `if false {`),
	by("kvstores", "TestGryffHelpsWhatMayBeChosen", "A read-modify-write is built on what may have been chosen before.", modifyGo, `if high.Accepted != nil {`, `if false {`),
	by("kvstores", "TestGryffKeepsCausality", "What a client carries is stored before it reads.", gryffGo, `if len(r.Carried) > 0 && g.Bug != "lose-causality" {`, `if false {`),
	by("kvstores", "TestFailuresKeepWhatIsCarried", "Whoever fails keeps what it carries.", gryffGo, `		reply.Carried = r.Carried // whoever fails has learned nothing
`, ``),

	by("kvstores", "TestZabHeedsSessions", "A replica that lags behind what its client has seen waits.", zabGo, `	if z.Bug == "read-backwards-after-reconnect" {
		carried = 0`, `	if true {
		carried = 0`),
	by("kvstores", "TestZabDoesNotFailWhatMayBeOrdered", "A write that was forwarded without an answer may have been ordered.", zabGo, `			return unknown("forwarded, but no answer came: " + reason(err))`, `			return failed(reason(err))`),
	by("kvstores", "TestZabVotes", "A vote goes to a history that is no older.", zabFollowGo, `v.Epoch > z.promised && current && !content`, `v.Epoch > z.promised && (current || true) && !content`),
	by("kvstores", "TestZabVotes", "A node takes part in an epoch under one leader.", zabFollowGo, `v.Epoch > z.promised && current && !content`, `current && !content`),
	by("kvstores", "TestZabVotes", "A node that hears a leader wants no other.", zabFollowGo, `v.Epoch > z.promised && current && !content`, `v.Epoch > z.promised && current && (!content || true)`),
	by("kvstores", "TestZabFollows", "A deposed leader is not followed.", zabFollowGo, `if m.Epoch < z.promised {`, `if false {`),
	by("kvstores", "TestZabFollows", "A new leader's history takes the place of what is not committed.", zabFollowGo, `	if n < z.size() {
		if err = z.truncate(n); err != nil {`, `	if n < 0 {
		if err = z.truncate(n); err != nil {`),
	by("kvstores", "TestZabFollows", "A late message of the same leader takes nothing away.", zabFollowGo, `	fresh := z.current < m.Epoch`, `	fresh := true`),
	by("kvstores", "TestZabFollows", "What is committed is never taken away.", zabFollowGo, `	if n < z.committed {`, `	if false {`),
	by("kvstores", "TestZabDropsWhatIsOld", "A replica that is far behind is given the state.", zabFollowGo, `if m.Whole != nil && m.Whole.At > z.applied() {`, `if false {`),
	by("kvstores", "TestZabDropsWhatIsOld", "What was dropped from the log is in the state that is read back.", zabGo, `	n, ok := z.find(max(z.restored, z.base))`, `	n, ok := z.find(z.base)`),
	by("kvstores", "TestZabServesTheMajority", "A leader commits what a majority has.", zabLeadGo, `have[len(have)-z.Majority()]`, `have[len(have)-1]`),
}
