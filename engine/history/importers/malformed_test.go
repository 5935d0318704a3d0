package importers

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pinyon/engine/history"
)

var malformedDir = filepath.Join("..", "..", "..", "testdata", "foreign", "malformed")

// malformed pins what is said of each file of the folder; the file's name is
// the mistake.
var malformed = map[string]string{
	"array-without-comma.json":             `3:2: expected ',' or ']' after an operation`,
	"column-that-is-no-value.txt":          `2: process 0: the value "[1" of write cannot be read: the "[" that starts here is not closed`,
	"completion-that-lost-its-key.edn":     `4: process 6 completes read with nil: the key 6 of its invocation (line 1) is lost`,
	"completion-without-invocation.edn":    `3: process 1 completes read (:ok) without having invoked it`,
	"etcd-read-without-value.log":          `2: process 0: not in the grammar of the etcd logs: :ok :read `,
	"index-stands-twice.edn":               `2: process 0: :index 4 stands twice, on lines 1 and 2`,
	"info-with-a-completion-time.jsonl":    `1:1: "complete_ns" must be absent exactly when the outcome is info`,
	"map-with-a-key-twice.edn":             `1:47: the key :a stands twice in the map that starts here`,
	"no-history-at-all.txt":                `1: no known history format; formats tried: native, jepsen-edn, knossos, jepsen-txt, jepsen-log, elle-json, etcd-log, porcupine-kv, splitbrain, violin, object-log, etcd-report, chaos, s2, turnpike, turnpike-events, table; to read a CSV table or JSON Lines, name the columns with --map (pinyon help formats)`,
	"ok-read-without-observed.jsonl":       `1:1: a read with the outcome ok needs the field "observed"`,
	"process-with-two-operations-open.edn": `3: process 0 invokes write while its write of line 2 is still open`,
	"stack-operation-of-a-queue.log":       `4: process 2: unknown operation "pop" of a queue`,
	"s2-end-of-another-operation.jsonl":    `2:2: process 1 finishes append (op_id 1), but what it started is read (op_id 1)`,
	"chaos-time-that-is-none.jsonl":        `1:29: "time" must be a time such as 2020-05-13T10:57:38.07Z, got "yesterday"`,
	"stack-method-of-a-queue.log":          `3: unknown method "pop" of a queue`,
	"report-with-an-unknown-request.json":  `3:3: unknown type "watch" of a request; range, txn, leaseGrant, leaseRevoke, compact and defragment are known`,
	"turnpike-return-that-is-no-time.csv":  `2:3: soon is no time; expected a number, or a date such as 2020-05-13T10:57:38.07Z (mapping return=return_ns)`,
	"turnpike-unknown-kind-of-event.csv":   `2:5: unknown Kind Timeout; Invocation and Response are known`,
	"header-of-another-version.edn":        `1:54: the version must be 1, got 2; this program reads no other`,
	"string-that-never-ends.edn":           `1:48: the string that starts here is not closed`,
	"unknown-kv-operation.txt":             `2: unknown operation "swap" in a key-value log; get, put and append are known`,
}

func TestMalformedFilesAreRefusedWithLineAndReason(t *testing.T) {
	files, err := os.ReadDir(malformedDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join(malformedDir, f.Name())
		want, known := malformed[f.Name()]
		if !known {
			t.Errorf("%s: no error is pinned for this file", f.Name())
			continue
		}
		options := Options{}
		if f.Name() == "etcd-read-without-value.log" {
			options.Format = "etcd-log" // its mistake makes it a common log
		}
		_, _, err := Load(path, options)
		var e *history.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: want a *history.Error, got %v", f.Name(), err)
		} else if got := err.Error(); got != path+":"+want {
			t.Errorf("%s:\n got %s\nwant %s", f.Name(), got, path+":"+want)
		}
	}
	if len(files) != len(malformed) {
		t.Errorf("%d files, %d errors are pinned", len(files), len(malformed))
	}
}
