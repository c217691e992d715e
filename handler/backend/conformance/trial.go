package conformance

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// trialCases are what the port promises about the disk and the profiles: what
// a trial leaves there, how it is made permanent and how it is taken back.
var trialCases = map[string]func(*testing.T, *bench){
	"Profiles tells the NIC's profile, and changes nothing":        profilesTellsNIC,
	"a NIC that is let go is not active until it is applied again": letGoUntilApplied,
	"a trial leaves the disk as it was":                            trialLeavesDisk,
	"a power cut forgets a trial":                                  powerCutForgetsTrial,
	"what was made permanent and committed outlives a power cut":   permanentOutlivesPowerCut,
	"what was made permanent can still be rolled back":             permanentGoesBack,
	"files back and rollback leave every file as it was":           filesBackThenRollback,
	"a trial without its checkpoint goes back by files, devices":   backWithoutCheckpoint,
	"an absent bridge is away in the trial and back by rollback":   absentComesBack,
	"an absent bridge that was tidied away is gone after a reboot": absentStaysAway,
	"an action on what is not there is ErrGone":                    actionOnNothingIsGone,
	"an action done again does no harm":                            actionsAgain,
	"the hostname of the next boot is set by its action":           hostnameIsSet,
}

func (b *bench) profiles(t *testing.T) profiles.Snapshot {
	t.Helper()
	found, err := b.backend.Profiles(t.Context())
	if err != nil {
		t.Fatalf("Profiles: %v", err)
	}
	return found
}

// do carries actions out. What is not there any more needs nothing done to it: a
// bridge goes by itself when its profile does.
func (b *bench) do(t *testing.T, actions ...profiles.Action) {
	t.Helper()
	for _, action := range actions {
		if err := b.backend.Do(t.Context(), action); err != nil && !errors.Is(err, backend.ErrGone) {
			t.Fatalf("Do %s: %v", action, err)
		}
	}
}

// tried is a change that is in place and not proven yet.
type tried struct {
	checkpoint backend.Checkpoint
	before     profiles.Snapshot
	trial      profiles.Trial
}

// try applies a change as the handler does, with a picture before and after.
func (b *bench) try(t *testing.T, desired state.State) tried {
	t.Helper()
	before := b.profiles(t)
	checkpoint, held, err := b.backend.Apply(t.Context(), desired, life, nil)
	if err != nil {
		t.Fatalf("Apply: %v", err)
	}
	return tried{checkpoint, before, profiles.Trial{Snapshot: b.profiles(t), Held: held}}
}

// permanent does what a proven trial needs before its commit.
func (b *bench) permanent(t *testing.T, one tried, change profiles.Change) {
	t.Helper()
	actions := profiles.Permanent(one.before, &one.trial, b.profiles(t), change)
	if len(actions) == 0 {
		t.Fatal("there is nothing to make permanent")
	}
	b.do(t, actions...)
}

// proven makes a trial permanent, gives the checkpoint up and tidies.
func (b *bench) proven(t *testing.T, one tried, change profiles.Change) {
	t.Helper()
	b.permanent(t, one, change)
	b.commit(t, one.checkpoint)
	b.do(t, profiles.Tidy(one.before, &one.trial, b.profiles(t), change)...)
}

// takenBack takes a trial back whose checkpoint is alive.
func (b *bench) takenBack(t *testing.T, one tried) {
	t.Helper()
	seen := b.profiles(t)
	b.do(t, profiles.FilesBack(one.before, &one.trial, seen, seen)...)
	err := b.backend.Rollback(t.Context(), one.checkpoint)
	if errors.Is(err, backend.ErrGone) {
		t.Fatalf("Rollback: %v", err)
	}
	// NetworkManager's rollback writes files as well.
	b.do(t, profiles.FilesBack(one.before, &one.trial, seen, b.profiles(t))...)
	b.do(t, profiles.DNSBack(&one.trial)...)
	if err != nil {
		// It took back what it could, which may be a part.
		t.Logf("Rollback: %v", err)
		b.devicesBack(t, one, seen)
	}
}

// devicesBack takes the devices back without a checkpoint.
func (b *bench) devicesBack(t *testing.T, one tried, seen profiles.Snapshot) {
	t.Helper()
	touched := profiles.Touched(one.before, &one.trial, seen)
	b.do(t, profiles.DevicesBack(one.before, &one.trial, seen, b.profiles(t), touched)...)
}

// disk are the files of a snapshot that the next boot reads, printable.
func disk(s profiles.Snapshot) map[string]string {
	found := map[string]string{}
	for at, file := range s.Files {
		if path.Dir(at) == profiles.DiskDir || at == profiles.DNSFile {
			found[at] = string(file.Content)
		}
	}
	return found
}

func (b *bench) sameDisk(t *testing.T, before profiles.Snapshot) {
	t.Helper()
	if diff := cmp.Diff(disk(before), disk(b.profiles(t))); diff != "" {
		t.Errorf("the disk, before (-) and now (+):\n%s", diff)
	}
}

// noDifferences waits until nothing tells that there was a trial.
func (b *bench) noDifferences(t *testing.T, one tried) {
	t.Helper()
	var lines []string
	t.Cleanup(func() {
		if t.Failed() && len(lines) > 0 {
			t.Logf("differences:\n%s", strings.Join(lines, "\n"))
		}
	})
	b.Eventually(t, "the profiles are as before", func() bool {
		now := b.profiles(t)
		lines = profiles.Differences(one.before, &one.trial, now, now)
		return len(lines) == 0
	})
}

func profilesTellsNIC(t *testing.T, b *bench) {
	before := b.Kernel(t)
	found := b.profiles(t)
	if len(disk(found)) == 0 {
		t.Error("there is no file of a profile")
	}
	active := false
	for _, device := range found.Devices {
		active = active || device.Name == b.NIC() && device.Profile != "" && !device.External && device.MTU == 1500
	}
	if !active {
		t.Errorf("%s is not told with an active profile and an MTU of 1500: %+v", b.NIC(), found.Devices)
	}
	if diff := cmp.Diff(found, b.profiles(t)); diff != "" {
		t.Errorf("two snapshots of the same node differ:\n%s", diff)
	}
	if now := b.Kernel(t); now != before {
		t.Errorf("it changed the node:\n%s", cmp.Diff(before, now))
	}
}

func trialLeavesDisk(t *testing.T, b *bench) {
	one := b.try(t, b.bridge(t))
	if diff := cmp.Diff(disk(one.before), disk(one.trial.Snapshot)); diff != "" {
		t.Errorf("the disk, before the trial (-) and in it (+):\n%s", diff)
	}
	if len(one.trial.Unsaved) == 0 {
		t.Error("no profile is told to be in memory only")
	}
	b.takenBack(t, one)
}

func powerCutForgetsTrial(t *testing.T, b *bench) {
	before := b.Kernel(t)
	one := b.try(t, b.bridge(t))
	b.Reboot(t)
	b.becomes(t, before)
	b.sameDisk(t, one.before)
	b.noDifferences(t, one)
}

func permanentOutlivesPowerCut(t *testing.T, b *bench) {
	one := b.try(t, b.bridge(t))
	after := b.Kernel(t)
	b.proven(t, one, profiles.Change{})
	b.noneArePending(t)
	if now := b.profiles(t); len(now.Unsaved) > 0 {
		t.Errorf("still in memory only: %v", now.Unsaved)
	}
	b.becomes(t, after)
	b.Reboot(t)
	b.becomes(t, after)
}

func permanentGoesBack(t *testing.T, b *bench) {
	before := b.Kernel(t)
	one := b.try(t, b.bridge(t))
	b.permanent(t, one, profiles.Change{})
	b.takenBack(t, one)
	b.becomes(t, before)
	b.sameDisk(t, one.before)
	b.noDifferences(t, one)
}

func filesBackThenRollback(t *testing.T, b *bench) {
	for name, desired := range map[string]state.State{
		"address": b.address(t, "192.0.2.9"),
		"bridge":  b.bridge(t),
	} {
		before := b.Kernel(t)
		one := b.try(t, desired)
		b.takenBack(t, one)
		b.becomes(t, before)
		b.sameDisk(t, one.before)
		b.noDifferences(t, one)
		if t.Failed() {
			t.Fatalf("so it was with the change of the %s", name)
		}
	}
}

func backWithoutCheckpoint(t *testing.T, b *bench) {
	before := b.Kernel(t)
	one := b.try(t, b.bridge(t))
	after := b.Kernel(t)
	b.RestartNetworkManager(t)
	b.noneArePending(t)
	b.becomes(t, after) // Nobody has taken it back so far.

	seen := b.profiles(t)
	b.do(t, profiles.FilesBack(one.before, &one.trial, seen, seen)...)
	b.do(t, profiles.DNSBack(&one.trial)...)
	b.devicesBack(t, one, seen)
	b.becomes(t, before)
	b.sameDisk(t, one.before)
	b.noDifferences(t, one)
}

// lonelyBridge makes a bridge without ports and commits it. Without an address
// of its own the kernel would give it another one each time it is made.
func (b *bench) lonelyBridge(t *testing.T) {
	t.Helper()
	one := b.try(t, document(t, `{"interfaces": [{"name": "br7", "type": "linux-bridge", "state": "up", "bridge": {"port": []},
		"mac-address": "02:00:00:00:00:07", "ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "198.51.100.7", "prefix-length": 24}]}}]}`))
	b.proven(t, one, profiles.Change{})
}

func absentBridge(t *testing.T) (state.State, profiles.Change) {
	return document(t, `{"interfaces": [{"name": "br7", "type": "linux-bridge", "state": "absent"}]}`),
		profiles.Change{Absent: []profiles.Interface{{Name: "br7", Type: "linux-bridge"}}}
}

func absentComesBack(t *testing.T, b *bench) {
	b.lonelyBridge(t)
	before := b.Kernel(t)
	desired, _ := absentBridge(t)
	one := b.try(t, desired)
	if now := b.Kernel(t); strings.Contains(now, "br7") {
		t.Errorf("the bridge is still there:\n%s", now)
	}
	b.takenBack(t, one)
	b.becomes(t, before)
	b.sameDisk(t, one.before)
	b.noDifferences(t, one)
}

// letGoUntilApplied: the link of a NIC that is let go may stay up, so NetworkManager is
// asked; and applying what is there already activates it again.
func letGoUntilApplied(t *testing.T, b *bench) {
	desired := b.address(t, "192.0.2.7")
	inactive := func() int {
		devices, err := b.backend.Devices(t.Context())
		if err != nil {
			t.Fatalf("Devices: %v", err)
		}
		return len(profiles.Inactive(desired, desired, devices))
	}
	b.commit(t, b.try(t, desired).checkpoint)
	b.Eventually(t, "the NIC is active", func() bool { return inactive() == 0 })
	b.do(t, profiles.Action{Verb: profiles.Disconnect, Device: b.NIC()})
	b.Eventually(t, "the NIC is let go", func() bool { return inactive() == 1 })
	b.commit(t, b.try(t, desired).checkpoint)
	b.Eventually(t, "the NIC is active again", func() bool { return inactive() == 0 })
	b.lacksNothing(t, desired)
}

func (b *bench) lacksNothing(t *testing.T, desired state.State) {
	t.Helper()
	current, err := b.backend.Show(t.Context())
	if err != nil {
		t.Fatalf("Show: %v", err)
	}
	if missing := state.Missing(desired, current); len(missing) > 0 {
		t.Errorf("the node lacks %v", missing)
	}
}

func absentStaysAway(t *testing.T, b *bench) {
	without := b.Kernel(t)
	b.lonelyBridge(t)
	desired, change := absentBridge(t)
	one := b.try(t, desired)
	b.commit(t, one.checkpoint)
	b.do(t, profiles.Tidy(one.before, &one.trial, b.profiles(t), change)...)
	b.becomes(t, without)
	b.Reboot(t)
	b.becomes(t, without)
}

func actionOnNothingIsGone(t *testing.T, b *bench) {
	before := b.Kernel(t)
	const nobody = "00000000-0000-4000-8000-00000000dead"
	for _, action := range []profiles.Action{
		{Verb: profiles.Save, UUID: nobody},
		{Verb: profiles.Delete, UUID: nobody},
		{Verb: profiles.Activate, UUID: nobody, Device: b.NIC()},
		{Verb: profiles.Disconnect, Device: "nothing0"},
		{Verb: profiles.DeleteDevice, Device: "nothing0"},
		{Verb: profiles.SetMTU, Device: "nothing0", MTU: 1400},
	} {
		wantError(t, action.String(), b.backend.Do(t.Context(), action), backend.ErrGone)
	}
	if now := b.Kernel(t); now != before {
		t.Errorf("it changed the node:\n%s", cmp.Diff(before, now))
	}
}

func actionsAgain(t *testing.T, b *bench) {
	one := b.try(t, b.bridge(t))
	after := b.Kernel(t)
	actions := profiles.Permanent(one.before, &one.trial, b.profiles(t), profiles.Change{})
	b.do(t, actions...)
	b.do(t, actions...)
	b.commit(t, one.checkpoint)
	b.do(t, profiles.Action{Verb: profiles.Remove, Path: profiles.DiskDir + "/nobody.nmconnection"})
	b.do(t, profiles.Action{Verb: profiles.Reload}, profiles.Action{Verb: profiles.Reload})
	b.becomes(t, after)
}

func hostnameIsSet(t *testing.T, b *bench) {
	b.do(t, profiles.Action{Verb: profiles.SetHostname, Name: "node-9"})
	b.Eventually(t, "NetworkManager has noticed", func() bool { return b.profiles(t).Hostname == "node-9" })
}
