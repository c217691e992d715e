//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What can be wrong with a node's disk.
const (
	// DiskFull takes all that is left of it. It needs a disk of its own (DiskImage).
	DiskFull = "full"
	// DiskReadOnly takes nothing any more, as after an error of the file system.
	DiskReadOnly = "read-only"
	// DiskWritable is as it was.
	DiskWritable = "writable"
)

// filler is what fills a disk.
const filler = "/var/full"

// BreakDisk breaks a node's disk, or mends it.
func (n *Node) BreakDisk(ctx context.Context, how string) error {
	var script string
	switch how {
	case DiskFull:
		if n.lab.rec.Disk != DiskImage {
			return fmt.Errorf("%s: its disk is a folder of this machine, which is not filled; lab up --disk image gives it one of its own", n.Name)
		}
		// What dd says is that there is no space left.
		script = "dd if=/dev/zero of=" + filler + " bs=64k 2>/dev/null; dd if=/dev/zero bs=1 count=65536 >>" + filler + " 2>/dev/null; true"
	case DiskReadOnly:
		// A mount over each, since that below is busy where a file is open in it.
		script = "for d in /var /etc; do mount -n --bind $d $d && mount -n -o remount,bind,ro $d || exit 1; done"
	case DiskWritable:
		script = "for d in /var /etc; do touch $d/.writable 2>/dev/null && rm $d/.writable || umount -n -l $d || exit 1; done; rm -f " + filler
	default:
		return fmt.Errorf("%q is none of %s, %s, %s", how, DiskFull, DiskReadOnly, DiskWritable)
	}
	if _, err := n.Exec(ctx, "sh", "-c", script); err != nil {
		return fmt.Errorf("making the disk %s: %w", how, err)
	}
	return nil
}

// StepClock sets the clock of the lab's virtual machine, which all nodes in it have.
func (l *Lab) StepClock(ctx context.Context, by time.Duration) error {
	if l.rec.VM == nil {
		return errors.New("the nodes have this machine's clock, which is not touched; lab up --vm gives them one of their own")
	}
	set := fmt.Sprintf("date -u -s @$(( $(date +%%s) + %d ))", int64(by/time.Second))
	if _, err := l.Nodes()[0].Exec(ctx, "sh", "-c", set); err != nil {
		return fmt.Errorf("setting the clock of the virtual machine: %w", err)
	}
	return nil
}
