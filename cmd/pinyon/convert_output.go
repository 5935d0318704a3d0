package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeTo writes a file, or to stdout where path is empty. A file appears under
// its name when it is complete: what stood there before stays until then, and
// after an error or an interrupt.
func (a *app) writeTo(ctx context.Context, path string, write func(io.Writer) error) error {
	if path == "" || path == "-" {
		err := until(ctx, func() error { return write(a.stdout) })
		if ctx.Err() != nil {
			return &status{exitUnknown, fmt.Errorf("interrupted: what was written to standard output is not complete")}
		}
		return err
	}
	o, err := openOutput(path)
	if err != nil {
		return missingFile(err)
	}
	err = until(ctx, func() error {
		w := bufio.NewWriter(o.file)
		if err := packed(path, w, write); err != nil {
			return err
		}
		return w.Flush()
	})
	switch {
	case ctx.Err() != nil && o.drop():
		return &status{exitUnknown, fmt.Errorf("interrupted: %s was not written", path)}
	case ctx.Err() != nil:
		return &status{exitUnknown, fmt.Errorf("interrupted: what was written to %s is not complete", path)}
	case err != nil:
		o.drop()
		return err
	}
	return o.keep()
}

// packed writes to w what write does, by gzip where the name says so: such a file
// is read back by its content, and other tools go by the name.
func packed(path string, w io.Writer, write func(io.Writer) error) error {
	if filepath.Ext(path) != ".gz" {
		return write(w)
	}
	z := gzip.NewWriter(w)
	if err := write(z); err != nil {
		return err
	}
	return z.Close()
}

// until runs f and returns what it does, or nil as soon as ctx is done; f may
// then go on until the program ends.
func until(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("writing failed: %v", r)
			}
		}()
		done <- f()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return nil
	}
}

// output is a file to write: one beside the file that it will replace or, where
// that cannot be replaced (a device, a pipe, a folder that is read-only), the
// file itself.
type output struct {
	file   *os.File
	target string // "": file is the target
}

func openOutput(path string) (output, error) {
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real // a link stays a link
	}
	info, err := os.Stat(target)
	if err == nil && !info.Mode().IsRegular() {
		file, err := os.Create(target)
		return output{file, ""}, err
	}
	mode := fs.FileMode(0o666)
	if err == nil {
		mode = info.Mode().Perm()
		old, err := os.OpenFile(target, os.O_WRONLY, 0) // what must not be written is not replaced
		if err != nil {
			return output{}, err
		}
		old.Close()
	}
	beside := filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.%d.part", filepath.Base(target), os.Getpid()))
	file, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		file, err = os.Create(target)
		return output{file, ""}, err
	}
	return output{file, target}, nil
}

// keep puts the file in its place.
func (o output) keep() error {
	err := o.file.Close()
	if o.target == "" {
		return err
	}
	if err == nil {
		err = os.Rename(o.file.Name(), o.target)
	}
	if err != nil {
		os.Remove(o.file.Name())
	}
	return err
}

// drop removes what was written; it reports whether nothing is left of it.
func (o output) drop() bool {
	o.file.Close()
	return o.target != "" && os.Remove(o.file.Name()) == nil
}
