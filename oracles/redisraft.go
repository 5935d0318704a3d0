package oracles

// redisRaft: a write knows its place in the log, a read the last entry that
// the server had applied; both count the same log.
func redisRaft() builtin {
	const doc = `Redis Raft: writes by log index, reads by last applied index
Hard, per key: writes follow their logidx, reads their applied; a read comes
before the writes that its server had not applied (applied < logidx), and after
those that it had (logidx <= applied).
Two acknowledged writes with one logidx are a finding.`
	return native("redisraft", doc, false, []string{"logidx", "applied"}, numberLine("logidx", "applied"), unique(false, "logidx"))
}
