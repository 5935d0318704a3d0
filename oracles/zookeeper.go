package oracles

// zooKeeper: every response carries the zxid of the last transaction that the
// server had applied; a write's own, for a write.
func zooKeeper() builtin {
	const doc = `ZooKeeper: by zxid, the number of the last transaction seen
Hard, over all keys: a.zxid < b.zxid orders a before b; of equal zxids, a write
comes before a read. To be used with the level ordered-sequential, which is
what ZooKeeper promises: reads may lag behind real time.
Two acknowledged writes with one zxid are a finding. mzxid is the zxid of the
write that a read saw: the write comes before the read, and it is a finding where
the values contradict it.`
	return native("zookeeper", doc, true, []string{"zxid", "mzxid"}, numberLine("zxid", "zxid"), unique(true, "zxid"),
		(&readsFrom{read: "mzxid", write: "zxid", grows: true}).order(true))
}
