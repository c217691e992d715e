package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	entryFile  = "journal.json"
	recordFile = "record.json"
)

// Files is the Journal in a folder of the node's disk.
type Files struct {
	dir  string
	lock *os.File
}

// NewFiles opens the journal in dir, which is made if it is missing.
func NewFiles(dir string) (*Files, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	return &Files{dir: dir}, nil
}

// Load implements Journal.
func (f *Files) Load() (*Entry, error) {
	var entry Entry
	found, err := f.read(entryFile, &entry)
	if err != nil || !found {
		return nil, err
	}
	return &entry, nil
}

// Save implements Journal.
func (f *Files) Save(entry Entry) error { return f.write(entryFile, entry) }

// Close implements Journal.
func (f *Files) Close(record Record) error {
	if err := f.write(recordFile, record); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(f.dir, entryFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("closing the journal: %w", err)
	}
	return f.syncDir()
}

// Record implements Journal.
func (f *Files) Record() (Record, error) {
	var record Record
	_, err := f.read(recordFile, &record)
	return record, err
}

func (f *Files) read(name string, into any) (bool, error) {
	path := filepath.Join(f.dir, name)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the journal: %w", err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return false, fmt.Errorf("reading the journal %s: %w; move the file away to go on without it", path, err)
	}
	return true, nil
}

func (f *Files) write(name string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", name, err)
	}
	if err := f.writeDurably(name, raw); err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	return nil
}

func (f *Files) writeDurably(name string, raw []byte) (err error) {
	temporary := filepath.Join(f.dir, "."+name)
	file, err := os.OpenFile(temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(raw)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := os.Rename(temporary, filepath.Join(f.dir, name)); err != nil {
		return err
	}
	return f.syncDir()
}

func (f *Files) syncDir() error {
	dir, err := os.Open(f.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
