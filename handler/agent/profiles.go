package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

const (
	// tidyAttempts is how often it is tried to delete what a change makes void,
	// tidyFirst and tidyMost how long apart: some four minutes together. Until then
	// the journal stays open, so that nothing is told that a power cut could take.
	tidyAttempts = 12
	tidyFirst    = time.Second
	tidyMost     = 30 * time.Second
)

// commit makes the trial permanent: on disk first, while the checkpoint can
// still take it back, then the checkpoint goes, then the profiles that the
// change makes void. Done again after a crash it goes on where it ended; with no
// checkpoint left (empty) it was given up before.
func (a *Agent) commit(ctx context.Context, entry journal.Entry) txn.Event {
	change, err := changeOf(entry)
	if err == nil {
		err = a.makePermanent(ctx, entry, change)
	}
	if err != nil {
		return txn.CommitFailed{Message: "making it permanent: " + err.Error(), Gone: errors.Is(err, backend.ErrGone)}
	}
	if checkpoint := entry.Transaction.Checkpoint; checkpoint != "" {
		if err := a.Backend.Commit(ctx, backend.Checkpoint(checkpoint)); err != nil {
			return txn.CommitFailed{Message: err.Error(), Gone: errors.Is(err, backend.ErrGone)}
		}
	}
	if err := a.tidyUntilDone(ctx, entry, change); err != nil {
		// The change is in place and stays. What is left of a void profile may
		// come up at the next boot; then it is drift, and corrected.
		logf.FromContext(ctx).Error(err, "cannot delete the profiles that the change makes void")
	}
	return txn.Committed{}
}

func (a *Agent) makePermanent(ctx context.Context, entry journal.Entry, change profiles.Change) error {
	if entry.Profiles == nil {
		return nil // Of a handler whose trials were on disk.
	}
	if entry.Transaction.Checkpoint != "" {
		// What has ended by itself is no trial any more, and nothing of it is
		// to be on disk.
		if _, err := a.ours(ctx, entry); err != nil {
			return err
		}
	}
	if !change.OpenVSwitch.IsEmpty() && hadOpenVSwitch(entry) == nil {
		return errors.New("what Open vSwitch's database held before the change is not known")
	}
	now, err := a.profilesFor(ctx, entry)
	if err != nil {
		return err
	}
	if entry.Transaction.Checkpoint != "" {
		if undone := profiles.Undone(*entry.Profiles, entry.Trial, now); len(undone) > 0 {
			return fmt.Errorf("of the change that was proven these profiles were taken back: %s", strings.Join(undone, ", "))
		}
	}
	if err := a.do(ctx, profiles.Permanent(*entry.Profiles, entry.Trial, now, change)); err != nil {
		return err
	}
	if now, err = a.profilesFor(ctx, entry); err != nil {
		return err
	}
	if left := profiles.NotSaved(*entry.Profiles, entry.Trial, now); len(left) > 0 {
		return fmt.Errorf("NetworkManager has not saved %s", strings.Join(left, ", "))
	}
	return a.guardWritten(ctx, entry, now, change)
}

// tidyUntilDone tries again where it fails: what was deleted may not be flushed.
func (a *Agent) tidyUntilDone(ctx context.Context, entry journal.Entry, change profiles.Change) error {
	err := a.tidy(ctx, entry, change)
	wait := tidyFirst
	for try := 1; err != nil && try < tidyAttempts && a.Clock.Wait(ctx, nil, wait); try++ {
		err = a.tidy(ctx, entry, change)
		wait = min(2*wait, tidyMost)
	}
	return err
}

func (a *Agent) tidy(ctx context.Context, entry journal.Entry, change profiles.Change) error {
	if entry.Profiles == nil {
		return nil
	}
	now, err := a.Backend.Profiles(ctx)
	if err != nil {
		return err
	}
	return a.do(ctx, profiles.Tidy(*entry.Profiles, entry.Trial, now, change))
}

// do carries out the actions until one fails. What is not there any more needs
// nothing done to it.
func (a *Agent) do(ctx context.Context, actions []profiles.Action) error {
	for _, action := range actions {
		if err := a.Backend.Do(ctx, action); err != nil && !errors.Is(err, backend.ErrGone) {
			return fmt.Errorf("%s: %w", action, err)
		}
	}
	return nil
}

// doWhatCanBe carries out the actions as far as it can: that a file cannot be put back is no
// reason to have NetworkManager go on with what was in another one. It is a reason to remove
// nothing from disk: the profile that is written there may need what would go, and a node
// that lost power now would boot with neither. The error is the first one.
func (a *Agent) doWhatCanBe(ctx context.Context, actions []profiles.Action) error {
	var first error
	for _, action := range actions {
		if first != nil && action.RemovesFromDisk() {
			continue
		}
		err := a.do(ctx, []profiles.Action{action})
		if first == nil {
			first = err
		}
		if errors.Is(err, backend.ErrUnavailable) {
			break
		}
	}
	return first
}

// trialOf is the picture of a trial, with what its commit is going to delete.
func trialOf(entry journal.Entry, there profiles.Snapshot, held profiles.Files) (*profiles.Trial, error) {
	trial := &profiles.Trial{Snapshot: there, Held: held}
	change, err := changeOf(entry)
	if err != nil {
		return nil, fmt.Errorf("reading the change: %w", err)
	}
	trial.Void = profiles.Void(*entry.Profiles, trial, change)
	return trial, nil
}

// changeOf is what a change means for profiles beside what nmstate does in a trial.
func changeOf(entry journal.Entry) (profiles.Change, error) {
	document, err := state.Parse(entry.Change)
	if err != nil {
		return profiles.Change{}, err
	}
	before, err := state.Parse(entry.Before)
	if err != nil {
		return profiles.Change{}, err
	}
	change := profiles.Change{Hostname: document.Hostname(), OpenVSwitch: document.OpenVSwitch()}
	if entry.Profiles != nil && entry.Profiles.Scripts != nil {
		change.Scripts = profiles.ScriptsOf(document, entry.Scripts, entry.Undo)
	}
	for _, one := range state.SpellOutAbsence(document, before).Interfaces() {
		if one.State == "absent" {
			change.Absent = append(change.Absent, profiles.Interface{Name: one.Name, Type: one.Type})
		}
	}
	return change, nil
}

// rollback takes the trial back by the checkpoint, with the bytes of its files
// put back before and after: NetworkManager's rollback brings the kernel back,
// and may write files in words of its own. It also brings back what was made ready for
// the change before its checkpoint: without a picture of the trial only what is seen as
// the way back begins tells that from what others do.
func (a *Agent) rollback(ctx context.Context, entry *journal.Entry, intact bool) txn.Event {
	checkpoint, err := a.ours(ctx, *entry)
	if err == nil {
		switch seen, unread := a.see(ctx, entry); {
		case unread != nil:
			// Files that go now would look later as if the change had never had them.
			logf.FromContext(ctx).Error(unread, "cannot see what others did during the trial")
		case seen && entry.Trial == nil:
			return txn.Seen{Intact: intact}
		default:
			a.filesBack(ctx, *entry)
		}
		err = a.Backend.Rollback(ctx, checkpoint)
	}
	if err == nil {
		a.filesBack(ctx, *entry)
		return txn.RolledBack{}
	}
	gone := errors.Is(err, backend.ErrGone)
	if gone && a.lost(ctx, *entry) {
		return txn.CheckpointLost{}
	}
	return txn.RollbackFailed{
		Message: err.Error(), Gone: gone, Hindrance: a.hindrance(ctx, *entry, err),
	}
}

// see notes what is on the node as the way back begins, once, and tells whether it is noted
// now and was not before. It fails where that cannot be read.
func (a *Agent) see(ctx context.Context, entry *journal.Entry) (bool, error) {
	if entry.Profiles == nil || entry.Seen != nil {
		return false, nil
	}
	seen, err := a.Backend.Profiles(ctx)
	if err != nil {
		return false, err
	}
	entry.Seen = &seen
	return true, nil
}

// filesBack puts the trial's files back. What cannot be done the comparison
// finds, and the way back without the checkpoint tries it again.
func (a *Agent) filesBack(ctx context.Context, entry journal.Entry) {
	if entry.Profiles == nil {
		return
	}
	now, err := a.Backend.Profiles(ctx)
	if err == nil {
		err = a.doWhatCanBe(ctx, actionsBack(entry, now))
	}
	if err != nil {
		logf.FromContext(ctx).Error(err, "cannot put the files of the profiles back")
	}
}

// leadsTo is where the way back leads, and what tells the trial's files from those of
// others: the picture of the trial, and what was seen as the way back began. Once the
// last resort was begun, what was not seen by then is its.
func leadsTo(entry journal.Entry, now profiles.Snapshot) (before profiles.Snapshot, trial *profiles.Trial, seen profiles.Snapshot) {
	switch {
	case entry.Seen == nil:
		return *entry.Profiles, entry.Trial, now
	case entry.Transaction.LastResort:
		return profiles.Wanted(*entry.Profiles, entry.Trial, *entry.Seen), nil, now
	}
	return *entry.Profiles, entry.Trial, *entry.Seen
}

// actionsBack put back what is kept in files.
func actionsBack(entry journal.Entry, now profiles.Snapshot) []profiles.Action {
	before, trial, seen := leadsTo(entry, now)
	return slices.Concat(scriptsBack(entry, now), profiles.FilesBack(before, trial, seen, now), profiles.DNSBack(entry.Trial), openVSwitchBack(entry, now))
}

// restore brings the profiles from before back without a checkpoint. Where the change
// ended before there was a picture of it, what is on the node as the way back begins is all
// that tells the change's files and devices from others: it is in the journal before the
// first of them goes, for a handler that dies in between.
func (a *Agent) restore(ctx context.Context, entry *journal.Entry) txn.Event {
	if entry.Profiles == nil {
		if failed, is := a.revert(ctx, *entry).(txn.RevertFailed); is {
			return failed
		}
		return txn.Reverted{}
	}
	now, err := a.Backend.Profiles(ctx)
	if err == nil && entry.Seen == nil {
		entry.Seen = &now
		if entry.Trial == nil {
			return txn.Seen{}
		}
	}
	if err == nil {
		err = a.profilesBack(ctx, *entry, now)
	}
	if err != nil {
		return txn.RestoreFailed{Message: "bringing the profiles back: " + err.Error(), Hindrance: a.hindrance(ctx, *entry, err)}
	}
	return txn.Restored{}
}

func (a *Agent) profilesBack(ctx context.Context, entry journal.Entry, now profiles.Snapshot) error {
	before := *entry.Profiles
	wanted, trial, seen := leadsTo(entry, now)
	touched := profiles.Touched(before, entry.Trial, *entry.Seen)
	if entry.Transaction.LastResort {
		touched = append(touched, profiles.Touched(wanted, trial, seen)...)
	}
	if a.forgotten(entry) {
		// The boot has brought up what is on disk: a device that has its profile
		// from before, as it was, keeps its link.
		differ := profiles.Touched(before, nil, now)
		touched = slices.DeleteFunc(touched, func(uuid string) bool { return !slices.Contains(differ, uuid) })
	}
	if err := a.doWhatCanBe(ctx, actionsBack(entry, now)); err != nil {
		return err
	}
	now, err := a.Backend.Profiles(ctx)
	if err != nil {
		return err
	}
	return a.do(ctx, profiles.DevicesBack(before, entry.Trial, *entry.Seen, now, touched))
}

// revert applies what nmstate's model says leads back. Where the journal holds
// the profiles it is for the kernel alone, and their bytes go back once more.
func (a *Agent) revert(ctx context.Context, entry journal.Entry) txn.Event {
	err := a.applyRevert(ctx, entry)
	if err == nil {
		return txn.Reverted{}
	}
	return txn.RevertFailed{Message: "applying the journal's revert: " + err.Error(), Hindrance: a.lastingHindrance(ctx, entry, err)}
}

func (a *Agent) applyRevert(ctx context.Context, entry journal.Entry) error {
	revert, err := state.Parse(entry.Revert)
	if err != nil || revert.IsEmpty() {
		return err
	}
	before, err := a.Backend.Profiles(ctx)
	if err != nil {
		return err
	}
	checkpoint, held, err := a.Backend.Apply(ctx, revert, revertCheckpoint, func(backend.Checkpoint) {})
	if err != nil {
		return err
	}
	if entry.Profiles == nil {
		there, err := a.Backend.Profiles(ctx)
		if err != nil {
			return err
		}
		entry.Profiles, entry.Trial, entry.Change = &before, &profiles.Trial{Snapshot: there, Held: held}, entry.Revert
		entry.Transaction.Checkpoint = string(checkpoint)
		if failed, is := a.commit(ctx, entry).(txn.CommitFailed); is {
			return errors.New(failed.Message)
		}
		return nil
	}
	if err := a.Backend.Commit(ctx, checkpoint); err != nil {
		return err
	}
	if entry.Seen != nil {
		// A revert that a crash cut short has left files, too: those are not before.
		before = profiles.Wanted(*entry.Profiles, entry.Trial, *entry.Seen)
	}
	if err := a.revertsFilesBack(ctx, before); err != nil {
		return err
	}
	a.filesBack(ctx, entry)
	return nil
}

// revertsFilesBack takes what the revert itself has written: it names more than
// the trial has touched.
func (a *Agent) revertsFilesBack(ctx context.Context, before profiles.Snapshot) error {
	now, err := a.Backend.Profiles(ctx)
	if err != nil {
		return err
	}
	return a.doWhatCanBe(ctx, profiles.FilesBack(before, nil, now, now))
}

// flush has what NetworkManager wrote of its own accord on disk for certain, since a
// checkpoint that expires writes files as well, and tells what keeps it from that.
func (a *Agent) flush(ctx context.Context, entry journal.Entry) []string {
	if entry.Profiles == nil {
		return nil
	}
	if err := a.Backend.Do(ctx, profiles.Action{Verb: profiles.Sync}); err != nil {
		return []string{"flushing the files of the profiles: " + err.Error()}
	}
	return nil
}

// profileDifferences are how the node's profiles differ from before the change.
func (a *Agent) profileDifferences(ctx context.Context, entry journal.Entry) []string {
	if entry.Profiles == nil {
		return nil
	}
	now, err := a.profilesFor(ctx, entry)
	if err != nil {
		return []string{"reading the node's profiles: " + err.Error()}
	}
	before, trial, seen := leadsTo(entry, now)
	return idle.Lines(slices.Concat(scriptDifferences(entry, now), profiles.Differences(before, trial, seen, now), openVSwitchDifferences(entry, now)))
}
