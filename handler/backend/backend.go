package backend

import (
	"context"
	"errors"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Checkpoint names a NetworkManager checkpoint: its D-Bus object path.
type Checkpoint string

// Pending is a checkpoint that is alive.
type Pending struct {
	Checkpoint Checkpoint
	// CreatedBoot is the time since boot at which it was made (NetworkManager
	// stamps it with CLOCK_BOOTTIME).
	CreatedBoot time.Duration
	// RollbackAfter is its timeout, counted from CreatedBoot; zero means that it never
	// expires. That of a trial is what Apply was given, in whole seconds, and
	// when it was renewed as much more as the checkpoint was old then.
	RollbackAfter time.Duration
}

// Backend configures the network of the node it runs on.
type Backend interface {
	// Show reads the node's network state as it is now.
	Show(ctx context.Context) (state.State, error)

	// Apply brings the node to desired in memory and in /run only, so that a
	// power cut forgets it, and a checkpoint stays armed that undoes the change
	// after rollbackAfter. An interface that is to be absent is down until
	// profiles.Tidy; hostname.config is left to profiles.Permanent. A file
	// beside the profiles that NetworkManager writes for the next boot (global
	// DNS) has its old bytes again when Apply returns, however it ends, and
	// at once where that can be; held are the new ones.
	// armed is called, at most once and before Apply returns, as soon as the
	// checkpoint exists, so that the caller can write it down; it may be
	// called although Apply fails. When ctx ends, the apply is killed and the
	// checkpoint stays armed. Apply returns the checkpoint on success.
	//
	// Errors: ErrInvalid (refused), ErrBusy (a checkpoint of somebody else is
	// in the way) and ErrUnavailable (no NetworkManager) mean that nothing was
	// changed; so does every error if armed was not called. Otherwise the
	// change may be there in part, or have been taken back already: Pending
	// tells whether the checkpoint is alive. ErrGone: it was applied, but the
	// checkpoint ended meanwhile.
	Apply(ctx context.Context, desired state.State, rollbackAfter time.Duration, armed func(Checkpoint)) (made Checkpoint, held profiles.Files, err error)

	// Profiles reads what NetworkManager knows beside the kernel: profiles,
	// their files, what is active where. It costs a few milliseconds.
	// ErrUnavailable: there is no NetworkManager to ask.
	Profiles(ctx context.Context) (profiles.Snapshot, error)

	// Devices tells where NetworkManager has each device, for a single call over D-Bus.
	// ErrUnavailable: there is no NetworkManager to ask.
	Devices(ctx context.Context) ([]profiles.Device, error)

	// Do carries out one action on profiles, whole or not at all; done again
	// it does no harm. What was written is on disk for certain after a
	// profiles.Sync. ErrUnavailable: there is no NetworkManager to ask. ErrGone:
	// there is no such profile or device.
	Do(ctx context.Context, action profiles.Action) error

	// Commit gives the checkpoint up: the trial stays. What the next boot reads
	// is profiles.Permanent's, before. ErrGone: the checkpoint is not alive
	// any more, so nothing was committed. Any other error: NetworkManager did not
	// answer, and whether it has committed is not known; Pending tells later.
	Commit(ctx context.Context, checkpoint Checkpoint) error

	// Rollback undoes the trial by NetworkManager's checkpoint, which brings
	// the kernel back; files are profiles.FilesBack's. ErrGone: the checkpoint is not alive any more.
	// Another error may have taken back a part; the checkpoint may be gone.
	Rollback(ctx context.Context, checkpoint Checkpoint) error

	// Pending lists the checkpoints that are alive, whoever made them.
	// ErrUnavailable: there is no NetworkManager to ask.
	Pending(ctx context.Context) ([]Pending, error)

	// Instance identifies the running NetworkManager: it changes when
	// NetworkManager restarts, and checkpoints do not survive that.
	// ErrUnavailable: there is none.
	Instance(ctx context.Context) (string, error)

	// Revert computes the state that takes the node from "desired applied on
	// current" back to current. It changes nothing.
	Revert(ctx context.Context, desired, current state.State) (state.State, error)
}

// Kernel tells which types of interfaces the node's kernel can make. It makes none.
type Kernel interface {
	// Links are the types that it can make and those that it cannot, sorted. A
	// type that a module could still bring is in neither until it was tried.
	Links() (can, cannot []string)
	// CanMake tries the type, which loads the module as making such an interface
	// would. A type that is not the kernel's to make can be made.
	CanMake(kind string) bool
}

// What an implementation's errors wrap, so that the caller can tell them apart.
var (
	// ErrInvalid: the desired state was refused before anything was changed.
	ErrInvalid = errors.New("the desired state is not valid")
	// ErrBusy: somebody else's checkpoint is in the way.
	ErrBusy = errors.New("another checkpoint is in the way")
	// ErrUnavailable: NetworkManager does not answer.
	ErrUnavailable = errors.New("NetworkManager is not available")
	// ErrGone: the checkpoint is not alive any more.
	ErrGone = errors.New("the checkpoint is gone")
)
