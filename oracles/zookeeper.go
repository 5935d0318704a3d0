package oracles

import "pinyon/engine/order"

// zooKeeper: every response carries the zxid of the last transaction that the
// server had applied; a write's own, for a write.
func zooKeeper() builtin {
	const doc = `ZooKeeper: by zxid, the number of the last transaction seen
Hard, over all keys: a.zxid < b.zxid orders a before b; of equal zxids, a write
comes before a read. To be used with the level ordered-sequential, which is
what ZooKeeper promises: reads may lag behind real time.
Not stated yet: that a zxid is unique among writes, and that mzxid names the
write that a read saw.`
	return builtin{Info{"zookeeper", doc, []string{"zxid"}},
		order.Oracle{Name: "zookeeper", AllKeys: true, Order: numberLine("zxid", "zxid"), Text: "zookeeper"}}
}
