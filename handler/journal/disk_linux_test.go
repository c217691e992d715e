package journal

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// smallDisk has the test, alone in the process, see a disk of a few pages at dir.
// Root passes over the permissions of a folder, so those would show nothing.
func smallDisk(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		skip(t, "a disk of its own needs root")
	}
	runtime.LockOSThread() // Never unlocked: the thread ends with its namespace.
	for _, err := range []error{
		unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS),
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount("disk", dir, "tmpfs", 0, "size=64k"),
	} {
		if err != nil {
			skip(t, "this process may not mount a disk of its own: "+err.Error())
		}
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
}

func skip(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("NMSTATE_STRICT") == "1" {
		t.Fatal("not skipped in strict mode: " + reason)
	}
	t.Skip("skipped: " + reason)
}

// fill takes all room that the disk has left.
func fill(t *testing.T, dir string) {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
}

func readOnly(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
}

func TestADiskThatTakesNothingKeepsWhatItHas(t *testing.T) {
	for sentence, test := range map[string]struct {
		breaks func(*testing.T, string)
		want   error
	}{
		"a full disk":              {fill, unix.ENOSPC},
		"a disk that is only read": {readOnly, unix.EROFS},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			smallDisk(t, dir)
			probing := Entry{Transaction: txn.State{Phase: txn.Probing, Checkpoint: "/cp/1"}}
			files := open(t, dir)
			if err := errors.Join(files.Close(Record{Committed: &Committed{Hash: "before"}}), files.Save(probing)); err != nil {
				t.Fatal(err)
			}
			test.breaks(t, dir)

			large := Entry{Transaction: txn.State{Phase: txn.Committing, Checkpoint: "/cp/1"}, Desired: []byte(`"` + strings.Repeat("x", 8192) + `"`)}
			if err := files.Save(large); !errors.Is(err, test.want) {
				t.Errorf("Save: %v, want %v", err, test.want)
			}
			after := Record{Committed: &Committed{Hash: "after", Desired: large.Desired}}
			if err := files.Close(after); !errors.Is(err, test.want) {
				t.Errorf("Close: %v, want %v", err, test.want)
			}
			next := open(t, dir)
			if err := next.TryLock(); err != nil {
				t.Errorf("the next handler cannot lock it: %v", err)
			}
			if entry, err := next.Load(); err != nil || entry == nil || entry.Transaction.Phase != txn.Probing {
				t.Errorf("the next handler finds the entry %+v, error %v; want the one before", entry, err)
			}
			if record, err := next.Record(); err != nil || record.Committed.Hash != "before" {
				t.Errorf("the next handler finds the record %+v, error %v; want the one before", record, err)
			}
			if os.Remove(filepath.Join(dir, "filler")) != nil {
				return
			}
			if err := next.Close(after); err != nil {
				t.Errorf("Close with room again: %v", err)
			}
			if entry, err := open(t, dir).Load(); entry != nil || err != nil {
				t.Errorf("after that: entry %v, error %v", entry, err)
			}
		})
	}
}

func TestWhatCannotBeReadStaysOnADiskThatTakesNothing(t *testing.T) {
	dir := t.TempDir()
	smallDisk(t, dir)
	put(t, dir, entryFile, "{half")
	readOnly(t, dir)
	files := open(t, dir)
	if _, err := files.Load(); !errors.Is(err, ErrUnreadable) {
		t.Errorf("Load: %v", err)
	}
	if err := files.Close(Record{}); !errors.Is(err, unix.EROFS) {
		t.Errorf("Close: %v", err)
	}
	if _, err := open(t, dir).Load(); !errors.Is(err, ErrUnreadable) {
		t.Errorf("the next handler: %v", err)
	}
}

func TestADiskThatIsOnlyReadGrantsALockToOneHandler(t *testing.T) {
	for sentence, former := range map[string]bool{"with the file of a former handler": true, "without any": false} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			smallDisk(t, dir)
			if former {
				put(t, dir, "lock", "")
			}
			readOnly(t, dir)
			first := open(t, dir)
			if err := first.TryLock(); err != nil {
				t.Fatal(err)
			}
			if err := open(t, dir).TryLock(); !errors.Is(err, ErrLocked) {
				t.Errorf("the second: %v", err)
			}
			if !former {
				return
			}
			file, err := os.Open(filepath.Join(dir, "lock"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
				t.Errorf("one of the previous version: %v", err)
			}
		})
	}
}
