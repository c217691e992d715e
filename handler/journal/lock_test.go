package journal

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestASecondHandlerIsToldThatAnotherOneRuns(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	if err := first.TryLock(); err != nil {
		t.Fatal(err)
	}
	second := open(t, dir)
	if err := second.TryLock(); !errors.Is(err, ErrLocked) {
		t.Fatalf("second lock: %v", err)
	}
	release(first)
	if err := second.TryLock(); err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
}

// release is what the end of a process does.
func release(f *Files) {
	for _, lock := range f.locks {
		if lock != nil {
			lock.Close()
		}
	}
}

// A handler of the previous version locks the file, and knows nothing of the folder.
func TestAHandlerOfThePreviousVersionAndThisOneKeepEachOtherOut(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	previous, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	lock := func() error { return syscall.Flock(int(previous.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
	if err := lock(); err != nil {
		t.Fatal(err)
	}
	files := open(t, dir)
	if err := files.TryLock(); !errors.Is(err, ErrLocked) {
		t.Fatalf("beside the previous version: %v", err)
	}
	previous.Close()
	if err := files.TryLock(); err != nil {
		t.Fatalf("after it has ended: %v", err)
	}
	if previous, err = os.OpenFile(path, os.O_RDWR, 0o600); err != nil {
		t.Fatal(err)
	}
	defer previous.Close()
	if err := lock(); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("the previous version beside this one: %v", err)
	}
}
