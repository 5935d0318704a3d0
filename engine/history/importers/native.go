package importers

import (
	"strings"

	"pinyon/engine/history"
)

// readNative hands the file to the strict reader of Pinyon's own format.
func readNative(src *source, o *Options, rep *Report) (*history.Raw, error) {
	if err := refuseLineOrder(src, rep); err != nil {
		return nil, err
	}
	h, err := history.ReadNative(src.path, stoppable{src.ctx, strings.NewReader(src.text)})
	if err != nil && src.ctx != nil && src.ctx.Err() != nil {
		return nil, src.ctx.Err() // without the line that was reached
	}
	if err != nil {
		return nil, err
	}
	rep.Timed = true
	return h, nil
}

// refuseLineOrder: where lines may stand in any order, or hold both ends of an
// operation, their order says nothing of real time.
func refuseLineOrder(src *source, rep *Report) error {
	if rep.Order == history.ByLine {
		return &history.Error{Path: src.path, Msg: "the format " + src.format + " cannot be ordered by file: its lines do not stand in the order of events"}
	}
	return nil
}
