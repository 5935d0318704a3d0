package kvstores

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
)

// wal is a write-ahead log in one file: what a node must still know after
// kill -9. A record is
//
//	length of the payload, 4 bytes, big endian
//	CRC-32C of the payload, 4 bytes, big endian
//	the payload: one byte for its kind, then the body
//
// Records are added to a buffer in memory, and sync writes them in one go and
// waits until they are on the disk. The file is filled with zeros ahead of what
// is written, because to overwrite is much quicker to sync than to grow. A kill
// leaves a prefix of what was written: a broken record with nothing but zeros
// behind it is dropped, one with more behind it is an error. A nil *wal keeps
// nothing.
type wal struct {
	path   string
	file   *os.File
	buffer []byte
	end    int64 // where the next record goes
	room   int64 // up to where the file is filled
	// late is the mistake lose-unsynced-log: sync leaves everything in the
	// buffer until it has grown to that many bytes. 0: sync does its work.
	late int
}

// walRecord is one record as it was read back.
type walRecord struct {
	kind byte
	body []byte
}

// walHeader is the size of a record's length and checksum, walAhead how many
// zeros the file is filled with at a time.
const (
	walHeader = 8
	walAhead  = 1 << 20
)

var walTable = crc32.MakeTable(crc32.Castagnoli)

// openWAL opens the log in dir, which it makes if needed, and returns the
// records that are there. dir "": there is no log.
func openWAL(dir string, late int) (*wal, []walRecord, error) {
	if dir == "" {
		return nil, nil, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, err
	}
	w := &wal{path: filepath.Join(dir, "wal"), late: late}
	text, err := os.ReadFile(w.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, err
	}
	records, good, err := readWAL(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", w.path, err)
	}
	if w.file, err = os.OpenFile(w.path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, nil, err
	}
	w.end, w.room = int64(good), int64(good)
	if err = errors.Join(w.file.Truncate(w.end), syncDir(dir)); err != nil {
		return nil, nil, errors.Join(err, w.file.Close())
	}
	return w, records, nil
}

// readWAL splits text into records and says how many bytes of it they are.
func readWAL(text []byte) (records []walRecord, good int, err error) {
	for rest := text; len(rest) >= walHeader; rest = text[good:] {
		size := int(binary.BigEndian.Uint32(rest))
		if size < 1 || size > maxBody || walHeader+size > len(rest) {
			break // zeros, or cut off
		}
		payload, behind := rest[walHeader:walHeader+size], rest[walHeader+size:]
		if crc32.Checksum(payload, walTable) != binary.BigEndian.Uint32(rest[4:]) {
			if len(bytes.Trim(behind, "\x00")) > 0 {
				return nil, 0, fmt.Errorf("the record at byte %d is broken and others follow it; the file was damaged after it was written", good)
			}
			break
		}
		records = append(records, walRecord{payload[0], payload[1:]})
		good += walHeader + size
	}
	return records, good, nil
}

// appendRecord appends a record to b.
func appendRecord(b []byte, r walRecord) []byte {
	start := len(b)
	b = append(b, make([]byte, walHeader)...)
	b = append(append(b, r.kind), r.body...)
	payload := b[start+walHeader:]
	binary.BigEndian.PutUint32(b[start:], uint32(len(payload)))
	binary.BigEndian.PutUint32(b[start+4:], crc32.Checksum(payload, walTable))
	return b
}

// add puts a record into the buffer.
func (w *wal) add(kind byte, body []byte) {
	if w != nil {
		w.buffer = appendRecord(w.buffer, walRecord{kind, body})
	}
}

// sync makes everything that was added durable.
func (w *wal) sync() error {
	if w == nil || len(w.buffer) <= w.late {
		return nil
	}
	return w.flush()
}

func (w *wal) flush() error {
	need := w.end + int64(len(w.buffer))
	if need > w.room {
		room := need + walAhead
		if _, err := w.file.WriteAt(make([]byte, room-w.room), w.room); err != nil {
			return err
		}
		w.room = room
	}
	if _, err := w.file.WriteAt(w.buffer, w.end); err != nil {
		return err
	}
	w.end, w.buffer = need, w.buffer[:0]
	return syncData(w.file)
}

// replace makes the log hold just these records, at once: a kill leaves either
// the old log or the new one.
func (w *wal) replace(records []walRecord) error {
	if w == nil {
		return nil
	}
	var text []byte
	for _, r := range records {
		text = appendRecord(text, r)
	}
	fresh, err := os.OpenFile(w.path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	if _, err = fresh.Write(text); err == nil {
		err = fresh.Sync()
	}
	if err == nil {
		err = os.Rename(w.path+".new", w.path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(w.path))
	}
	if err != nil {
		return errors.Join(err, fresh.Close())
	}
	old := w.file
	w.file, w.buffer = fresh, w.buffer[:0]
	w.end, w.room = int64(len(text)), int64(len(text))
	return old.Close()
}

// close writes what is left and lets go of the file.
func (w *wal) close() error {
	if w == nil {
		return nil
	}
	return errors.Join(w.flush(), w.file.Close())
}

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
