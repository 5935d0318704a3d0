// Package verify re-checks the evidence behind a verdict without the engine: a
// witness (an order of operations) and a cycle (hard edges in a circle). It
// also holds the written definition of every level that puts all operations
// in one order, from which the brute-force twin builds its relation.
//
// Why a reader may believe it: a level is a predicate on pairs (Definition),
// written down as the documents state it and evaluated pair by pair. Nothing
// here is shared with the engine's clocks, chains, tie rules or locality: only
// the columns of the history and the user's model are common to both.
//
// What it verifies: that a witness holds every operation that had to happen
// exactly once, keeps the transitive closure of the level's relation, and is
// legal step by step; that every edge of a cycle follows from the definition;
// that a proof file belongs to the history, has a part for every key, and that
// its verdict follows from its parts. At levels without a single order: that
// what operations are said to have seen, the order of the writes and the orders
// of the processes meet the definition, and that every step of a proof follows. What it does not: that a search was
// exhaustive ("exhausted" is not checkable), and the words of a reason.
package verify
