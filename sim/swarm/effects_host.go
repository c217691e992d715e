package swarm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/sim/fault"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
)

var (
	errActivation = errors.New("injected: activation failed")
	errVerify     = errors.New("VerificationError: injected")
	errKernel     = errors.New("injected: no buffer space available")
	errDisk       = errors.New("injected: no space left on device")
)

// on does something to a node's host, if it is there.
func (e *effects) on(node string, do func(h *host.Host)) {
	if n := e.cluster.Node(node); n != nil {
		do(n.Host)
	}
}

// RestartManager implements fault.Hosts.
func (e *effects) RestartManager(node string, down time.Duration) {
	e.on(node, func(h *host.Host) { h.RestartNetworkManager(down) })
}

// KillManager implements fault.Hosts.
func (e *effects) KillManager(node string, on bool, r *rand.Rand) {
	e.on(node, func(h *host.Host) {
		h.Faults.Die = nil
		if on {
			h.Faults.Die = func() (bool, time.Duration) {
				return r.IntN(4) > 0, time.Duration(r.IntN(10_000)) * time.Millisecond
			}
		}
	})
}

// HangManager implements fault.Hosts.
func (e *effects) HangManager(node string, on bool) {
	e.on(node, func(h *host.Host) {
		if on {
			h.HangNetworkManager()
		} else {
			h.ResumeNetworkManager()
		}
	})
}

// SpoilApply implements fault.Hosts.
func (e *effects) SpoilApply(node, how string, r *rand.Rand) {
	e.on(node, func(h *host.Host) {
		f := &h.Faults
		f.Refuse, f.Step, f.Verify, f.KeepFailed, f.Skip, f.Stay = nil, nil, nil, nil, nil, nil
		switch how {
		case fault.SpoilPartial:
			f.Step = func(done int) (time.Duration, error) {
				if done >= r.IntN(3) {
					return 0, errActivation
				}
				return 0, nil
			}
			f.KeepFailed = func() bool { return r.IntN(2) == 0 }
		case fault.SpoilLate:
			f.Verify = func() (time.Duration, bool, error) { return 0, false, errVerify }
			f.KeepFailed = func() bool { return r.IntN(2) == 0 }
		case fault.SpoilSlow:
			f.Step = func(int) (time.Duration, error) { return time.Duration(10+r.IntN(300)) * time.Second, nil }
		case fault.SpoilSkip:
			f.Skip = func(string) bool { return r.IntN(2) == 0 }
			f.Verify = func() (time.Duration, bool, error) { return 0, true, nil }
		case fault.SpoilStay:
			f.Stay = func(string) bool { return r.IntN(2) == 0 }
		case fault.SpoilRefused:
			f.Refuse = func() error { return fmt.Errorf("%w: injected", pick(r, backend.ErrBusy, backend.ErrUnavailable)) }
		}
	})
}

// RefusePutBack implements fault.Hosts.
func (e *effects) RefusePutBack(node string, on bool) {
	e.on(node, func(h *host.Host) { h.Faults.PutBack = failing(on, errKernel) })
}

// FillDisk implements fault.Hosts.
func (e *effects) FillDisk(node string, on bool) {
	e.on(node, func(h *host.Host) { h.Faults.Disk = failing(on, errDisk) })
}

func failing(on bool, err error) func() error {
	if !on {
		return nil
	}
	return func() error { return err }
}

// ExpireCheckpoint implements fault.Hosts.
func (e *effects) ExpireCheckpoint(node string) { e.on(node, (*host.Host).Expire) }

// foreignLife is longer than any fault lasts.
const foreignLife = 10 * time.Minute

// ForeignCheckpoint implements fault.Hosts.
func (e *effects) ForeignCheckpoint(node string, on bool) {
	e.on(node, func(h *host.Host) {
		if on {
			h.ForeignCheckpoint(foreignLife)
		} else {
			h.EndForeignCheckpoints()
		}
	})
}

// Reboot implements fault.Hosts. By a power cut a host loses what it has not
// flushed; an orderly end flushes it.
func (e *effects) Reboot(node string, down time.Duration, cut bool) {
	if n := e.cluster.Node(node); n != nil && n.Host.On() {
		if !cut {
			n.Host.Sync()
		}
		n.Reboot(down)
	}
}

// Carrier implements fault.Hosts.
func (e *effects) Carrier(node, nic string, up bool) {
	if n := e.cluster.Node(node); n != nil {
		n.SetCable(nic, up)
	}
}

// Overlap implements fault.Processes: the new handler waits for the lock on the
// journal that the old one holds, so all that is seen of it is that it takes
// over at once.
func (e *effects) Overlap(node string, on bool) {
	if n := e.cluster.Node(node); n != nil && !on {
		n.ReplaceHandler()
	}
}

// Drift implements fault.Hosts.
func (e *effects) Drift(node string, r *rand.Rand) {
	e.on(node, func(h *host.Host) {
		if !h.On() {
			return
		}
		e.cluster.World.Trace(node, "host", "by hand: "+h.Drift(r, e.named(node)...))
	})
}

// Disconnect implements fault.Hosts.
func (e *effects) Disconnect(node string, r *rand.Rand) {
	e.on(node, func(h *host.Host) {
		if h.On() {
			e.cluster.World.Trace(node, "host", "by hand: "+h.Disconnect(r, e.named(node)...))
		}
	})
}

// named are the interfaces that policies name on the node: a hand elsewhere is
// nobody's business.
func (e *effects) named(node string) []string {
	nns, is := e.cluster.API.Look(&v1.NodeNetworkState{}, node).(*v1.NodeNetworkState)
	if !is {
		return nil
	}
	var wanted struct {
		Interfaces []struct{ Name string }
	}
	// What cannot be read names nothing.
	_ = json.Unmarshal(nns.Spec.DesiredState.Raw, &wanted)
	var names []string
	for _, one := range wanted.Interfaces {
		names = append(names, one.Name)
	}
	return names
}
