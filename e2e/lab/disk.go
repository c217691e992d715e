//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Kinds of disks of nodes. A folder keeps whatever was written to it. An image
// is a small ext4, mounted in the node only; a power cut takes from it what was
// not synced, as it is in the field.
const (
	DiskFolder = "folder"
	DiskImage  = "image"
)

const (
	// imageMB is far more than a node writes; the file has holes.
	imageMB = 64
	// imageMount: without a word from anybody ext4 writes after five seconds. In
	// five minutes nothing of that happens by itself, so that what was not synced
	// is lost for certain, and an image is not written while it is copied.
	imageMount = "commit=300,noauto_da_alloc"
)

func imagePath(dir string) string { return filepath.Join(dir, "disk.img") }

// makeDisk makes a node's image, at its first boot, and tells whether it did.
func (n *Node) makeDisk(ctx context.Context) (bool, error) {
	if n.lab.rec.Disk != DiskImage {
		return false, nil
	}
	path := imagePath(n.dir())
	if _, err := os.Stat(path); err == nil {
		return false, nil
	}
	size := fmt.Sprintf("%dM", imageMB)
	out, err := exec.CommandContext(ctx, "mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", path, size).CombinedOutput()
	if err != nil {
		return false, fmt.Errorf("making the node's disk: %w: %s", err, out)
	}
	return true, nil
}

// mountDisk shows a node its image, if it has one; in its pid 1.
func mountDisk(ctx context.Context, dir string) error {
	if _, err := os.Stat(imagePath(dir)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	disk := filepath.Join(dir, "disk")
	if err := os.MkdirAll(disk, 0o755); err != nil {
		return fmt.Errorf("making the folder of the node's disk: %w", err)
	}
	out, err := exec.CommandContext(ctx, "mount", "-n", "-t", "ext4", "-o", "loop,"+imageMount, imagePath(dir), disk).CombinedOutput()
	if err != nil {
		return fmt.Errorf("mounting the node's disk: %w: %s", err, out)
	}
	return nil
}

// DiskPath is where an absolute path of the node's /etc or /var is kept on the
// machine: what is there survives a reboot of the node. Of a node that is off
// it shows nothing, if its disk is an image.
func (n *Node) DiskPath(path string) string {
	if n.lab.rec.Disk != DiskImage {
		return filepath.Join(n.dir(), "disk", path)
	}
	p, err := n.process()
	if err != nil {
		return filepath.Join(n.dir(), "disk", path)
	}
	return filepath.Join(fmt.Sprintf("/proc/%d/root", p.pid), nodeDisk, path)
}

// Sync writes what the node has not written yet.
func (n *Node) Sync() error {
	if n.lab.rec.Disk != DiskImage {
		return nil
	}
	if _, err := n.process(); err != nil {
		return nil // it is off
	}
	folder, err := os.Open(n.DiskPath("/"))
	if err != nil {
		return fmt.Errorf("opening the disk of %s: %w", n.Name, err)
	}
	defer func() { _ = folder.Close() }()
	if err := unix.Syncfs(int(folder.Fd())); err != nil {
		return fmt.Errorf("syncing the disk of %s: %w", n.Name, err)
	}
	return nil
}

// cutDisk stops all processes of a node and copies its image as it is, while
// the kernel still has in memory what was not synced; the function that it
// returns puts the copy in its place, once the node is gone.
func (n *Node) cutDisk(ctx context.Context) (func() error, error) {
	if n.lab.rec.Disk != DiskImage {
		return func() error { return nil }, nil
	}
	if _, err := n.lab.ask(ctx, n.dir(), request{Verb: "freeze"}); err != nil {
		return nil, fmt.Errorf("stopping the processes of %s: %w", n.Name, err)
	}
	image := imagePath(n.dir())
	out, err := exec.CommandContext(ctx, "cp", "--sparse=always", image, image+".cut").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("copying the disk of %s: %w: %s", n.Name, err, out)
	}
	return func() error {
		if err := os.Rename(image+".cut", image); err != nil {
			return fmt.Errorf("replacing the disk of %s: %w", n.Name, err)
		}
		return nil
	}, nil
}

// freeze stops every process of the node but this one, its pid 1.
func freeze() error {
	if err := unix.Kill(-1, unix.SIGSTOP); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("stopping all processes: %w", err)
	}
	return nil
}
