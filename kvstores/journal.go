package kvstores

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// journal is an append-only file of records, each with its length and a
// checksum: what a node must still know after a kill. A record counts once sync
// has returned for its end; a torn last record is cut off when the file is
// opened again, and any other damage is an error. A nil journal keeps nothing.
type journal struct {
	path    string
	spare   int        // records beyond what is needed before it is worth writing anew
	syncing sync.Mutex // one fsync at a time, which serves all who wait; guards file, with mutex
	mutex   sync.Mutex // guards what follows
	file    *os.File
	records int   // in the file
	written int64 // bytes handed to the system, ever
	synced  int64 // bytes that survive
	broken  error // the first failure; nothing is acknowledged after it
}

// spareRecords is how much a journal may hold that is not needed any more.
const spareRecords = 8192

// frame is the length and the checksum before a record, in bytes.
const frame = 8

// castagnoli is the table of the checksum (CRC-32C).
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openJournal opens the journal dir/name, giving what it holds to replay,
// record by record. An empty dir gives nil.
func openJournal(dir, name string, replay func([]byte) error) (*journal, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	records := 0
	end, err := replayAll(file, func(record []byte) error {
		records++
		return replay(record)
	})
	if err == nil {
		err = file.Truncate(end)
	}
	if err == nil {
		_, err = file.Seek(end, io.SeekStart)
	}
	if err = errors.Join(err, file.Sync(), syncFolder(dir)); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", file.Name(), err), file.Close())
	}
	return &journal{path: file.Name(), spare: spareRecords, file: file, records: records, written: end, synced: end}, nil
}

// syncFolder makes the names in dir survive.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// replayAll reads the records and returns where the last whole one ends.
func replayAll(file *os.File, replay func([]byte) error) (end int64, err error) {
	data, err := io.ReadAll(file)
	if err != nil {
		return 0, err
	}
	for at := 0; ; {
		rest := data[at:]
		if len(rest) < frame {
			return int64(at), nil
		}
		length, sum := int(binary.LittleEndian.Uint32(rest)), binary.LittleEndian.Uint32(rest[4:])
		if length > len(rest)-frame {
			return int64(at), nil // torn
		}
		record := rest[frame : frame+length]
		if crc32.Checksum(record, castagnoli) != sum {
			if len(rest) == frame+length {
				return int64(at), nil // the last one: torn as well
			}
			return 0, fmt.Errorf("the record at byte %d is damaged: its checksum does not match, and it is not the last", at)
		}
		if err := replay(record); err != nil {
			return 0, fmt.Errorf("the record at byte %d: %w", at, err)
		}
		at += frame + length
	}
}

// append adds a record, as JSON, and returns its end, for sync. Records are in
// the file in the order of the calls.
func (j *journal) append(record any) (end int64, err error) {
	if j == nil {
		return 0, nil
	}
	line, err := framed(nil, record)
	if err != nil {
		return 0, err
	}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if j.broken == nil {
		_, j.broken = j.file.Write(line)
		j.written += int64(len(line))
		j.records++
	}
	return j.written, j.broken
}

// framed appends a record to b as the file has it.
func framed(b []byte, record any) ([]byte, error) {
	text, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(text, castagnoli))
	return append(b, text...), nil
}

// full reports whether the file holds many more records than the needed ones.
func (j *journal) full(needed int) bool {
	if j == nil {
		return false
	}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.broken == nil && j.records > 2*needed+j.spare
}

// rewrite puts records in the place of all that was appended; the caller lets
// nobody append meanwhile. After a kill either the old file is there or the new.
func (j *journal) rewrite(records []any) (err error) {
	if j == nil {
		return nil
	}
	var text []byte
	for _, r := range records {
		if text, err = framed(text, r); err != nil {
			return err
		}
	}
	j.syncing.Lock()
	defer j.syncing.Unlock()
	file, err := replaced(j.path, text)
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if err != nil {
		j.broken = errors.Join(j.broken, err)
		return err
	}
	_ = j.file.Close() // all that counts is in the new one
	j.file, j.records, j.synced = file, len(records), j.written
	return nil
}

// replaced writes a file beside path and gives it that name.
func replaced(path string, text []byte) (*os.File, error) {
	file, err := os.Create(path + ".new")
	if err != nil {
		return nil, err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync()); err == nil {
		err = os.Rename(path+".new", path)
	}
	if err = errors.Join(err, syncFolder(filepath.Dir(path))); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// end is where the last record ends.
func (j *journal) end() int64 {
	if j == nil {
		return 0
	}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.written
}

// sync returns once all records up to end survive a kill.
func (j *journal) sync(end int64) error {
	if j == nil {
		return nil
	}
	if done, err := j.survives(end); done || err != nil {
		return err
	}
	j.syncing.Lock()
	defer j.syncing.Unlock()
	if done, err := j.survives(end); done || err != nil {
		return err // whoever synced before brought ours along
	}
	upTo := j.end()
	err := j.file.Sync()
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if err != nil {
		j.broken = errors.Join(j.broken, err)
		return err
	}
	j.synced = upTo
	return nil
}

func (j *journal) survives(end int64) (bool, error) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.synced >= end, j.broken
}

// note is append and sync.
func (j *journal) note(record any) error {
	end, err := j.append(record)
	if err != nil {
		return err
	}
	return j.sync(end)
}

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.file.Close()
}
