package host

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// apply is one run of nmstate:
//
//	refuse ─► checkpoint, armed ─► profiles in /run ─► end, activate one by one ─► verify
//	                                     │ error: nmstate rolls back itself ◄──┘
//
// Killed between two steps it leaves what it has done, and the checkpoint.
//
// Nothing of it is on disk but NetworkManager's file of global DNS, for a moment:
// the backend holds that back, and puts the old one there again.
type apply struct {
	host    *Host
	process *world.Process
	desired state.State
	life    time.Duration
	armed   func(backend.Checkpoint)

	checkpoint *trial
	// instance of NetworkManager that it talks to.
	instance int
	// dns is the file of global DNS as it was; held are the files held back.
	dns  *profiles.File
	held profiles.Files
}

// What the steps take, as measured on the lab.
const (
	leastStep, mostStep = 20 * time.Millisecond, 90 * time.Millisecond
	// creationTimeout is how long nmstate waits for a link that the kernel
	// cannot create.
	creationTimeout = 126 * time.Second
	// How long a file of global DNS is there that nobody has proven.
	leastHold, mostHold = time.Millisecond, 5 * time.Millisecond
	// verifyTimeout is how long it verifies in vain.
	verifyTimeout = 10 * time.Second
)

func (a *apply) run(ctx context.Context) error {
	h := a.host
	if err := h.answers(ctx, a.process, answerWithin); err != nil {
		return err
	}
	if len(h.nm.checkpoints) > 0 {
		return fmt.Errorf("%w: %s", backend.ErrBusy, h.nm.checkpoints[0].path)
	}
	a.desired = a.desired.ForTrial()
	d, err := h.planned(a.desired)
	if err != nil {
		return err
	}
	if fault := h.Faults.Refuse; fault != nil {
		if err := fault(); err != nil {
			return err
		}
	}
	a.instance = h.nm.starts
	if err := a.step(ctx); err != nil {
		return err
	}
	if len(h.nm.checkpoints) > 0 { // Somebody else was quicker.
		return fmt.Errorf("%w: %s", backend.ErrBusy, h.nm.checkpoints[0].path)
	}
	a.checkpoint = h.makeCheckpoint(a.process.Name, a.life)
	if a.armed != nil {
		a.armed(a.checkpoint.path)
	}
	if file, there := h.files.disk[profiles.DNSFile]; there {
		a.dns = &file
	}
	err = a.change(ctx, d)
	if err != nil {
		err = a.takeBack(ctx, err)
	}
	a.holdDNS()
	if err != nil {
		return err
	}
	if h.alive(a.checkpoint.path) == nil {
		return fmt.Errorf("it was applied, but %w: it ended during the apply", backend.ErrGone)
	}
	h.reportBy(a.checkpoint, CheckpointApplied, a.process.Name)
	return nil
}

// step lets some time pass; the error is why the apply does not go on.
func (a *apply) step(ctx context.Context) error {
	return a.wait(ctx, a.host.some(leastStep, mostStep))
}

func (a *apply) wait(ctx context.Context, d time.Duration) error {
	if !a.process.Clock().Wait(ctx, nil, d) {
		return ctx.Err()
	}
	if a.host.nm.hung {
		// Nobody times out here: nmstate waits for NetworkManager.
		if err := a.host.answers(ctx, a.process, 0); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if !a.host.nm.running || a.host.nm.starts != a.instance {
		if a.checkpoint == nil {
			return fmt.Errorf("%w: it went away", backend.ErrUnavailable)
		}
		return errWentAway
	}
	return nil
}

// change brings the host to the plan.
func (a *apply) change(ctx context.Context, d *plan) error {
	h := a.host
	if err := a.step(ctx); err != nil {
		return err
	}
	if err := a.ended(); err != nil {
		return err
	}
	if err := h.refusedServers(d); err != nil {
		return err
	}
	if err := a.adopt(ctx, d); err != nil {
		return err
	}
	for i, p := range d.end {
		if err := a.between(ctx, i); err != nil {
			return err
		}
		h.deactivate(p.name, p.userspace(), p.kind)
	}
	for i, p := range d.activate {
		if err := a.between(ctx, len(d.end)+i); err != nil {
			return err
		}
		if h.Faults.Skip != nil && h.Faults.Skip(p.name) {
			continue
		}
		if h.dies(p) {
			return errWentAway
		}
		if err := h.activate(p); err != nil {
			// nmstate waits for the device; NetworkManager has said why not.
			if late := a.wait(ctx, creationTimeout); late != nil {
				return late
			}
			return fmt.Errorf("activating: %w", err)
		}
		if a := h.activations[p.key()]; a != nil && p.up() && h.Faults.Stay != nil && h.Faults.Stay(p.name) {
			a.stays = true
		}
	}
	if d.rulesChanged {
		h.routeByRules()
	}
	if d.running != "" && d.running != h.kernel.hostname {
		e := h.kernel.edit()
		e.hostname = d.running
		h.put(e)
	}
	return a.verify(ctx)
}

// adopt gives NetworkManager the profiles and the global DNS of the plan.
func (a *apply) adopt(ctx context.Context, d *plan) error {
	h := a.host
	before := h.settings
	h.settings = d.settings
	for _, p := range h.settings.all() {
		if p.bare || slices.Contains(before.all(), p) {
			continue
		}
		if p.uuid == "" {
			p.uuid = h.newUUID()
		}
		h.shadow(p)
	}
	h.changed()
	if same(before.dns, h.settings.dns) {
		return nil
	}
	h.writeDNS()
	if err := a.wait(ctx, h.some(leastHold, mostHold)); err != nil {
		return err
	}
	a.holdDNS()
	return nil
}

// holdDNS puts the old bytes of the file of global DNS back, and keeps the new ones.
func (a *apply) holdDNS() {
	h := a.host
	is, there := h.files.disk[profiles.DNSFile]
	switch {
	case !there && a.dns == nil || there && a.dns != nil && string(is.Content) == string(a.dns.Content):
		return
	case there:
		a.held = profiles.Files{profiles.DNSFile: is}
	}
	if a.dns == nil {
		h.remove(profiles.DNSFile)
	} else {
		h.write(profiles.DNSFile, *a.dns)
	}
	h.sync()
}

// between is the time between two activations, and what may go wrong then.
func (a *apply) between(ctx context.Context, done int) error {
	if err := a.step(ctx); err != nil {
		return err
	}
	if err := a.ended(); err != nil {
		return err
	}
	if fault := a.host.Faults.Step; fault != nil {
		wait, err := fault(done)
		if wait > 0 {
			if err := a.wait(ctx, wait); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		return a.ended()
	}
	return nil
}

// ended tells that the checkpoint has undone everything meanwhile: what
// nmstate would activate is not there any more.
func (a *apply) ended() error {
	if a.host.alive(a.checkpoint.path) == nil {
		return fmt.Errorf("the checkpoint %s ended during the apply", a.checkpoint.path)
	}
	return nil
}

// verify reads the state back, as the backend does, and gives the checkpoint its
// whole time again.
func (a *apply) verify(ctx context.Context) error {
	h := a.host
	if err := a.step(ctx); err != nil {
		return err
	}
	if err := a.ended(); err != nil {
		return err
	}
	h.refresh(a.checkpoint, a.life)
	if fault := h.Faults.Verify; fault != nil {
		wait, lie, err := fault()
		if wait > 0 {
			if err := a.wait(ctx, wait); err != nil {
				return err
			}
		}
		if err != nil || lie {
			return err
		}
	}
	// The backend reads the node again and again while it waits; it applies nothing
	// once more (ADR 0023).
	missing := state.Missing(a.desired, h.Show())
	for try := 0; len(missing) > 0 && try < 2; try++ {
		if err := a.wait(ctx, verifyTimeout/2); err != nil {
			return err
		}
		if err := a.ended(); err != nil {
			return err
		}
		h.refresh(a.checkpoint, a.life)
		missing = state.Missing(a.desired, h.Show())
	}
	if len(missing) > 0 {
		return fmt.Errorf("the node does not have what was applied: %s", missing[0])
	}
	return nil
}

// takeBack is what nmstate does of its own accord when it fails: unless it was
// killed, or cannot reach NetworkManager, it rolls back.
func (a *apply) takeBack(ctx context.Context, cause error) error {
	h := a.host
	c := h.alive(a.checkpoint.path)
	keep := h.Faults.KeepFailed != nil && h.Faults.KeepFailed()
	if ctx.Err() == nil && c != nil && !h.nm.hung && !keep {
		h.drop(c)
		h.restore(c)
		h.reportBy(c, CheckpointRolledBack, a.process.Name)
	}
	return cause
}
