package nmstate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/godbus/dbus/v5"
	"k8s.io/utils/clock"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Apply implements backend.Backend. An error wraps ErrInvalid, ErrBusy or
// ErrUnavailable only if nothing was changed. If armed was not called, nothing
// was changed; if it was, nmstate has rolled back most failures by itself, and
// Pending tells whether the checkpoint is still there.
func (b *Backend) Apply(ctx context.Context, desired state.State, rollbackAfter time.Duration, armed func(backend.Checkpoint)) (backend.Checkpoint, profiles.Files, error) {
	if rollbackAfter <= 0 {
		return "", nil, errors.New("applying: a trial needs a time after which it undoes itself")
	}
	var made backend.Checkpoint
	var held profiles.Files
	err := b.with(ctx, func(m *systemBus) (err error) {
		made, held, err = b.applyHeld(ctx, m, desired, wholeSeconds(rollbackAfter), armed)
		return err
	})
	if err != nil {
		return "", held, fmt.Errorf("applying: %w", err)
	}
	return made, held, nil
}

// applyHeld applies while it keeps the next boot's global DNS as it was.
func (b *Backend) applyHeld(ctx context.Context, m *systemBus, desired state.State, rollbackAfter time.Duration, armed func(backend.Checkpoint)) (backend.Checkpoint, profiles.Files, error) {
	child := b.startChild(ctx, rollbackAfter, verifiesItself(desired.ForTrial()))
	defer child.dismiss()
	if err := b.refuseOpenVSwitch(ctx, desired); err != nil {
		return "", nil, err
	}
	devices, err := m.devices(ctx)
	if err != nil {
		return "", nil, fmt.Errorf("asking NetworkManager for its devices: %w", err)
	}
	if err := cmp.Or(refuseLeftAlone(desired, devices), refuseReadOnly(desired, devices)); err != nil {
		return "", nil, err
	}
	forChild, foreign, err := b.absences(ctx, devices, desired)
	if err != nil {
		return "", nil, err
	}
	claims, err := b.refuseClaimed(ctx, desired)
	if err != nil {
		return "", nil, err
	}
	holding, err := hold(b.disk)
	if err != nil {
		return "", nil, err
	}
	under := underCheckpoint{child: child, holding: holding, desired: desired, forChild: forChild, foreign: foreign, claims: claims}
	made, err := b.applyUnder(ctx, m, under, rollbackAfter, armed)
	// Whatever became of it, and after NetworkManager has answered once more:
	// by then it has done what the child asked of it.
	held, endErr := holding.end()
	if err != nil || endErr != nil {
		return "", held, errors.Join(err, endErr)
	}
	return made, held, nil
}

// wholeSeconds rounds up: a trial never ends before its time.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// underCheckpoint is what is done while the trial's checkpoint lives.
type underCheckpoint struct {
	child   *child
	holding *holder
	// desired is the whole change; forChild is what nmstate is handed of it, and
	// foreign are the interfaces that are deleted when nmstate is done (absences).
	desired, forChild state.State
	foreign           []string
	// claims are the addresses about which nobody could be asked yet.
	claims []claim
}

func (b *Backend) applyUnder(ctx context.Context, m *systemBus, under underCheckpoint, rollbackAfter time.Duration, armed func(backend.Checkpoint)) (backend.Checkpoint, error) {
	changes, err := m.watch(ctx)
	if err != nil {
		return "", err
	}
	before, err := m.checkpoints(ctx)
	if err != nil {
		return "", err
	}
	if len(before) > 0 {
		return "", fmt.Errorf("%w: %s", backend.ErrBusy, before[0])
	}
	// nmstate ignores the next boot's hostname in memory-only mode, and then
	// misses it when it verifies; Open vSwitch's database it writes at once.
	under.child.apply(under.forChild.ForTrial())

	t := &trial{manager: m, clock: b.clock, rollbackAfter: rollbackAfter, armed: armed, failedFor: map[dbus.ObjectPath]uint32{}}
	silence := &silence{}
	silence.begin(ctx)
	defer func() { silence.end() }()
	for {
		select {
		case change, open := <-changes:
			if !open { // The bus went away; the child notices too.
				changes = nil
				continue
			}
			silence.begin(ctx)
			t.notice(change)
			if aboutCheckpoints(change) {
				_, _ = t.look(ctx) // The next change, or the end, looks again.
			}
		case <-silence.over:
			silence.begin(ctx)
			if err := t.endInVain(ctx, under); err != nil {
				return "", err
			}
		case <-under.holding.changes:
			_ = under.holding.putBack() // The next change, or the end, tries again and tells.
		case end := <-under.child.ended:
			made, err := t.concluded(ctx, end)
			if err == nil {
				return made, b.completed(ctx, t, under, changes)
			}
			if end.report.Error != nil {
				err = t.explained(ctx, under.desired, err)
			}
			return "", err
		}
	}
}

// completed does what nmstate leaves to us, and verifies the change. Like nmstate it
// takes back what it finds wrong.
func (b *Backend) completed(ctx context.Context, t *trial, under underCheckpoint, changes <-chan *dbus.Signal) error {
	if err := t.manager.deleteForeign(ctx, under.foreign); err != nil {
		return err
	}
	var err error
	if tried := under.desired.ForTrial(); !verifiesItself(tried) {
		err = t.verify(ctx, tried, b.Show, changes, under.holding)
	}
	if err == nil && len(under.claims) > 0 {
		if err = b.refuseTaken(ctx, t, under, changes); err == nil {
			err = t.renew(ctx)
		}
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return err // It was killed; the checkpoint stays armed.
	}
	err = t.explained(ctx, under.desired, t.orLeftAlone(ctx, under.desired, err))
	// Whoever called looks for the checkpoint, and takes back what this did not.
	_ = t.manager.rollback(ctx, t.checkpoint)
	return err
}

// trial is one apply as seen on D-Bus.
type trial struct {
	manager       *systemBus
	clock         clock.PassiveClock
	rollbackAfter time.Duration
	armed         func(backend.Checkpoint)
	// checkpoint is ours, once seen.
	checkpoint backend.Checkpoint
	// failedFor has NetworkManager's reason for each device that failed.
	failedFor map[dbus.ObjectPath]uint32
	// waits tells an apply that waits for what NetworkManager leaves alone.
	waits waiting
}

// look reads the checkpoints and takes the new one for ours: there was none
// before, and NetworkManager has only one at a time for the same device. One
// that somebody else makes in this very moment would be taken for it if it
// lives as long as ours would; then nmstate meets a conflict, and the child's
// report puts it right at the end.
func (t *trial) look(ctx context.Context) (alive []backend.Checkpoint, err error) {
	ctx = context.WithoutCancel(ctx) // After a kill it matters most.
	alive, err = t.manager.checkpoints(ctx)
	if err != nil || t.checkpoint != "" {
		return alive, err
	}
	for _, checkpoint := range alive {
		one, err := t.manager.described(ctx, checkpoint)
		if err == nil && one.RollbackAfter >= t.rollbackAfter {
			t.arm(checkpoint)
			break
		}
	}
	return alive, nil
}

func (t *trial) arm(checkpoint backend.Checkpoint) {
	t.checkpoint = checkpoint
	if t.armed != nil {
		t.armed(checkpoint)
	}
}

// concluded makes Apply's answer of the child's end.
func (t *trial) concluded(ctx context.Context, end ending) (backend.Checkpoint, error) {
	alive, lookErr := t.look(ctx)
	if said := backend.Checkpoint(end.report.Checkpoint); said != "" && said != t.checkpoint {
		if t.checkpoint == "" {
			t.arm(said)
		}
		t.checkpoint = said
	}
	switch {
	case end.err != nil:
		return "", end.err
	case end.report.Error != nil:
		return "", t.failed(end.report)
	case lookErr != nil:
		// Not wrapped: the change is there.
		return "", fmt.Errorf("it was applied, but whether the checkpoint is alive is not known: %v", lookErr)
	case !slices.Contains(alive, t.checkpoint):
		return "", fmt.Errorf("it was applied, but %w: it ended during the apply", backend.ErrGone)
	}
	return t.checkpoint, nil
}

// failed makes an error of a report: one that wraps an error of the port only
// if nothing was changed.
func (t *trial) failed(said report) error {
	err := classified(*said.Error)
	if t.checkpoint == "" || said.Checkpoint == "" && errors.Is(err, backend.ErrBusy) {
		return err
	}
	return afterwards(*said.Error)
}

// afterwards makes an error of a failure that came after the checkpoint, when
// the change may be there in part: it wraps none of the port's errors.
func afterwards(f failure) error {
	if errors.Is(classified(f), backend.ErrUnavailable) {
		return fmt.Errorf("NetworkManager went away during the apply: %s", readable(f))
	}
	return unclassified(f)
}
