package oracle

import (
	"fmt"
	"path"
	"slices"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
)

// Disk is what of NetworkManager is in files on a node.
type Disk struct {
	// Armed are the files as they were when the open transaction was written
	// down, or the last one; Now as they are.
	Armed, Now profiles.Files
	// Unsynced are those that a power cut would not leave as they are.
	Unsynced []string
	// Unsaved are the profiles that the next boot would not find as they are.
	Unsaved []string
	// ArmedUnsaved are those that it would not have found at Armed either.
	ArmedUnsaved []string
	// Ended: NetworkManager has no checkpoint.
	Ended bool
}

// volatile: nothing of a trial is where the next boot reads it before the trial is
// proven (design §2, rule 10).
type volatile struct{}

func (volatile) Name() string { return "volatile" }

func (volatile) Observe(f *Facts, e Event) error {
	what, is := e.What.(DiskWritten)
	if !is || path.Dir(what.Path) == profiles.RunDir {
		return nil
	}
	entry := f.Journal(e.Node)
	if entry == nil || entry.Transaction.Proven {
		return nil
	}
	// NetworkManager itself writes global DNS, in a trial and in nmstate's revert; the
	// backend puts it back at once.
	if what.Path == profiles.DNSFile && f.mayApply(e.Node, entry.Transaction.Phase) {
		return nil
	}
	disk := f.Disk(e.Node)
	if what.Path == profiles.DNSFile && disk.Ended {
		return nil // NetworkManager's own way back writes what it had: the checkpoint's time is over.
	}
	was, had := disk.Armed[what.Path]
	now, there := disk.Now[what.Path]
	// A checkpoint's rollback writes what it had in words of its own; then the file's bytes go
	// back. One whose time is over does so by itself, before it is told that it has ended.
	t := f.Node(e.Node).Trial
	ending := t != nil && t.Checkpoint != "" && t.Ended == "" && disk.Ended
	if (entry.Transaction.Phase == txn.RollingBack || ending) && had && there {
		return nil
	}
	if had == there && sameMeaning(was, now) {
		return nil
	}
	return fmt.Errorf("a trial is on disk before it is proven: %s, in phase %s", what.Path, entry.Transaction.Phase)
}

// mayApply tells whether nmstate may be at work in the phase that is written down. A
// disk that has been full since it was written down keeps that older than it is: then
// the way back goes on all the same, as that of a trial that a crash cut short, or whose
// checkpoint has ended. Of a handler that died before it tried anything there is no trial.
func (f *Facts) mayApply(node string, phase txn.Phase) bool {
	n, goesBack := f.Node(node), true
	if t := n.Trial; t != nil {
		goesBack = phase == txn.Settling || t.Interrupted || t.Ended != ""
	}
	late := goesBack && !f.Calm(node, n.written, Full)
	return phase == txn.Applying || phase == txn.RollingBack || late
}

// sameMeaning: NetworkManager may write what there was in a format of its own.
func sameMeaning(a, b profiles.File) bool {
	if string(a.Content) == string(b.Content) {
		return true
	}
	said := host.Meaning(a)
	return said != "" && said == host.Meaning(b)
}

// held: what NetworkManager wrote for the next boot in passing is not there when
// the trial is in place.
type held struct{}

func (held) Name() string { return volatile{}.Name() }

func (held) Observe(f *Facts, e Event) error {
	what, is := e.What.(JournalSaved)
	if !is {
		return nil
	}
	saved := what.Entry.Transaction // What is on the disk by now: reading that anew each time would be a twentieth of a run.
	if saved.Proven || saved.Phase == txn.Applying {
		return nil
	}
	if saved.Cause != nil {
		return nil // It is on the way back, which puts everything back.
	}
	disk := f.Disk(e.Node)
	if string(disk.Armed[profiles.DNSFile].Content) != string(disk.Now[profiles.DNSFile].Content) {
		return fmt.Errorf("in phase %s the next boot would read the trial's global DNS", saved.Phase)
	}
	return nil
}

// exact: after a way back every file is as it was, byte for byte, and stays so.
type exact struct{}

func (exact) Name() string { return "exact" }

func (exact) Observe(f *Facts, e Event) error {
	what, is := e.What.(JournalClosed)
	t := f.Node(e.Node).Trial
	if !is || what.Record.Last == nil || !f.Has(e.Node) || t == nil || t.Entry != nil && len(t.Entry.Correction) > 0 {
		return nil // What is recorded last is not a correction's.
	}
	switch what.Record.Last.Result {
	case v1.TransactionRolledBack, v1.TransactionSuperseded:
	default:
		return nil
	}
	disk := f.Disk(e.Node)
	for _, at := range sortedKeys(disk.Armed) {
		is, there := disk.Now[at]
		switch {
		case path.Dir(at) == profiles.RunDir:
		case !there:
			return fmt.Errorf("it was taken back, and %s is missing", at)
		case string(is.Content) != string(disk.Armed[at].Content):
			return fmt.Errorf("it was taken back, and %s has other bytes than before", at)
		}
	}
	for _, at := range sortedKeys(disk.Now) {
		// What NetworkManager had in memory alone it may write where the next boot does not read it.
		if _, had := disk.Armed[at]; !had && !(path.Dir(at) == profiles.RunDir && slices.Contains(disk.ArmedUnsaved, at)) {
			return fmt.Errorf("it was taken back, and %s is there, which was not", at)
		}
	}
	if len(disk.Unsynced) > 0 {
		return fmt.Errorf("it was taken back, and a power cut would leave other bytes: %v", disk.Unsynced)
	}
	return nil
}

// permanent: a proven trial is made permanent so that a power cut leaves a node that
// can be reached: no port is on disk before its controller is there for certain,
// the checkpoint is given up only when a power cut would leave all of the trial, and
// the journal is closed only when nothing is left to be synced.
type permanent struct{}

func (permanent) Name() string { return "permanent" }

func (permanent) Observe(f *Facts, e Event) error {
	switch what := e.What.(type) {
	case DiskWritten:
		return portBeforeController(f, e.Node, what.Path)
	case Committing:
		entry := f.Journal(e.Node)
		if entry == nil || !entry.Transaction.Proven || entry.Transaction.Checkpoint != what.ID {
			return nil
		}
		if t := f.Node(e.Node).Trial; t != nil && t.Ended != "" {
			return nil // There is none left to give up, which the handler will be told.
		}
		disk := f.Disk(e.Node)
		unsaved := slices.DeleteFunc(slices.Clone(disk.Unsaved), func(at string) bool {
			if _, had := disk.Armed[at]; had && path.Dir(at) == profiles.RunDir {
				return true
			}
			// What a way back that was told as incomplete has left is not this trial's.
			held := entry.Trial != nil && len(entry.Trial.Held) > 0
			return (at != profiles.DNSFile || !held) && slices.Contains(disk.ArmedUnsaved, at)
		})
		switch {
		case len(unsaved) > 0:
			return fmt.Errorf("the checkpoint is given up, and the next boot would not find %v", unsaved)
		case len(disk.Unsynced) > 0:
			return fmt.Errorf("the checkpoint is given up, and a power cut would not leave %v", disk.Unsynced)
		}
	case JournalClosed:
		if last := what.Record.Last; last == nil || last.Result != v1.TransactionCommitted || !f.Has(e.Node) {
			return nil
		}
		if disk := f.Disk(e.Node); len(disk.Unsynced) > 0 {
			return fmt.Errorf("it is committed, and a power cut would not leave %v", disk.Unsynced)
		}
	}
	return nil
}

func portBeforeController(f *Facts, node, at string) error {
	if path.Dir(at) != profiles.DiskDir {
		return nil
	}
	disk := f.Disk(node)
	on := host.Controller(disk.Now[at])
	entry := f.Journal(node)
	if on == "" || entry == nil || !entry.Transaction.Proven || entry.Transaction.Phase != txn.Committing {
		return nil
	}
	if disk.Ended && entry.Transaction.Checkpoint != "" {
		return nil // NetworkManager's own way back writes it: the checkpoint's time is over.
	}
	known := false
	for other, file := range disk.Now {
		if host.Device(file) != on {
			continue
		}
		known = true
		if path.Dir(other) == profiles.DiskDir && !slices.Contains(disk.Unsynced, other) {
			return nil
		}
	}
	if !known {
		return nil // Somebody else makes it.
	}
	return fmt.Errorf("%s is a port of %s and is on disk before that is for certain", at, on)
}
