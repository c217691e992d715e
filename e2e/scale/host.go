package scale

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// host is a node's network and its disk, in memory.
type host struct {
	probe.NoTargets

	mu         sync.Mutex
	interfaces map[string]map[string]any
	saved      map[string]map[string]any
	checkpoint backend.Checkpoint
	made       int
	entry      *journal.Entry
	record     journal.Record
}

var (
	_ backend.Backend = (*host)(nil)
	_ journal.Journal = (*host)(nil)
	_ journal.Boot    = (*host)(nil)
	_ probe.Prober    = (*host)(nil)
)

func newHost() *host {
	h := &host{interfaces: map[string]map[string]any{}}
	for _, name := range []string{"eth0", "eth1"} {
		h.interfaces[name] = map[string]any{"name": name, "type": "ethernet", "state": "up", "mtu": 1500.0}
	}
	return h
}

// Show implements backend.Backend.
func (h *host) Show(context.Context) (state.State, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []any
	for _, name := range slices.Sorted(maps.Keys(h.interfaces)) {
		list = append(list, maps.Clone(h.interfaces[name]))
	}
	return state.FromTree(map[string]any{"interfaces": list}), nil
}

// Apply implements backend.Backend: what is named gets the keys that are named.
func (h *host) Apply(_ context.Context, desired state.State, _ time.Duration, armed func(backend.Checkpoint)) (backend.Checkpoint, profiles.Files, error) {
	h.mu.Lock()
	h.made++
	made := backend.Checkpoint(fmt.Sprintf("/checkpoint/%d", h.made))
	h.checkpoint, h.saved = made, map[string]map[string]any{}
	for name, tree := range h.interfaces {
		h.saved[name] = maps.Clone(tree)
	}
	for _, i := range desired.Interfaces() {
		if i.IsAbsent() {
			delete(h.interfaces, i.Name)
			continue
		}
		if h.interfaces[i.Name] == nil {
			h.interfaces[i.Name] = map[string]any{}
		}
		maps.Copy(h.interfaces[i.Name], i.Tree())
	}
	h.mu.Unlock()
	armed(made)
	return made, nil, nil
}

// Profiles implements backend.Backend: there are none.
func (h *host) Profiles(context.Context) (profiles.Snapshot, error) { return profiles.Snapshot{}, nil }

// Devices implements backend.Backend: NetworkManager is not there.
func (h *host) Devices(context.Context) ([]profiles.Device, error) { return nil, nil }

// Do implements backend.Backend.
func (h *host) Do(context.Context, profiles.Action) error { return nil }

// Commit implements backend.Backend.
func (h *host) Commit(_ context.Context, c backend.Checkpoint) error { return h.end(c, false) }

// Rollback implements backend.Backend.
func (h *host) Rollback(_ context.Context, c backend.Checkpoint) error { return h.end(c, true) }

func (h *host) end(c backend.Checkpoint, back bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.checkpoint != c {
		return backend.ErrGone
	}
	h.checkpoint = ""
	if back {
		h.interfaces = h.saved
	}
	return nil
}

// Pending implements backend.Backend.
func (h *host) Pending(context.Context) ([]backend.Pending, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.checkpoint == "" {
		return nil, nil
	}
	return []backend.Pending{{Checkpoint: h.checkpoint, RollbackAfter: time.Hour}}, nil
}

// Instance implements backend.Backend.
func (h *host) Instance(context.Context) (string, error) { return "only", nil }

// Revert implements backend.Backend: every interface as it was.
func (h *host) Revert(_ context.Context, desired, current state.State) (state.State, error) {
	var list []any
	for _, i := range desired.Interfaces() {
		if was, there := current.Interface(i.Name); there {
			list = append(list, was.Tree())
		} else {
			list = append(list, map[string]any{"name": i.Name, "state": "absent"})
		}
	}
	return state.FromTree(map[string]any{"interfaces": list}), nil
}

// Names implements probe.Prober.
func (h *host) Names() []string { return []string{probe.APIServer} }

// Probe implements probe.Prober: there is nothing that could be lost.
func (h *host) Probe(context.Context, string) error { return nil }

// ID implements journal.Boot.
func (h *host) ID() (string, error) { return "only", nil }

// Elapsed implements journal.Boot.
func (h *host) Elapsed() (time.Duration, error) { return 0, nil }

// Load implements journal.Journal.
func (h *host) Load() (*journal.Entry, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.entry, nil
}

// Save implements journal.Journal.
func (h *host) Save(entry journal.Entry) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entry = &entry
	return nil
}

// Close implements journal.Journal.
func (h *host) Close(record journal.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entry, h.record = nil, record
	return nil
}

// Record implements journal.Journal.
func (h *host) Record() (journal.Record, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.record, nil
}
