package fault

import (
	"math/rand/v2"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/txn"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// backendPort is what calls of NetworkManager and nmstate are called by.
const backendPort = "backend"

func managerKinds() []Kind {
	return []Kind{
		{
			Name: "nm-restart", On: OnNode, Doc: "NetworkManager restarts: its checkpoints are lost, what is there stays",
			begin: func(e Effects, f Fault, r *rand.Rand) { e.RestartManager(f.Target, drawn(r, 0, 30*time.Second)) },
		},
		{
			Name: "nm-hang", On: OnNode, Least: 5 * time.Second, Most: 4 * time.Minute,
			Doc:   "NetworkManager answers nobody",
			begin: func(e Effects, f Fault, _ *rand.Rand) { e.HangManager(f.Target, true) },
			end:   func(e Effects, f Fault, _ *rand.Rand) { e.HangManager(f.Target, false) },
		},
		{
			Name: "checkpoint-expires", On: OnNode, Never: []txn.Phase{txn.Idle, txn.Settling}, Doc: "the checkpoint's timer runs out now",
			begin: func(e Effects, f Fault, _ *rand.Rand) { e.ExpireCheckpoint(f.Target) },
		},
		{
			Name: "checkpoint-foreign", On: OnNode, Least: 5 * time.Second, Most: 3 * time.Minute,
			Doc:   "somebody else's checkpoint is there",
			begin: func(e Effects, f Fault, _ *rand.Rand) { e.ForeignCheckpoint(f.Target, true) },
			end:   func(e Effects, f Fault, _ *rand.Rand) { e.ForeignCheckpoint(f.Target, false) },
		},
		{
			Name: "backend-fails", On: OnNode, Least: 5 * time.Second, Most: 3 * time.Minute, Rate: 0.5,
			Doc: "a call of the backend fails, before its effect or after it",
			verdict: func(a *active, call world.Call) world.Verdict {
				if call.Port != backendPort {
					return world.Verdict{}
				}
				if a.rand.IntN(2) == 0 {
					return world.Verdict{Fail: true}
				}
				return world.Verdict{Lose: true}
			},
		},
	}
}

func applyKinds() []Kind {
	return []Kind{
		spoilt("apply-partial", SpoilPartial, "an apply does a part of it, then fails"),
		spoilt("apply-late-error", SpoilLate, "an apply does all of it, then fails"),
		spoilt("apply-slow", SpoilSlow, "an apply takes longer than the checkpoint lives"),
		spoilt("apply-skips", SpoilSkip, "an apply leaves something out and tells success"),
		spoilt("apply-refused", SpoilRefused, "an apply fails before it has done anything"),
		leanly(spoilt("device-stays-down", SpoilStay, "NetworkManager leaves devices disconnected that an apply has brought up, and tells success")),
		{
			Name: "nm-dies", Lean: true, On: OnNode, Least: 10 * time.Minute, Most: 30 * time.Minute,
			Doc:   "NetworkManager dies now and then when it has made a device, before it gives it its profile",
			begin: func(e Effects, f Fault, r *rand.Rand) { e.KillManager(f.Target, true, r) },
			end:   func(e Effects, f Fault, r *rand.Rand) { e.KillManager(f.Target, false, r) },
		},
		{
			Name: "nm-dies-at-commit", Lean: true, On: OnNode, Least: 10 * time.Minute, Most: 30 * time.Minute, Rate: 1,
			Doc: "NetworkManager dies when it is asked to give a checkpoint up, and comes back: what is to stay is on disk, and not proven",
			verdict: func(a *active, call world.Call) world.Verdict {
				if call.Port != backendPort || call.Verb != "commit" {
					return world.Verdict{}
				}
				a.effects.RestartManager(a.fault.Target, drawn(a.rand, 0, 30*time.Second))
				return world.Verdict{Before: time.Millisecond}
			},
		},
		{
			Name: "put-back-refused", On: OnNode, Least: 5 * time.Second, Most: 3 * time.Minute,
			Doc:   "the kernel refuses to take back what a change has cost others",
			begin: func(e Effects, f Fault, _ *rand.Rand) { e.RefusePutBack(f.Target, true) },
			end:   func(e Effects, f Fault, _ *rand.Rand) { e.RefusePutBack(f.Target, false) },
		},
	}
}

func spoilt(name, how, doc string) Kind {
	return Kind{
		Name: name, Doc: doc, On: OnNode, Least: 5 * time.Second, Most: 8 * time.Minute,
		begin: func(e Effects, f Fault, r *rand.Rand) { e.SpoilApply(f.Target, how, r) },
		end:   func(e Effects, f Fault, r *rand.Rand) { e.SpoilApply(f.Target, "", r) },
	}
}

// leanly is a kind that is drawn in lean runs only.
func leanly(k Kind) Kind {
	k.Lean = true
	return k
}

func hostKinds() []Kind {
	return []Kind{
		{
			Name: "reboot", On: OnNode, Doc: "the node reboots",
			begin: func(e Effects, f Fault, r *rand.Rand) {
				e.Reboot(f.Target, drawn(r, 20*time.Second, 3*time.Minute), false)
			},
		},
		{
			Name: "power-cut", On: OnNode, Doc: "the node loses power: what was not synced is gone",
			begin: func(e Effects, f Fault, r *rand.Rand) {
				e.Reboot(f.Target, drawn(r, 20*time.Second, 3*time.Minute), true)
			},
		},
		{
			Name: "carrier-loss", On: OnNode, Least: time.Second, Most: 3 * time.Minute,
			Args: []string{"eth0", "eth1", "eth2"}, Doc: "a cable is pulled, and put back",
			begin: func(e Effects, f Fault, _ *rand.Rand) { e.Carrier(f.Target, f.Arg, false) },
			end:   func(e Effects, f Fault, _ *rand.Rand) { e.Carrier(f.Target, f.Arg, true) },
		},
		{
			Name: "drift", On: OnNode, Doc: "somebody changes the node's network by hand",
			begin: func(e Effects, f Fault, r *rand.Rand) { e.Drift(f.Target, r) },
		},
		{
			Name: "device-disconnected", Lean: true, On: OnNode, Doc: "somebody has NetworkManager let go of a NIC that a policy names: its link stays up",
			begin: func(e Effects, f Fault, r *rand.Rand) { e.Disconnect(f.Target, r) },
		},
		{
			Name: "disk-full", On: OnNode, Least: 5 * time.Second, Most: 5 * time.Minute,
			Doc:   "the journal's disk is full",
			begin: func(e Effects, f Fault, _ *rand.Rand) { e.FillDisk(f.Target, true) },
			end:   func(e Effects, f Fault, _ *rand.Rand) { e.FillDisk(f.Target, false) },
		},
	}
}
