package oracles

// etcd: every response carries the store's revision, which counts the writes
// of the whole store, so it orders operations of all keys.
func etcd() builtin {
	const doc = `etcd: by the revision of the whole store
Hard, over all keys: a.revision < b.revision orders a before b; of equal
revisions, a write (which made the revision) comes before a read (which saw
it). A compare that failed changed nothing and counts as a read.
Two acknowledged writes with one revision are a finding, but for leases, compaction and
defragmentation, which need no revision of their own. mod_revision is the
revision of the write that a read saw: the write comes before the read, and it is
a finding where the values contradict it.`
	return native("etcd", doc, true, []string{"revision", "mod_revision"},
		numberLine("revision", "revision"), uniqueBut(true, []string{"lease-grant", "lease-revoke", "compact", "defragment"}, "revision"),
		(&readsFrom{read: "mod_revision", write: "revision", grows: true}).order(true))
}
