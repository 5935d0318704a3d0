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
	file    *os.File
	syncing sync.Mutex // one fsync at a time, which serves all who wait
	mutex   sync.Mutex // guards what follows
	written int64      // bytes handed to the system
	synced  int64      // bytes that survive
	broken  error      // the first failure; nothing is acknowledged after it
}

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
	end, err := replayAll(file, replay)
	if err == nil {
		err = file.Truncate(end)
	}
	if err == nil {
		_, err = file.Seek(end, io.SeekStart)
	}
	if err = errors.Join(err, file.Sync(), syncFolder(dir)); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", file.Name(), err), file.Close())
	}
	return &journal{file: file, written: end, synced: end}, nil
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
	text, err := json.Marshal(record)
	if err != nil {
		return 0, err
	}
	line := make([]byte, frame, frame+len(text))
	binary.LittleEndian.PutUint32(line, uint32(len(text)))
	binary.LittleEndian.PutUint32(line[4:], crc32.Checksum(text, castagnoli))
	line = append(line, text...)
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if j.broken == nil {
		_, j.broken = j.file.Write(line)
		j.written += int64(len(line))
	}
	return j.written, j.broken
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
	return j.file.Close()
}
