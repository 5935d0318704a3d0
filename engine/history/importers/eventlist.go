package importers

// eventList holds the events of a file in pieces, so that it grows without a
// copy of everything: histories are long, and events are many.
type eventList struct {
	pieces [][]event
	n      int32
}

// pieceBits says how many events a piece holds, as a power of two. A small
// history takes one small piece.
const pieceBits = 9

func (l *eventList) add(ev event) {
	at := int(l.n) >> pieceBits
	if at == len(l.pieces) {
		size := 0
		if at > 0 {
			size = 1 << pieceBits
		}
		l.pieces = append(l.pieces, make([]event, 0, size))
	}
	l.pieces[at] = append(l.pieces[at], ev)
	l.n++
}

// at returns event i, to be read or changed.
func (l *eventList) at(i int32) *event {
	return &l.pieces[i>>pieceBits][i&(1<<pieceBits-1)]
}
