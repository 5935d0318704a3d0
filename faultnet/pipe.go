package faultnet

import (
	"errors"
	"io"
	"os"
	"slices"
	"time"
)

// How many bytes a pipe holds before it stops reading. While bytes pass freely
// the limit is small, so that a receiver who does not read is felt by the
// sender. A delay must hold all that comes meanwhile, or it would throttle.
const (
	holdPassing = 256 << 10
	holdStalled = 16 << 20
	holdDelayed = 256 << 20
)

// ending is how a stream ends.
type ending uint8

const (
	notYet  ending = iota
	byEOF          // the sender has sent all
	byReset        // the connection broke at the sender's end
)

// chunk is what one read gave: bytes, or the end of the stream.
type chunk struct {
	data []byte
	end  ending
	due  time.Time // delay: not before, nor before those ahead; zero: at once
}

// pipe is one direction of a connection: a reader that fills a queue and a
// writer that empties it. All rules act at two points, both under the proxy's
// lock: push, when something was read, and next, when something may be written.
type pipe struct {
	c    *conn
	side int
	dice *dice

	queue   []chunk
	held    int  // bytes in the queue
	hole    bool // something was dropped; nothing may follow it
	done    bool // the end of the stream was delivered
	dead    bool // the receiver is gone
	turn    int  // writes that have ended
	writing bool // the writer is writing the head of the queue
	cut     bool // interrupt has set a write deadline

	wake chan struct{} // for the writer: look again
	room chan struct{} // for the reader: look again
}

func (q *pipe) rule() Rule { return q.c.p.rules[q.side] }

// read fills the queue until the stream ends.
func (q *pipe) read() {
	buf := make([]byte, 32<<10)
	for q.waitForRoom() {
		n, err := q.c.socks[q.side].Read(buf)
		end := notYet
		if errors.Is(err, io.EOF) {
			end = byEOF
		} else if err != nil {
			end = byReset
		}
		q.c.p.mu.Lock()
		if n > 0 {
			q.push(buf[:n], notYet)
		}
		if end == byEOF {
			q.c.pipes[1-q.side].settle()
		}
		if end != notYet {
			q.push(nil, end)
		}
		q.c.p.mu.Unlock()
		if end != notYet {
			return
		}
	}
}

// waitForRoom returns true when the queue may take more, false when the
// connection has ended.
func (q *pipe) waitForRoom() bool {
	for {
		q.c.p.mu.Lock()
		full, ended := q.full(), q.c.ended
		q.c.p.mu.Unlock()
		switch {
		case ended:
			return false
		case !full:
			return true
		}
		select {
		case <-q.room:
		case <-q.c.life.Done():
		}
	}
}

func (q *pipe) full() bool {
	switch q.rule().Kind {
	case Delay:
		return q.held >= holdDelayed
	case Stall:
		return q.held >= holdStalled
	case Drop:
		return false
	}
	return q.held >= holdPassing
}

// push takes what was read: bytes, or the end of the stream.
func (q *pipe) push(data []byte, end ending) {
	switch {
	case q.c.ended || q.dead:
		return
	case q.hole || q.rule().Kind == Drop:
		q.lose(chunk{data: data, end: end})
		return
	}
	ch := chunk{data: slices.Clone(data), end: end}
	if r := q.rule(); r.Kind == Delay {
		ch.due = time.Now().Add(r.Delay + q.dice.between(0, r.Jitter, 1))
	}
	q.queue = append(q.queue, ch)
	q.held += len(data)
	signal(q.wake)
}

// lose drops a chunk. The stream has a hole from here on.
func (q *pipe) lose(ch chunk) {
	q.hole = true
	if q.side == forward {
		q.c.p.count.DroppedForward += int64(len(ch.data))
	} else {
		q.c.p.count.DroppedBackward += int64(len(ch.data))
	}
}

// obey applies rules that have just changed to the queue: a drop takes all that
// is in it, and only another delay or a stall keeps the times of a delay.
func (q *pipe) obey() {
	switch q.rule().Kind {
	case Drop:
		for _, ch := range q.queue {
			q.lose(ch)
		}
		q.queue, q.held = nil, 0
	case Delay, Stall:
	default:
		for i := range q.queue {
			q.queue[i].due = time.Time{}
		}
	}
	signal(q.wake)
	signal(q.room)
}

// write empties the queue until the connection ends.
func (q *pipe) write() {
	for {
		piece, ok := q.next()
		if !ok {
			return
		}
		n, err := q.c.socks[1-q.side].Write(piece)
		q.wrote(len(piece), n, err)
	}
}

// next waits until something may be written and returns it; ends of streams it
// delivers itself. It returns false when the connection has ended.
func (q *pipe) next() (piece []byte, ok bool) {
	for {
		q.c.p.mu.Lock()
		piece, wait := q.ready(time.Now())
		ended := q.c.ended
		q.c.p.mu.Unlock()
		switch {
		case ended:
			return nil, false
		case piece != nil:
			return piece, true
		}
		var timer <-chan time.Time
		if wait > 0 {
			timer = time.After(wait)
		}
		select {
		case <-q.wake:
		case <-timer:
		case <-q.c.life.Done():
		}
	}
}

// ready returns what may be written now, or else how long to wait: 0 until
// something changes. It delivers ends of streams.
func (q *pipe) ready(now time.Time) (piece []byte, wait time.Duration) {
	for len(q.queue) > 0 && !q.writing && !q.c.ended && !q.rule().holds() {
		head := q.queue[0]
		if wait := head.due.Sub(now); !head.due.IsZero() && wait > 0 {
			return nil, wait
		}
		if head.end != notYet {
			q.queue = q.queue[1:]
			q.finish(head.end)
			continue
		}
		piece, wait = head.data, 0
		if q.rule().Kind == Throttle {
			piece, wait = q.ration(head.data, now)
		}
		q.writing = piece != nil
		q.tally(len(piece))
		return piece, wait
	}
	return nil, 0
}

// ration cuts from data what the throttle lets through now. A piece is at most
// a twentieth of a second's worth, and pays for its time in advance; a late
// timer is made up for, by up to as much.
func (q *pipe) ration(data []byte, now time.Time) (piece []byte, wait time.Duration) {
	const slice = time.Second / 20
	rate := q.rule().BytesPerSecond
	free := &q.c.p.free[q.side]
	if wait := free.Sub(now); wait > 0 {
		return nil, wait
	}
	if now.Sub(*free) > slice {
		*free = now
	}
	n := int(min(int64(len(data)), max(1, rate/20)))
	*free = free.Add(time.Duration(float64(n) / float64(rate) * float64(time.Second)))
	return data[:n], 0
}

// finish delivers the end of the stream.
func (q *pipe) finish(end ending) {
	if end == byReset {
		q.c.end(true)
		return
	}
	_ = q.c.socks[1-q.side].CloseWrite()
	q.done = true
	if q.c.pipes[1-q.side].done {
		q.c.end(false)
	}
}

// wrote takes off the queue the n bytes that were written of a piece. When the
// receiver is gone, the sender learns of it as of a reset, under the rules of
// the other direction.
func (q *pipe) wrote(piece, n int, err error) {
	p := q.c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	q.writing = false
	q.turn++
	p.quiet.Broadcast()
	q.tally(n - piece)
	if n > 0 {
		p.count.LastForwarded = time.Now()
	}
	if q.cut {
		q.cut = false
		_ = q.c.socks[1-q.side].SetWriteDeadline(time.Time{})
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil
		}
	}
	if q.c.ended {
		return
	}
	q.held -= n
	if head := &q.queue[0]; n == len(head.data) {
		q.queue = q.queue[1:]
	} else {
		head.data = head.data[n:]
	}
	if err != nil {
		q.dead, q.queue, q.held = true, nil, 0
		q.c.pipes[1-q.side].push(nil, byReset)
	}
	signal(q.room)
}

// tally counts bytes as forwarded. They are counted before they are written, so
// that no end ever knows of a byte that the counters do not; a write that fails
// or is cut short takes the rest back.
func (q *pipe) tally(n int) {
	if q.side == forward {
		q.c.p.count.Forward += int64(n)
	} else {
		q.c.p.count.Backward += int64(n)
	}
}

// settle waits for a write under way, and cuts it short. The system tells of a
// broken connection once: when it told the write, the reader of the same socket
// sees what looks like a proper end of the stream. The write knows better, and
// has passed it on by the time it has ended.
func (q *pipe) settle() {
	q.interrupt()
	for turn := q.turn; q.writing && q.turn == turn; {
		q.c.p.quiet.Wait()
	}
}

// interrupt ends a write under way: its deadline has passed.
func (q *pipe) interrupt() {
	if q.writing {
		q.cut = true
		_ = q.c.socks[1-q.side].SetWriteDeadline(time.Unix(1, 0))
	}
}
