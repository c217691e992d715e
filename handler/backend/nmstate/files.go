package nmstate

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// disk is NetworkManager's files. Paths are those of the node; root is where
// the node's root is seen from here, which in tests may be somewhere else.
type disk struct{ root string }

func (d disk) at(path string) string { return filepath.Join(d.root, path) }

// unfinished begins the name of a file that is being written. NetworkManager
// reads no profile whose name begins with a dot.
const unfinished = ".kubernetes-nmstate."

// files reads what a profiles.Snapshot is of. A file that goes meanwhile, or a
// folder that is not there, is none.
func (d disk) files() (profiles.Files, error) {
	found := profiles.Files{}
	for _, dir := range []string{profiles.DiskDir, profiles.RunDir} {
		entries, err := os.ReadDir(d.at(dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading the profiles: %w", err)
		}
		for _, entry := range entries {
			// A link's target is a profile like any other; folders and what
			// is hidden are not NetworkManager's.
			if entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
				continue
			}
			if err := d.readInto(found, filepath.Join(dir, entry.Name())); err != nil {
				return nil, err
			}
		}
	}
	if err := d.readInto(found, profiles.DNSFile); err != nil {
		return nil, err
	}
	return found, nil
}

func (d disk) readInto(found profiles.Files, path string) error {
	info, err := os.Stat(d.at(path))
	if err == nil && !info.Mode().IsRegular() {
		return nil
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(d.at(path))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("reading a file of NetworkManager's: %w", err)
	}
	found[path] = profiles.File{Mode: uint32(info.Mode().Perm()), Content: content}
	return nil
}

// write puts a file at path, whole or not at all, and for certain. A crash may
// leave an unfinished one behind, which the next write of the same file takes over.
func (d disk) write(path string, file profiles.File) error {
	final := d.at(path)
	if err := os.MkdirAll(filepath.Dir(final), 0o755); err != nil {
		return err
	}
	temporary := filepath.Join(filepath.Dir(final), unfinished+filepath.Base(final))
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeSynced(temporary, file); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	if err := os.Rename(temporary, final); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return synced(filepath.Dir(final))
}

func writeSynced(path string, file profiles.File) error {
	mode := fs.FileMode(file.Mode).Perm()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = out.Write(file.Content)
	if err == nil {
		err = out.Chmod(mode) // The umask may have taken some of it.
	}
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// remove takes a file away for certain; one that is not there is no error.
func (d disk) remove(path string) error {
	err := os.Remove(d.at(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return synced(filepath.Dir(d.at(path)))
}

// sync has what is on disk for certain: NetworkManager itself syncs a file only
// where there was one before, and no folder. RunDir goes with a power cut anyway.
func (d disk) sync() error {
	found, err := d.files()
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		if filepath.Dir(path) == profiles.RunDir {
			continue
		}
		if err := synced(d.at(path)); err != nil {
			return err
		}
	}
	for _, dir := range []string{profiles.DiskDir, filepath.Dir(profiles.DNSFile)} {
		if err := synced(d.at(dir)); err != nil {
			return err
		}
	}
	return nil
}

// synced has a file or a folder on disk; one that is not there needs nothing.
func synced(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
