package controlplane

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ErrRunning is returned where a control plane already runs in the folder.
var ErrRunning = errors.New("a control plane is already running in this folder")

// lock takes the pid file for this process. The kernel gives it up when the
// process ends, however it ends.
func lock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w (process %d)", ErrRunning, readNumber(path))
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	if err := file.Truncate(0); err != nil {
		_ = file.Close()
		return nil, err
	}
	if _, err := fmt.Fprintln(file, os.Getpid()); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// holder is the process that holds the lock on a pid file, 0 if none does.
func holder(path string) (int, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	err = unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if err == nil {
		return 0, nil
	}
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return 0, fmt.Errorf("trying the lock of %s: %w", path, err)
	}
	return readNumber(path), nil
}
