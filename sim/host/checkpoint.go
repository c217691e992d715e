package host

import (
	"fmt"
	"slices"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// checkpointPrefix is that of NetworkManager's object paths.
const checkpointPrefix = "/org/freedesktop/NetworkManager/Checkpoint/"

// CheckpointKind is what became of a checkpoint.
type CheckpointKind string

// What becomes of checkpoints.
const (
	CheckpointMade       CheckpointKind = "made"
	CheckpointApplied    CheckpointKind = "applied" // The apply under it has succeeded.
	CheckpointCommitted  CheckpointKind = "committed"
	CheckpointRolledBack CheckpointKind = "rolled back"
	CheckpointExpired    CheckpointKind = "expired"
	CheckpointLost       CheckpointKind = "lost" // With NetworkManager.
)

// CheckpointEvent is one of these.
type CheckpointEvent struct {
	Host       *Host
	Checkpoint backend.Checkpoint
	Kind       CheckpointKind
	// Owner is the name of the process whose apply made it; empty for somebody else's.
	Owner string
	// By is the process that committed it or rolled it back; empty for others.
	By string
	// Ends is when it would have undone itself (World.Elapsed).
	Ends time.Duration
}

// trial is a checkpoint of NetworkManager.
type trial struct {
	path    backend.Checkpoint
	owner   string
	created time.Duration // Since boot.
	// life from created on, in whole seconds; zero for ever.
	life  time.Duration
	ends  time.Duration
	timer *world.Event
	// late: its time is over and NetworkManager is hung.
	late bool
	// What there was: settings and the kernel's links and routes.
	settings settings
	kernel   *kernel
	// storage is where the profiles were.
	storage map[string]stored
}

// OpenCheckpoint is a checkpoint that is alive, for oracles.
type OpenCheckpoint struct {
	Checkpoint backend.Checkpoint
	Owner      string
	Ends       time.Duration
}

// Checkpoints that are alive.
func (h *Host) Checkpoints() []OpenCheckpoint {
	var found []OpenCheckpoint
	for _, c := range h.nm.checkpoints {
		found = append(found, OpenCheckpoint{Checkpoint: c.path, Owner: c.owner, Ends: c.ends})
	}
	return found
}

// ForeignCheckpoint makes a checkpoint as somebody else would, which undoes
// itself after the time; false: NetworkManager does not answer, or has one.
func (h *Host) ForeignCheckpoint(rollbackAfter time.Duration) (backend.Checkpoint, bool) {
	if !h.nm.running || h.nm.hung || len(h.nm.checkpoints) > 0 {
		return "", false
	}
	return h.makeCheckpoint("", rollbackAfter).path, true
}

// EndForeignCheckpoints destroys those that no process of ours has made; what
// was done under them stays.
func (h *Host) EndForeignCheckpoints() {
	for _, c := range slices.Clone(h.nm.checkpoints) {
		if c.owner == "" {
			h.drop(c)
			h.report(c, CheckpointCommitted)
		}
	}
}

func (h *Host) makeCheckpoint(owner string, life time.Duration) *trial {
	h.nm.made++
	c := &trial{
		path: backend.Checkpoint(fmt.Sprintf("%s%d", checkpointPrefix, h.nm.made)), owner: owner, created: h.elapsed().Truncate(time.Millisecond),
		life: life, settings: h.settings, kernel: h.kernel, storage: h.storage(),
	}
	h.nm.checkpoints = append(h.nm.checkpoints, c)
	h.arm(c, life)
	h.report(c, CheckpointMade)
	return c
}

// arm has the checkpoint undo itself when the time is over from now on.
func (h *Host) arm(c *trial, life time.Duration) {
	c.timer.Stop()
	if life <= 0 {
		return
	}
	c.ends = h.world.Elapsed() + life
	c.timer = h.world.After(life, func() {
		if h.nm.hung {
			c.late = true
			return
		}
		h.expire(c)
	})
}

// refresh gives the checkpoint its life from now on. NetworkManager counts the
// timeout from the making, in whole seconds, rounded up.
func (h *Host) refresh(c *trial, life time.Duration) {
	c.life = (h.elapsed() - c.created + time.Second - 1).Truncate(time.Second) + life
	h.arm(c, life)
}

func (h *Host) expire(c *trial) {
	h.drop(c)
	h.restore(c)
	h.report(c, CheckpointExpired)
}

// Expire ends the time of the process's open checkpoints now.
func (h *Host) Expire() {
	for _, c := range slices.Clone(h.nm.checkpoints) {
		h.expire(c)
	}
}

func (h *Host) drop(c *trial) {
	c.timer.Stop()
	h.nm.checkpoints = slices.DeleteFunc(h.nm.checkpoints, func(other *trial) bool { return other == c })
}

func (h *Host) alive(path backend.Checkpoint) *trial {
	for _, c := range h.nm.checkpoints {
		if c.path == path {
			return c
		}
	}
	return nil
}

func (h *Host) report(c *trial, kind CheckpointKind) { h.reportBy(c, kind, "") }

func (h *Host) reportBy(c *trial, kind CheckpointKind, by string) {
	h.world.Trace(h.Name, "checkpoint", string(c.path[len(checkpointPrefix):])+" "+string(kind))
	if h.OnCheckpoint != nil {
		h.OnCheckpoint(CheckpointEvent{Host: h, Checkpoint: c.path, Kind: kind, Owner: c.owner, By: by, Ends: c.ends})
	}
}
