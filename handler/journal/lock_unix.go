//go:build unix

package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Lock makes this process the only one that uses the journal, for as long as
// it lives: two handlers on a node would undo each other's transactions.
func (f *Files) Lock() error {
	path := filepath.Join(f.dir, "lock")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return fmt.Errorf("locking the journal: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return fmt.Errorf("locking the journal %s: %w: another handler runs on this node; stop it first", path, err)
	}
	f.lock = file // Held open: the lock ends with the process.
	return nil
}
