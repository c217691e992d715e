package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	entryFile  = "journal.json"
	recordFile = "record.json"
)

// ErrUnreadable marks a file that is there and says nothing that this handler
// understands. It stays in its place until Save or Close need that, which set
// it aside: a handler that ends meanwhile leaves it for the next one.
var ErrUnreadable = errors.New("cannot be read")

// Files is the Journal in a folder of the node's disk. A file of it is read and
// written by one goroutine at a time.
type Files struct {
	dir string
	// locks are held open: they end with the process.
	locks []*os.File
	// damaged are the files that were found unreadable.
	damaged map[string]bool
}

// NewFiles opens the journal in dir, which is made if it is missing.
func NewFiles(dir string) (*Files, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	return &Files{dir: dir, damaged: map[string]bool{}}, nil
}

// Load implements Journal.
func (f *Files) Load() (*Entry, error) {
	var entry Entry
	found, err := f.read(entryFile, func(raw []byte) error { return decode(raw, &entry) })
	if err != nil || !found {
		return nil, err
	}
	return &entry, nil
}

// decode refuses what it would understand in part only: a way back that is
// incomplete is worse than the one without a journal.
func decode(raw []byte, entry *Entry) error {
	var written struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(raw, &written); err == nil && written.Version > Version {
		return fmt.Errorf("a newer handler wrote it: it has version %d, this handler knows up to %d", written.Version, Version)
	}
	if err := json.Unmarshal(raw, entry); err != nil {
		return err
	}
	if !entry.Transaction.Open() {
		return fmt.Errorf("it has no transaction that could be open (phase %q)", entry.Transaction.Phase)
	}
	return nil
}

// Save implements Journal.
func (f *Files) Save(entry Entry) error { return f.write(entryFile, entry) }

// Close implements Journal.
func (f *Files) Close(record Record) error {
	if err := f.write(recordFile, record); err != nil {
		return err
	}
	err := f.vacate(entryFile)
	if err == nil {
		err = os.Remove(filepath.Join(f.dir, entryFile))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("closing the journal: %w", err)
	}
	return f.syncDir()
}

// Record implements Journal.
func (f *Files) Record() (Record, error) {
	var record Record
	_, err := f.read(recordFile, func(raw []byte) error { return json.Unmarshal(raw, &record) })
	if err != nil {
		return Record{}, err
	}
	return record, nil
}

func (f *Files) read(name string, decode func(raw []byte) error) (bool, error) {
	path := filepath.Join(f.dir, name)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
		return false, fmt.Errorf("reading the journal: %w", err) // It says nothing of the file.
	case err == nil:
		err = decode(raw)
	}
	if err != nil {
		f.damaged[name] = true
		return false, fmt.Errorf("%s %w and is kept as %s: %w", path, ErrUnreadable, aside(name, 0), err)
	}
	return true, nil
}

// keptAside is how many unreadable files of a name are kept.
const keptAside = 3

func aside(name string, age int) string {
	if age == 0 {
		return name + ".unreadable"
	}
	return fmt.Sprintf("%s.unreadable.%d", name, age)
}

// vacate sets an unreadable file aside, for a person to look at. The older ones
// move on, and the oldest goes.
func (f *Files) vacate(name string) error {
	if !f.damaged[name] {
		return nil
	}
	for age := keptAside - 1; age > 0; age-- {
		err := os.Rename(filepath.Join(f.dir, aside(name, age-1)), filepath.Join(f.dir, aside(name, age)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	err := os.Rename(filepath.Join(f.dir, name), filepath.Join(f.dir, aside(name, 0)))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		delete(f.damaged, name)
		return nil
	}
	return err
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
	defer func() {
		if err != nil {
			_ = os.Remove(temporary) // On a full disk it takes room that the next try needs.
		}
	}()
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
	if err == nil {
		err = f.vacate(name)
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
