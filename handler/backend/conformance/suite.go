package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const (
	// life of a trial that the case itself ends.
	life = 2 * time.Minute
	// shortLife of one that is to end by itself.
	shortLife = 2 * time.Second
)

// Run runs the suite; setup makes the node of each case.
func Run(t *testing.T, setup func(t *testing.T) Node) {
	cases := map[string]func(*testing.T, *bench){
		"apply then commit stays":                                   applyThenCommitStays,
		"apply then rollback restores exactly":                      applyThenRollbackRestores,
		"a NIC that became a bridge's port comes back by rollback":  bridgeTakesNICThenRollback,
		"apply without commit undoes itself after the time":         applyUndoesItself,
		"an apply that is killed in the middle undoes itself":       killedApplyUndoesItself,
		"a refused state changes nothing and is ErrInvalid":         refusedChangesNothing,
		"a trial that cannot undo itself is refused":                endlessTrialIsRefused,
		"a context that has ended starts nothing":                   endedContextStartsNothing,
		"commit after the time is ErrGone":                          commitAfterExpiry,
		"commit and rollback of what never was are ErrGone":         unknownIsGone,
		"commit and rollback of no checkpoint leave others alone":   emptyLeavesOthers,
		"a foreign checkpoint makes Apply ErrBusy and stays":        foreignCheckpointStays,
		"armed is called once, with the checkpoint that is pending": armedOnce,
		"Pending lists a trial with its time":                       pendingListsTrial,
		"Revert applied after commit restores what was before":      revertRestores,
		"Show shows what was applied":                               showShowsApplied,
		"Show is stable":                                            showIsStable,
		"Instance stays the same":                                   instanceStays,
	}
	maps.Copy(cases, trialCases)
	for name, run := range cases {
		t.Run(name, func(t *testing.T) {
			node := setup(t)
			run(t, &bench{Node: node, backend: node.Backend()})
		})
	}
}

// bench is a node with its backend and what the cases do again and again.
type bench struct {
	Node
	backend backend.Backend
}

func document(t *testing.T, format string, args ...any) state.State {
	t.Helper()
	parsed, err := state.Parse(fmt.Appendf(nil, format, args...))
	if err != nil {
		t.Fatalf("the suite's own state: %v", err)
	}
	return parsed
}

// address gives the NIC another address.
func (b *bench) address(t *testing.T, address string) state.State {
	return document(t, `{"interfaces": [{"name": %q, "type": "ethernet", "state": "up", "ipv4":
		{"enabled": true, "dhcp": false, "address": [{"ip": %q, "prefix-length": 24}]}}]}`, b.NIC(), address)
}

// bridge makes the NIC a port of a bridge, which takes over address and route.
func (b *bench) bridge(t *testing.T) state.State {
	return document(t, `{"interfaces": [
		{"name": "br0", "type": "linux-bridge", "state": "up",
		 "bridge": {"options": {"stp": {"enabled": false}}, "port": [{"name": %q, "vlan": {}}]},
		 "ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "192.0.2.1", "prefix-length": 24}]}}],
		"routes": {"config": [{"destination": "0.0.0.0/0", "next-hop-address": "192.0.2.254", "next-hop-interface": "br0"}]}}`, b.NIC())
}

func (b *bench) apply(t *testing.T, desired state.State, life time.Duration) backend.Checkpoint {
	t.Helper()
	checkpoint, _, err := b.backend.Apply(t.Context(), desired, life, nil)
	if err != nil {
		t.Fatalf("Apply: %v", err)
	}
	return checkpoint
}

func (b *bench) commit(t *testing.T, checkpoint backend.Checkpoint) {
	t.Helper()
	if err := b.backend.Commit(t.Context(), checkpoint); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

func (b *bench) pending(t *testing.T) []backend.Pending {
	t.Helper()
	found, err := b.backend.Pending(t.Context())
	if err != nil {
		t.Fatalf("Pending: %v", err)
	}
	return found
}

// becomes waits until the kernel is as before, with a difference on failure.
func (b *bench) becomes(t *testing.T, before string) {
	t.Helper()
	var now string
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("kernel, before (-) and now (+):\n%s", cmp.Diff(before, now))
		}
	})
	b.Eventually(t, "the node is as before", func() bool {
		now = b.Kernel(t)
		return now == before
	})
}

func (b *bench) noneArePending(t *testing.T) {
	t.Helper()
	b.Eventually(t, "no checkpoint is alive", func() bool { return len(b.pending(t)) == 0 })
}

func wantError(t *testing.T, doing string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got error %v, want one that wraps %q", doing, err, want)
	}
}

func applyThenCommitStays(t *testing.T, b *bench) {
	before := b.Kernel(t)
	b.commit(t, b.apply(t, b.address(t, "192.0.2.9"), life))
	after := b.Kernel(t)
	if after == before {
		t.Fatalf("the apply changed nothing:\n%s", after)
	}
	b.noneArePending(t)
	if now := b.Kernel(t); now != after {
		t.Errorf("changed after the commit:\n%s", cmp.Diff(after, now))
	}
}

func applyThenRollbackRestores(t *testing.T, b *bench) {
	before := b.Kernel(t)
	checkpoint := b.apply(t, b.address(t, "192.0.2.9"), life)
	if b.Kernel(t) == before {
		t.Fatal("the apply changed nothing")
	}
	if err := b.backend.Rollback(t.Context(), checkpoint); err != nil {
		t.Fatalf("Rollback: %v", err)
	}
	b.becomes(t, before)
	b.noneArePending(t)
}

func bridgeTakesNICThenRollback(t *testing.T, b *bench) {
	before := b.Kernel(t)
	checkpoint := b.apply(t, b.bridge(t), life)
	if err := b.backend.Rollback(t.Context(), checkpoint); err != nil {
		t.Fatalf("Rollback: %v", err)
	}
	b.becomes(t, before)
}

func applyUndoesItself(t *testing.T, b *bench) {
	before := b.Kernel(t)
	b.apply(t, b.address(t, "192.0.2.9"), shortLife)
	b.noneArePending(t)
	b.becomes(t, before)
}

func killedApplyUndoesItself(t *testing.T, b *bench) {
	before := b.Kernel(t)
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	_, _, err := b.backend.Apply(ctx, b.bridge(t), shortLife, func(backend.Checkpoint) { kill() })
	if err == nil {
		t.Log("the apply was quicker than the kill")
	}
	b.noneArePending(t)
	b.becomes(t, before)
}

func refusedChangesNothing(t *testing.T, b *bench) {
	before := b.Kernel(t)
	refused := map[string]state.State{
		"an unknown key": document(t, `{"interfaces": [{"name": %q, "type": "ethernet", "mtuu": 1400}]}`, b.NIC()),
		"a wrong type":   document(t, `{"interfaces": [{"name": %q, "type": "ethernet", "mtu": "big"}]}`, b.NIC()),
		"an address that is none": document(t, `{"interfaces": [{"name": %q, "type": "ethernet", "ipv4":
			{"enabled": true, "address": [{"ip": "192.0.2.256", "prefix-length": 24}]}}]}`, b.NIC()),
	}
	for name, desired := range refused {
		_, _, err := b.backend.Apply(t.Context(), desired, life, func(made backend.Checkpoint) {
			t.Errorf("%s: armed was called with %s", name, made)
		})
		wantError(t, name, err, backend.ErrInvalid)
		t.Logf("%s: %v", name, err)
	}
	if now := b.Kernel(t); now != before {
		t.Errorf("a refused state changed the node:\n%s", cmp.Diff(before, now))
	}
	b.noneArePending(t)
}

func endlessTrialIsRefused(t *testing.T, b *bench) {
	before := b.Kernel(t)
	if _, _, err := b.backend.Apply(t.Context(), b.address(t, "192.0.2.9"), 0, nil); err == nil {
		t.Error("Apply took a trial without an end")
	}
	if now := b.Kernel(t); now != before {
		t.Errorf("it changed the node:\n%s", cmp.Diff(before, now))
	}
}

func endedContextStartsNothing(t *testing.T, b *bench) {
	before := b.Kernel(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := b.backend.Apply(ctx, b.address(t, "192.0.2.9"), life, func(made backend.Checkpoint) {
		t.Errorf("armed was called with %s", made)
	})
	wantError(t, "Apply", err, context.Canceled)
	if now := b.Kernel(t); now != before {
		t.Errorf("it changed the node:\n%s", cmp.Diff(before, now))
	}
	b.noneArePending(t)
}

func commitAfterExpiry(t *testing.T, b *bench) {
	before := b.Kernel(t)
	checkpoint := b.apply(t, b.address(t, "192.0.2.9"), shortLife)
	b.noneArePending(t)
	wantError(t, "Commit", b.backend.Commit(t.Context(), checkpoint), backend.ErrGone)
	wantError(t, "Rollback", b.backend.Rollback(t.Context(), checkpoint), backend.ErrGone)
	b.becomes(t, before)
}

func unknownIsGone(t *testing.T, b *bench) {
	checkpoint := b.apply(t, b.address(t, "192.0.2.9"), life)
	b.commit(t, checkpoint)
	after := b.Kernel(t)
	wantError(t, "Commit", b.backend.Commit(t.Context(), checkpoint), backend.ErrGone)
	wantError(t, "Rollback", b.backend.Rollback(t.Context(), checkpoint), backend.ErrGone)
	wantError(t, "Rollback of a name", b.backend.Rollback(t.Context(), "nonsense"), backend.ErrGone)
	if now := b.Kernel(t); now != after {
		t.Errorf("changed:\n%s", cmp.Diff(after, now))
	}
}

func emptyLeavesOthers(t *testing.T, b *bench) {
	foreign := b.ForeignCheckpoint(t, life)
	for _, none := range []backend.Checkpoint{"", "/"} {
		wantError(t, fmt.Sprintf("Commit of %q", none), b.backend.Commit(t.Context(), none), backend.ErrGone)
		wantError(t, fmt.Sprintf("Rollback of %q", none), b.backend.Rollback(t.Context(), none), backend.ErrGone)
	}
	b.stillThere(t, foreign)
}

func (b *bench) stillThere(t *testing.T, checkpoint backend.Checkpoint) {
	t.Helper()
	found := b.pending(t)
	if !slices.ContainsFunc(found, func(p backend.Pending) bool { return p.Checkpoint == checkpoint }) {
		t.Errorf("checkpoint %s is gone; alive: %v", checkpoint, found)
	}
	if err := b.backend.Rollback(t.Context(), checkpoint); err != nil {
		t.Errorf("clearing it away: %v", err)
	}
}

func foreignCheckpointStays(t *testing.T, b *bench) {
	before := b.Kernel(t)
	foreign := b.ForeignCheckpoint(t, life)
	_, _, err := b.backend.Apply(t.Context(), b.address(t, "192.0.2.9"), life, func(made backend.Checkpoint) {
		t.Errorf("armed was called with %s", made)
	})
	wantError(t, "Apply", err, backend.ErrBusy)
	if now := b.Kernel(t); now != before {
		t.Errorf("it changed the node:\n%s", cmp.Diff(before, now))
	}
	b.stillThere(t, foreign)
}

func armedOnce(t *testing.T, b *bench) {
	var told []backend.Checkpoint
	checkpoint, _, err := b.backend.Apply(t.Context(), b.address(t, "192.0.2.9"), life, func(made backend.Checkpoint) {
		told = append(told, made)
	})
	if err != nil {
		t.Fatalf("Apply: %v", err)
	}
	if diff := cmp.Diff([]backend.Checkpoint{checkpoint}, told); diff != "" {
		t.Errorf("armed calls (-want +got):\n%s", diff)
	}
	b.stillThere(t, checkpoint)
}

func pendingListsTrial(t *testing.T, b *bench) {
	if found := b.pending(t); len(found) > 0 {
		t.Fatalf("pending before: %v", found)
	}
	checkpoint := b.apply(t, b.address(t, "192.0.2.9"), life)
	found := b.pending(t)
	if len(found) != 1 || found[0].Checkpoint != checkpoint {
		t.Fatalf("pending: got %v, want %s", found, checkpoint)
	}
	// The life counts from the apply's last step, so it may be longer seen
	// from the checkpoint's making; shorter it is never.
	if found[0].RollbackAfter < life || found[0].RollbackAfter > life+life/2 {
		t.Errorf("it undoes itself after %s, want %s or little more", found[0].RollbackAfter, life)
	}
	if found[0].CreatedBoot <= 0 {
		t.Errorf("made %s after boot", found[0].CreatedBoot)
	}
	b.commit(t, checkpoint)
}

func revertRestores(t *testing.T, b *bench) {
	before := b.Kernel(t)
	current, err := b.backend.Show(t.Context())
	if err != nil {
		t.Fatalf("Show: %v", err)
	}
	revert, err := b.backend.Revert(t.Context(), b.bridge(t), current)
	if err != nil {
		t.Fatalf("Revert: %v", err)
	}
	if now := b.Kernel(t); now != before {
		t.Errorf("Revert changed the node:\n%s", cmp.Diff(before, now))
	}
	b.commit(t, b.apply(t, b.bridge(t), life))
	b.commit(t, b.apply(t, revert, life))
	b.becomes(t, before)
}

func showShowsApplied(t *testing.T, b *bench) {
	desired := b.bridge(t)
	checkpoint := b.apply(t, desired, life)
	current, err := b.backend.Show(t.Context())
	if err != nil {
		t.Fatalf("Show: %v", err)
	}
	bridge, ok := current.Interface("br0")
	if !ok || bridge.Type != "linux-bridge" {
		t.Fatalf("Show does not have the bridge: %s", current.JSON())
	}
	if diff := cmp.Diff([]string{"192.0.2.1/24"}, bridge.Addresses(state.IPv4)); diff != "" {
		t.Errorf("the bridge's addresses (-want +got):\n%s", diff)
	}
	if nic, _ := current.Interface(b.NIC()); nic.Name == "" {
		t.Errorf("Show does not have %s", b.NIC())
	} else if controller, _ := nic.Controller(); controller != "br0" {
		t.Errorf("controller of %s: got %q, want br0", b.NIC(), controller)
	}
	if err := b.backend.Rollback(t.Context(), checkpoint); err != nil {
		t.Fatalf("Rollback: %v", err)
	}
}

func showIsStable(t *testing.T, b *bench) {
	first, err := b.backend.Show(t.Context())
	if err != nil {
		t.Fatalf("Show: %v", err)
	}
	second, err := b.backend.Show(t.Context())
	if err != nil {
		t.Fatalf("Show: %v", err)
	}
	if !state.SameReport(state.Report(first), state.Report(second)) {
		t.Errorf("two reports of the same node differ:\n%s", cmp.Diff(first.Tree(), second.Tree()))
	}
}

func instanceStays(t *testing.T, b *bench) {
	first, err := b.backend.Instance(t.Context())
	if err != nil || first == "" {
		t.Fatalf("Instance: %q, %v", first, err)
	}
	b.commit(t, b.apply(t, b.address(t, "192.0.2.9"), life))
	second, err := b.backend.Instance(t.Context())
	if err != nil {
		t.Fatalf("Instance: %v", err)
	}
	if first != second {
		t.Errorf("the instance changed from %s to %s though nothing restarted", first, second)
	}
}
