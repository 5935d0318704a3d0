package oracles

import "pinyon/engine/order"

// etcd: every response carries the store's revision, which counts the writes
// of the whole store, so it orders operations of all keys.
func etcd() builtin {
	const doc = `etcd: by the revision of the whole store
Hard, over all keys: a.revision < b.revision orders a before b; of equal
revisions, a write (which made the revision) comes before a read (which saw
it). A compare that failed changed nothing and counts as a read.
Not stated yet: that a revision is unique among writes, and that mod_revision
names the write that a read saw.`
	return builtin{Info{"etcd", doc, []string{"revision"}},
		order.Oracle{Name: "etcd", AllKeys: true, Order: numberLine("revision", "revision"), Text: "etcd"}}
}
