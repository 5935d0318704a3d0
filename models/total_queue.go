package models

import (
	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// taken is what an operation of a queue that is read out took from it.
type taken = List[history.Value]

// totalQueue is Jepsen's total-queue: what goes in comes out, at least once.
func totalQueue() Analysis {
	return analysis(Analysis{
		Name: "total-queue",
		Doc: "A queue that is read out at the end: every element whose enqueue was acknowledged is dequeued, and nothing that was never enqueued. " +
			"Elements that come out twice or in another order are listed and allowed. What an unanswered dequeue may have taken is unknown, not lost.",
	}, totalQueueOps(), func(b *object[QueueIn, taken]) { judgeQueue(b, false) })
}

// onceQueue is totalQueue that allows neither duplicates nor another order.
func onceQueue() Analysis {
	return analysis(Analysis{
		Name: "once-queue",
		Doc: "A queue that is read out at the end, as total-queue, each element once and in order: one that was enqueued after another had been is not dequeued before it. " +
			"Elements that are lost, duplicated, reordered or came from nowhere are listed.",
	}, totalQueueOps(), func(b *object[QueueIn, taken]) { judgeQueue(b, true) })
}

func totalQueueOps() []operation[QueueIn, taken] {
	queue := queueOps()
	enqueue, dequeue := queue[0].OpDoc, queue[1].OpDoc
	return []operation[QueueIn, taken]{
		{OpDoc: enqueue, in: queue[0].in, out: noOutput[taken]},
		{OpDoc: dequeue, in: ignored(Dequeue()), out: func(r recorded) (out taken, known bool, want string) {
			v, known, want := elementOutput(r)
			if v != history.Null && known {
				out = ListOf(v)
			}
			return out, known, want
		}},
		{OpDoc: OpDoc{F: "drain", Out: "the elements that were left, in the order in which they came"}, in: ignored(QueueIn{F: "drain"}), out: func(r recorded) (out taken, known bool, want string) {
			elems, ok := r.out.Elems()
			if !ok || r.out.Kind() != history.KindArray && r.out.Kind() != history.KindSet {
				return out, false, "an array of the elements"
			}
			return ListOf(elems...), true, ""
		}},
	}
}

// flow is what went into a queue and what came out.
type flow struct {
	in, out  tally
	hidden   int  // dequeues whose answer is not known: each may have taken one
	drained  bool // a drain's answer is not known: it may have taken any number
	answered bool // some operation said something
}

func judgeQueue(b *object[QueueIn, taken], once bool) {
	var f flow
	for _, i := range b.ops {
		op := &b.Ops[i]
		f.answered = f.answered || op.Outcome == history.OK
		switch {
		case op.In.F == "enqueue":
			f.in.add(op.In.Elem, i)
		case op.Outcome == history.Fail:
		case b.known(i):
			for _, v := range op.Out.Slice() {
				f.out.add(v, i)
			}
		case op.In.F == "drain":
			f.drained = true
		default:
			f.hidden++
		}
	}
	if !f.answered {
		b.settle(spec.Vacuous, "no operation was answered")
		return
	}
	for _, v := range f.out.values {
		queueOut(b, v, f.in.by[v], f.out.by[v], once)
	}
	queueLost(b, &f)
	queueReordered(b, &f, once)
}

// queueOut judges the dequeues outs of one element.
func queueOut(b *object[QueueIn, taken], v history.Value, ins, outs []int, once bool) {
	early := true // all enqueues were invoked after this dequeue had returned
	for _, i := range ins {
		early = early && b.before(b.ret(outs[0]), b.call(i))
	}
	acked := b.among(ins, history.OK)
	switch {
	case len(ins) == 0:
		b.report(true, "unexpected", outs, "%s dequeued %s, which was never enqueued", b.Where(outs[0]), v.Label())
	case early:
		b.report(true, "unexpected", append(outs[:1:1], ins...), "%s dequeued %s before it was enqueued by %s", b.Where(outs[0]), v.Label(), b.Where(ins[0]))
	case len(outs) > len(ins):
		b.report(once, "duplicated", append(outs[:len(outs):len(outs)], ins...), "%s was enqueued %d and dequeued %d times, last by %s", v.Label(), len(ins), len(outs), b.Where(outs[len(outs)-1]))
	case len(outs) > acked && b.among(ins, history.Fail) == len(ins)-acked:
		b.report(false, "recovered", append(outs[:len(outs):len(outs)], ins...), "%s was dequeued though its enqueue, %s, had failed", v.Label(), b.Where(ins[len(ins)-1]))
	case len(outs) > acked:
		b.report(false, "recovered", append(outs[:len(outs):len(outs)], ins...), "%s was dequeued though its enqueue was never acknowledged", v.Label())
	}
}

// queueLost finds the acknowledged elements that never came out. They are lost
// only if there are more than unanswered dequeues may have taken.
func queueLost(b *object[QueueIn, taken], f *flow) {
	missing := 0
	for _, v := range f.in.values {
		missing += max(0, b.among(f.in.by[v], history.OK)-len(f.out.by[v]))
	}
	if missing == 0 {
		return
	}
	lost := !f.drained && missing > f.hidden
	for _, v := range f.in.values {
		ins := f.in.by[v]
		n := b.among(ins, history.OK) - len(f.out.by[v])
		if n <= 0 {
			continue
		}
		if lost {
			b.report(true, "lost", ins, "%s, enqueued by %s, was never dequeued", v.Label(), b.Where(ins[0]))
		} else {
			b.report(false, "possibly dequeued", ins, "%s, enqueued by %s, came out nowhere, but a dequeue or drain without an answer may have taken it", v.Label(), b.Where(ins[0]))
		}
	}
	b.settle(spec.Unknown, "elements are missing that an unanswered dequeue or drain may have taken")
}
