package paths_test

import (
	"pinyon/engine/brute"
	"pinyon/engine/paths"
	"pinyon/engine/spec"
	"pinyon/engine/verify"
)

// all are the paths, the late ones last.
var all = append(append([]paths.Path(nil), paths.All...), paths.Late...)

// coreAt re-checks a core at a level by its name.
func coreAt(s *spec.Subject, level string, ops []int32) error {
	d, err := verify.Define(level)
	if err != nil {
		return err
	}
	return brute.Core(s, d, nil, ops)
}
