package kvstores

// raftStores are the stores on top of one replicated log. They share one node
// (raftNode) and differ in what they call their hints, in how they read, and in
// the mistakes that they offer.
func raftStores() []Store {
	return []Store{kvraft(), kvholipaxos(), kvredisraft(), kvetcd(), kvfollower(), kvlog(), kvskyros()}
}

// raftFlavor is what makes one of these stores out of the node.
type raftFlavor struct {
	// entry and read name the hints: of a request that has an entry of its own
	// in the log, and of a read at a replica whose last applied entry this is.
	entry, read func(term, index uint64) map[string]any
	// revisions: the hints are etcd's instead.
	revisions bool
	// logged: reads are entries too.
	logged bool
	// stale is how stale reads may be; nil: not at all.
	stale *staleness
	// whole: the log is never cut, because observe is not in the snapshot: it is
	// told of every command that is carried out, in the loop, and must be quick.
	whole   bool
	observe func(placed)
}

var hintsOption = Option{"hints", "on", "off: the replies carry no hints (to measure that they cost no message)"}

func kvraft() Store {
	return Store{
		Name: "kvraft", Majority: true,
		Doc: `Raft (go.etcd.io/raft) with a write-ahead log; reads ask a majority who leads
Any node answers. Writes are entries of one log, answered by the node that was
asked once it has applied them; the replicated state keeps the last result of
each client, so that a request that is proposed again after a failover is
answered once. Reads use ReadIndex (Ongaro, Consensus: Bridging Theory and
Practice, 2014, section 6.4) and are no entries.
Hints, both counted over the whole store: index, of the entry that the request
is, or for a get of the last entry that the replica had applied when it read;
term, the term of that entry. A write comes before a get of the same index.`,
		Model: "kv", Claim: "linearizable", Oracle: "raft",
		Options: []Option{hintsOption},
		Bugs:    raftBugs(),
		New:     func(c Config) (Node, error) { return newRaftNode(c, raftFlavor{entry: raftHints, read: raftHints}) },
	}
}

func raftHints(term, index uint64) map[string]any {
	return map[string]any{"term": term, "index": index}
}

func kvholipaxos() Store {
	return Store{
		Name: "kvholipaxos", Majority: true,
		Doc: `kvraft with the hints of HoliPaxos: every request is an instance of the log
Gets are instances too, so that all requests of the store stand in one order.
Hints: instance, the place in the log; ballot, the term that it was proposed in.
A request that is proposed again after a change of leader is answered with the
instance at which it was applied, which is the first.`,
		Model: "kv", Claim: "linearizable", Oracle: "holipaxos",
		Options: []Option{hintsOption},
		Bugs:    []Bug{retryTwice("kvholipaxos")},
		New: func(c Config) (Node, error) {
			hints := func(term, index uint64) map[string]any { return map[string]any{"instance": index, "ballot": term} }
			return newRaftNode(c, raftFlavor{entry: hints, read: hints, logged: true})
		},
	}
}

func kvredisraft() Store {
	return Store{
		Name: "kvredisraft", Majority: true,
		Doc: `kvraft with the hints of Redis Raft: log index of writes, applied index of reads
Hints: logidx, of the entry that the request is; applied, the last entry that
the replica had applied when it answered (for an entry: itself), which is what
places a get, and a cas that failed.`,
		Model: "kv", Claim: "linearizable", Oracle: "redisraft",
		Options: []Option{hintsOption},
		Bugs:    []Bug{noReadIndex()},
		New: func(c Config) (Node, error) {
			return newRaftNode(c, raftFlavor{
				entry: func(_, index uint64) map[string]any { return map[string]any{"logidx": index, "applied": index} },
				read:  func(_, index uint64) map[string]any { return map[string]any{"applied": index} },
			})
		},
	}
}

func kvetcd() Store {
	return Store{
		Name: "kvetcd", Majority: true,
		Doc: `kvraft with the hints of etcd: the revision of the store, and of the value that was read
Hints: revision, which counts the writes of the whole store that changed
something (a cas that failed, and a delete of nothing, did not), as the replica
had applied them when it answered; mod_revision, of a get: the revision of the
write that it saw.`,
		Model: "kv", Claim: "linearizable", Oracle: "etcd",
		Options: []Option{hintsOption},
		Bugs:    []Bug{retryTwice("kvetcd"), noReadIndex()},
		New: func(c Config) (Node, error) {
			return newRaftNode(c, raftFlavor{entry: raftHints, read: raftHints, revisions: true})
		},
	}
}
