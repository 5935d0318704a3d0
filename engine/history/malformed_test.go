package history_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pinyon/engine/history"
)

// Each file under testdata/malformed is named after its one mistake, and this
// is all that a user hears of it.
var malformed = map[string]string{
	"broken_json":                           "2:34: a comma before ']'",
	"complete_without_invoke":               "3:26: op 9 completes, but no line invokes it",
	"empty_line":                            "2:1: an empty line; remove it",
	"fail_with_out":                         "2:72: a fail operation carries no \"out\": only an answer that is ok has one",
	"field_of_an_event_on_an_operation":     "2:52: the field \"time\" does not belong on an operation; its fields are process, f, key, in, out, invoke, return, outcome, hints, id, node, error",
	"header_missing":                        "1:1: the header line is missing; the first line must be {\"pinyon\":\"history\",\"version\":1}, with more fields if you like",
	"header_negative_clock_error":           "1:47: \"clock_error\" must be nanoseconds, an integer from 0 on, or an object of such by node, got -40",
	"header_second":                         "3:2: a second header line; the header is line 1, and a file holds one history",
	"header_unknown_field":                  "1:33: unknown field \"modell\" in the header; did you mean \"model\"?",
	"header_unknown_ties":                   "1:40: \"ties\" must be concurrent or precede, got \"before\"",
	"header_version_2":                      "1:31: the version must be 1, got 2; this program reads no other",
	"id_collides_with_a_position":           "3:1: the operation has no id, so it is op 1 by its position, and line 2 gives that id to another; give ids to all operations or to none",
	"id_of_a_whole_operation_completes":     "3:26: op 9 completes here, but line 2 already holds the whole operation",
	"info_with_return":                      "2:54: an info operation has no \"return\": nobody knows when it ended; leave it out, or say ok or fail",
	"missing_outcome":                       "2:1: the field \"outcome\" is missing from an operation",
	"node_without_clock_error":              "2: op 0: no clock error is given for its node \"n2\", only for n1",
	"note_without_from":                     "2:1: the field \"from\" is missing from a note",
	"number_too_large":                      "2:42: \"invoke\" must be an int64, got 18446744073709551616, which does not fit",
	"ok_without_return":                     "2:1: the field \"return\" is missing; only an info operation has none",
	"process_goes_on_after_info":            "3: op 1: process 3 goes on at 20 ns, although its op 0 (process_goes_on_after_info.jsonl:2) got no answer; a process ends there, so what follows needs another name",
	"process_with_two_operations_in_flight": "3: op 1: process c invokes it at 20 ns, while its op 0 (process_with_two_operations_in_flight.jsonl:2) is in flight until 30 ns; a process has one operation at a time",
	"repeated_field":                        "2:57: the field \"in\" stands twice",
	"return_before_invoke":                  "2: op 0: it returns at 10 ns, before it is invoked at 20 ns",
	"tied_instants":                         "3: op 1: it takes no time at 10 ns, as does op 0 (tied_instants.jsonl:2) on the same key; with ties precede neither comes first, so use ties concurrent",
	"time_beyond_the_range":                 "2:42: \"invoke\" is -2000000000000000000, beyond the greatest time of ±1729382256910270464 nanoseconds from the start of the run",
	"time_with_a_point":                     "2:42: \"invoke\" must be an int64, got a decimal",
	"truncated_last_line":                   "3:31: the last line is cut off: unexpected end of line, expected ':'",
	"two_completions_of_one_id":             "4:26: op 9 completes twice, here and in line 3; it was invoked in line 2",
	"two_invokes_of_one_id":                 "3:24: the id 9 stands for two operations, here and in line 2; ids must differ",
	"two_objects_on_a_line":                 "2:82: unexpected '{' after the object; each line holds one object",
	"unknown_event":                         "2:10: unknown event \"compelte\"; did you mean \"complete\"?",
	"unknown_field":                         "2:33: unknown field \"invok\" on an operation; did you mean \"invoke\"?",
	"unknown_outcome":                       "2:67: unknown outcome \"failed\"; did you mean \"fail\"?",
	"wrong_type":                            "2:42: \"invoke\" must be an int64, got a string",
}

// load reads a native file and validates it, as the command does.
func load(path, name string) (*history.Raw, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, err := history.ReadNative(name, f)
	if err != nil {
		return nil, err
	}
	return h, history.Validate(h)
}

func TestMalformedFilesSayWhatIsWrongAndWhere(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/malformed/*.jsonl")
	if err != nil || len(paths) < 12 {
		t.Fatalf("%d malformed files, %v", len(paths), err)
	}
	if len(paths) != len(malformed) {
		t.Errorf("%d files but %d expected errors", len(paths), len(malformed))
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		t.Run(name, func(t *testing.T) {
			_, err := load(path, filepath.Base(path))
			var e *history.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v (%T), want an *Error", err, err)
			}
			if got := strings.TrimPrefix(err.Error(), filepath.Base(path)+":"); got != malformed[name] {
				t.Errorf("got\n\t%q: %q,\nwant\n\t%q", name, got, malformed[name])
			}
		})
	}
}
