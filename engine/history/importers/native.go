package importers

import (
	"cmp"
	"context"

	"pinyon/engine/history"
)

// readNative hands the file to the strict reader of Pinyon's own format.
func readNative(src *source, o *Options, rep *Report) (*history.Raw, error) {
	if err := refuseLineOrder(src, rep); err != nil {
		return nil, err
	}
	h, err := history.ParseNative(cmp.Or(src.ctx, context.Background()), src.path, src.text)
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
