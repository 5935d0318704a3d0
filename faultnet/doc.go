// Package faultnet is a network that breaks on demand. Every directed link
// between two processes runs through a TCP proxy of its own on the loopback
// interface; a rule says what the proxy does to the bytes, for each direction
// apart, and may change while requests are in flight. A schedule says when which
// rule holds, and comes from a seed.
//
// Why proxies, and not a packet filter: they need no privileges, work in any
// container, see every byte (so that a fault can be shown to have happened, and
// a healthy link to have carried something), and cut the links of one process
// without touching its neighbours on the same machine. What they cannot show:
// packets lost or reordered inside one connection. TCP would repair those, so
// that the processes would see a delay, which is a rule here.
//
// Rules that hold everywhere:
//
//  1. A process sees a stream, a part of it from its start, or a part of it and
//     then a reset. It never sees a stream with a hole, a repetition or a
//     different order, whatever rules came and went.
//  2. A rule is in force when Set returns: no byte is forwarded against it
//     afterwards, not even one that a proxy had read before.
//  3. Each byte that a proxy has read is forwarded, or counted as dropped, or
//     held, or was lost with its connection.
//  4. Nothing here waits without a bound but for a peer or for Heal; Close ends
//     every goroutine and every connection.
//  5. Choices come from the seed: a schedule's bytes depend on nothing else.
//
// The faults are those that studies of real outages report: complete, partial
// and one-way partitions, and links that flap (Alquraan et al., "An Analysis of
// Network-Partitioning Failures in Cloud Systems", OSDI 2018; Alfatafta et al.,
// "Toward a Generic Fault Tolerance Technique for Partial Network Partitioning",
// OSDI 2020), processes that stop for a while or die, and clocks that are wrong.
package faultnet
