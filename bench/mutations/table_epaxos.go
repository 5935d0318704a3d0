package main

const (
	epaxosLogGo     = "kvstores/kvepaxos_log.go"
	epaxosDecideGo  = "kvstores/kvepaxos_decide.go"
	epaxosRecoverGo = "kvstores/kvepaxos_recover.go"
	epaxosExecuteGo = "kvstores/kvepaxos_execute.go"
)

// epaxosRules are those of the store kvepaxos: what conflicts, what is decided,
// and in which order it is executed. Equivalent, so not here: going by ballot 0
// alone where all of a majority ordered a request alike, because a later ballot
// in which they did is as good.
var epaxosRules = []mutation{
	by("kvstores", "TestEpaxosConflicts", "Gets do not conflict with each other.", epaxosLogGo,
		`return !isRead(a.F) || !isRead(b.F)`, `return true`),
	by("kvstores", "TestEpaxosConflicts", "A seq is above those of all requests of the key.", epaxosLogGo,
		`max(seq, k.seq+1)`, `max(seq, k.seq)`),
	by("kvstores", "TestEpaxosDecidesOnce", "What a majority knows of conflicts is joined.", epaxosDecideGo,
		`v.Deps[q] = max(v.Deps[q], last)`, `_, _ = q, last`),
	by("kvstores", "TestEpaxosDecidesOnce", "The fast path needs all replicas.", epaxosDecideGo,
		`	return len(list) == len(e.Nodes) && agreed(list)`, `	return agreed(list)`),
	by("kvstores", "TestEpaxosDecidesOnce", "The fast path needs replicas that agree.", epaxosDecideGo,
		`	return len(list) == len(e.Nodes) && agreed(list)`, `	return len(list) == len(e.Nodes)`),
	by("kvstores", "TestEpaxosDecidesOnce", "An accept needs a majority.", epaxosDecideGo,
		`{ return len(list) >= e.Majority() }`, `{ return len(list) >= 1 }`),
	by("kvstores", "TestEpaxosVotes", "A replica orders nothing in a ballot below its promise.", epaxosDecideGo,
		`if m.Ballot < x.Promised || m.Ballot == x.Ballot`, `if m.Ballot == x.Ballot`),
	by("kvstores", "TestEpaxosVotes", "An accept is not undone by a message of its ballot.", epaxosDecideGo,
		` || m.Ballot == x.Ballot && x.Stage >= accepted`, ``),
	by("kvstores", "TestEpaxosVotes", "A replica accepts nothing in a ballot below its promise.", epaxosDecideGo,
		`		if m.Ballot < x.Promised {`, `		if false {`),
	by("kvstores", "TestEpaxosVotes", "A replica promises a ballot once.", epaxosDecideGo,
		`if m.Ballot <= x.Promised {`, `if m.Ballot < x.Promised {`),
	by("kvstores", "TestEpaxosDecidesOnce", "A promise says nothing of the value: two ballots an instance.", epaxosDecideGo,
		`		x.Promised = m.Ballot
		return true`, `		x.Promised, x.Ballot = m.Ballot, m.Ballot
		return true`),
	by("kvstores", "TestEpaxosVotes", "What is committed is not altered.", epaxosDecideGo,
		`x.Stage != committed && change(x)`, `change(x)`),
	by("kvstores", "TestEpaxosDecidesOnce", "Of accepted values that of the highest ballot is proposed.", epaxosRecoverGo,
		`x.Ballot > best.Ballot`, `x.Ballot < best.Ballot`),
	by("kvstores", "TestEpaxosDecidesOnce", "An accepted value is proposed again.", epaxosRecoverGo,
		`	case best != nil:`, `	case false:`),
	by("kvstores", "TestEpaxosDecidesOnce", "What all of a majority ordered alike may be decided.", epaxosRecoverGo,
		`return v, alike && agreed(list)`, `return v, false`),
	by("kvstores", "TestEpaxosDecidesOnce", "What they did not order alike is ordered anew.", epaxosRecoverGo,
		`return v, alike && agreed(list)`, `return v, true`),
	by("kvstores", "TestEpaxosServesTheMajority", "What a dead node left undecided is recovered.", epaxosRecoverGo,
		`			e.revive(q, last, now)`, `			_ = last`),
	by("kvstores", "TestEpaxosCatchesUp", "A recovered instance that nobody knows is decided.", epaxosRecoverGo,
		`last := max(int64(len(e.space[q]))-1, e.wanted[q])`, `last := int64(-1)`),
	by("kvstores", "TestEpaxosExecutionEqualsTwin", "Nothing is executed before all that it depends on is committed.", epaxosExecuteGo,
		`last >= e.front[q] && !skips {`, `last >= e.front[q] && skips {`),
	by("kvstores", "TestEpaxosExecutionEqualsTwin", "A component is executed by seq.", epaxosExecuteGo,
		`cmp.Compare(a.Seq, b.Seq), `, ``),
	by("kvstores", "TestEpaxosExecutionEqualsTwin", "Equal seqs go by replica.", epaxosExecuteGo,
		`cmp.Compare(a.ID.Replica, b.ID.Replica), `, ``),
	by("kvstores", "TestEpaxosExecutionEqualsTwin", "A component is what depends on each other.", epaxosExecuteGo,
		`t.low[x] = min(t.low[x], t.number[y])`, `_ = y`),
	by("kvstores", "TestEpaxosExecutionEqualsTwin", "What has waited is executed once it can be.", epaxosExecuteGo,
		`return x.missing == nil || x.missing.Inst < e.front[x.missing.Replica]`, `return x.missing == nil`),
	by("kvstores", "TestEpaxosExecutesOnce", "A request is carried out once.", epaxosExecuteGo,
		`	case e.repeated(x):`, `	case e.repeated(x) && false:`),
	by("kvstores", "TestEpaxosJournal", "What a replica votes for survives a kill.", epaxosLogGo,
		`	return e.journal.append(x)`, `	return e.journal.end(), nil`),
}
