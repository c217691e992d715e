package host

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// daemon is the running NetworkManager.
type daemon struct {
	running, hung bool
	// starts counts its starts; it is what Instance tells.
	starts      int
	checkpoints []*trial
	// made counts the checkpoints of this instance.
	made int
	// waiting are processes that wait for a hung one.
	waiting []*world.Process
}

// answerWithin is how long the production backend waits for an answer on D-Bus
// (handler/backend/nmstate).
const answerWithin = 10 * time.Second

// errWentAway is what an apply says that NetworkManager did not see the end of;
// it wraps none of the port's errors, since the change may be there.
var errWentAway = errors.New("NetworkManager went away during the apply")

func (h *Host) instance() string {
	return fmt.Sprintf("%s %d", h.boot.id(h.Name), h.nm.starts)
}

// startNetworkManager takes over what it finds and activates the profiles that
// are not active, in /run and on disk. What is active stays as it is, also where
// its profile says something else now.
func (h *Host) startNetworkManager() {
	h.nm.running, h.nm.hung = true, false
	h.nm.starts++
	h.settings = h.readSettings()
	h.routeByRules()
	h.forgetAspired()
	for _, p := range h.inOrder(h.settings.profiles) {
		if p.up() && !h.isActive(p) && !h.isUnused(p) {
			h.autoconnect(p)
		}
	}
}

// isActive tells whether the profile is active on its device, maybe as it was
// before somebody changed it. One that lost its carrier for long is not.
func (h *Host) isActive(p *profile) bool {
	a := h.activations[p.key()]
	return a != nil && !a.idle && a.profile.uuid == p.uuid && h.kernel.link(p.name, p.userspace()) != nil
}

// isUnused tells whether its device was made, and left so by a NetworkManager that died.
func (h *Host) isUnused(p *profile) bool {
	l := h.kernel.link(p.name, p.userspace())
	return l != nil && l.Unused
}

// dies tells whether NetworkManager dies between making the device of a profile and
// giving it its settings; the device is there then, and the profile's file.
func (h *Host) dies(p *profile) bool {
	if h.Faults.Die == nil || !p.up() || !isSoftware(p.kind) || p.kind == "veth" || p.kind == "ovs-interface" || p.userspace() || h.lacks[p.kind] || h.kernel.link(p.name, false) != nil {
		return false
	}
	dies, back := h.Faults.Die()
	if !dies {
		return false
	}
	e := h.kernel.edit()
	e.change(h.create(e, p), func(l *Link) { l.Unused = true })
	h.put(e)
	h.world.Trace(h.Name, "host", "NetworkManager made "+p.name+", and dies")
	h.RestartNetworkManager(back)
	return true
}

func samePointer(a, b tree) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// stopNetworkManager ends it: its checkpoints are lost, the kernel stays.
func (h *Host) stopNetworkManager() {
	lost := h.nm.checkpoints
	h.nm.running, h.nm.hung, h.nm.checkpoints = false, false, nil
	for _, c := range lost {
		c.timer.Stop()
		h.report(c, CheckpointLost)
	}
	h.wakeWaiting()
}

// StopNetworkManager ends it (systemctl stop, a crash).
func (h *Host) StopNetworkManager() {
	if !h.nm.running {
		return
	}
	h.world.Trace(h.Name, "host", "NetworkManager stopped")
	h.stopNetworkManager()
	h.changed()
	h.tell(NetworkManagerGone)
}

// StartNetworkManager starts it: another instance.
func (h *Host) StartNetworkManager() {
	if h.nm.running || !h.boot.on {
		return
	}
	h.world.Trace(h.Name, "host", "NetworkManager started")
	h.startNetworkManager()
	h.changed()
	h.tell(NetworkManagerBack)
}

// RestartNetworkManager stops it, and starts it after a time.
func (h *Host) RestartNetworkManager(takes time.Duration) {
	h.StopNetworkManager()
	h.world.After(takes, h.StartNetworkManager)
}

// HangNetworkManager has it answer nothing until ResumeNetworkManager; its
// timers go on then, late.
func (h *Host) HangNetworkManager() { h.nm.hung = h.nm.running }

// ResumeNetworkManager ends a hang.
func (h *Host) ResumeNetworkManager() {
	if !h.nm.hung {
		return
	}
	h.nm.hung = false
	for _, c := range append([]*trial(nil), h.nm.checkpoints...) {
		if c.late {
			h.expire(c)
		}
	}
	h.wakeWaiting()
}

// NetworkManagerRunning tells whether it is there, hung or not.
func (h *Host) NetworkManagerRunning() bool { return h.nm.running }

func (h *Host) wakeWaiting() {
	waiting := h.nm.waiting
	h.nm.waiting = nil
	for _, p := range waiting {
		p.Wake()
	}
}

// answers waits for NetworkManager to answer; ErrUnavailable: it is not there,
// or did not within the time. Zero time waits until ctx ends.
func (h *Host) answers(ctx context.Context, p *world.Process, within time.Duration) error {
	if !h.nm.running {
		return fmt.Errorf("%w: it is not running", backend.ErrUnavailable)
	}
	if !h.nm.hung {
		return ctx.Err()
	}
	instance, over := h.nm.starts, false
	var timer *world.Event
	if within > 0 {
		timer = p.After(within, func() { over = true })
	}
	h.nm.waiting = append(h.nm.waiting, p)
	err := p.WaitFor(ctx, func() bool { return over || !h.nm.hung })
	timer.Stop()
	switch {
	case err != nil:
		return err
	case !h.nm.running || h.nm.starts != instance:
		return fmt.Errorf("%w: it went away", backend.ErrUnavailable)
	case over && h.nm.hung:
		return fmt.Errorf("%w: no answer within %s", backend.ErrUnavailable, within)
	}
	return nil
}
