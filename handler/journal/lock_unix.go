//go:build unix

package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrLocked: another handler has the journal.
var ErrLocked = errors.New("another handler runs on this node")

// TryLock makes this process the only one that uses the journal, for as long as
// it lives: two handlers on a node would undo each other's transactions.
// Locked is the folder, which can be on a disk that nobody can write to, and
// where that is possible the file that handlers before version 2 lock.
//
// ErrLocked: another one has it. Any other error: neither can be locked.
func (f *Files) TryLock() error {
	file, fileErr := locked(filepath.Join(f.dir, "lock"), os.O_CREATE|os.O_RDWR)
	if errors.Is(fileErr, syscall.EROFS) || errors.Is(fileErr, syscall.ENOSPC) || errors.Is(fileErr, syscall.EDQUOT) {
		file, fileErr = locked(filepath.Join(f.dir, "lock"), os.O_RDONLY)
	}
	if errors.Is(fileErr, ErrLocked) {
		return fileErr
	}
	folder, err := locked(f.dir, os.O_RDONLY)
	if errors.Is(err, ErrLocked) {
		if file != nil {
			file.Close()
		}
		return err
	}
	if err != nil && fileErr != nil {
		return fmt.Errorf("locking the journal: %w", errors.Join(err, fileErr))
	}
	f.locks = []*os.File{folder, file}
	_ = os.Chmod(f.dir, 0o700) // A kubelet makes it for everybody to look into; the files are root's in any case.
	return nil
}

func locked(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return file, nil
	}
	file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%w: it has locked %s", ErrLocked, path)
	}
	return nil, fmt.Errorf("locking %s: %w", path, err)
}
