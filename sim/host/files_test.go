package host_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
)

const dnsDocument = `{dns-resolver: {config: {server: [192.0.2.1], search: [example.net]}}}`

// TestLayers: what is left of a trial, and of what was made permanent, in which end.
func TestLayers(t *testing.T) {
	permanent := func(t *testing.T, b blocking, before profiles.Snapshot, held profiles.Files, last int) {
		t.Helper()
		actions := profiles.Permanent(before, &profiles.Trial{Snapshot: b.node.host.Profiles(), Held: held}, b.node.host.Profiles(), profiles.Change{})
		if err := b.all(actions[:len(actions)+last]); err != nil {
			t.Fatal(err)
		}
	}
	restart := func(n *node) { n.host.RestartNetworkManager(time.Second) }
	cut := func(n *node) { n.host.Reboot(time.Minute) }
	for sentence, one := range map[string]struct {
		change string
		does   func(t *testing.T, b blocking, before profiles.Snapshot, held profiles.Files)
		end    func(*node)
		// bridged: the bridge is there then. either: chance decides.
		bridged, either bool
	}{
		"a restart of NetworkManager keeps a trial, from /run":            {change: bridgeOnEth0, end: restart, bridged: true},
		"a power cut forgets a trial":                                     {change: bridgeOnEth0, end: cut},
		"what was made permanent and synced outlives a power cut":         {change: bridgeOnEth0, end: cut, bridged: true, does: func(t *testing.T, b blocking, s profiles.Snapshot, h profiles.Files) { permanent(t, b, s, h, 0) }},
		"what was saved and not synced may be there after a power cut":    {change: bridgeOnEth0, end: cut, either: true, does: func(t *testing.T, b blocking, s profiles.Snapshot, h profiles.Files) { permanent(t, b, s, h, -3) }},
		"a power cut between controller and port leaves the node its way": {change: bridgeOnEth0, end: cut, either: true, does: func(t *testing.T, b blocking, s profiles.Snapshot, h profiles.Files) { permanent(t, b, s, h, -2) }},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			n := newNode(t, labNode())
			b, before := n.backend(t), n.host.Profiles()
			_, held, err := b.Apply(t.Context(), desired(t, one.change), time.Hour, nil)
			if err != nil {
				t.Fatal(err)
			}
			if one.does != nil {
				one.does(t, b, before, held)
			}
			one.end(n)
			n.run(t, 2*time.Minute)
			if is := n.host.Link("eth0").Controller == "br1"; is != one.bridged && !one.either {
				t.Errorf("eth0 is the bridge's port: %t\n%s", is, n.host.Kernel())
			}
			if addressed := n.host.Link("eth0").Addresses; n.host.Link("br1") == nil && len(addressed) == 0 {
				t.Errorf("neither has an address:\n%s", n.host.Kernel())
			}
		})
	}
}

func TestGlobalDNSIsHeldBack(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	before := n.host.Files()
	_, held, err := n.backend(t).Apply(t.Context(), desired(t, dnsDocument), time.Hour, nil)
	if err != nil || len(held) != 1 {
		t.Fatalf("held %v: %v", held, err)
	}
	if diff := cmp.Diff(before, n.host.Files()); diff != "" {
		t.Errorf("files differ:\n%s", diff)
	}
	if servers := n.host.SearchDomains(); len(servers) != 1 || servers[0] != "example.net" {
		t.Errorf("NetworkManager does not go on with it: %v", servers)
	}
	n.host.RestartNetworkManager(time.Second)
	n.run(t, time.Minute)
	if domains := n.host.SearchDomains(); len(domains) > 0 && domains[0] == "example.net" {
		t.Errorf("another NetworkManager has it: %v", domains)
	}
}

func TestARollbackWritesInNetworkManagersFormatAndDeletingAShadowDeletesTheDisk(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	b, before := n.backend(t), n.host.Files()
	made, _, err := b.Apply(t.Context(), desired(t, bridgeOnEth0), time.Hour, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Rollback(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	const eth0 = profiles.DiskDir + "/eth0.nmconnection"
	now := n.host.Files()
	if string(now[eth0].Content) == string(before[eth0].Content) || host.Meaning(now[eth0]) != host.Meaning(before[eth0]) {
		t.Errorf("the same meaning in other bytes was wanted:\n%s", now[eth0].Content)
	}
	if _, _, err = b.Apply(t.Context(), desired(t, bridgeOnEth0), time.Hour, nil); err != nil {
		t.Fatal(err)
	}
	for _, d := range n.host.Profiles().Devices {
		if d.Name == "eth0" {
			err = b.Do(t.Context(), profiles.Action{Verb: profiles.Delete, UUID: d.Profile})
		}
	}
	if _, there := n.host.Files()[eth0]; there || err != nil {
		t.Errorf("the file is there: %v", err)
	}
}

func TestAFullDiskTakesNoFile(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	full := errors.New("no space left on device")
	n.host.Faults.Disk = func() error { return full }
	for _, action := range []profiles.Action{
		{Verb: profiles.Write, Path: profiles.DNSFile}, {Verb: profiles.SetHostname, Name: "other"},
		{Verb: profiles.Save, UUID: n.host.Profiles().Devices[1].Profile},
	} {
		if err := n.backend(t).Do(context.Background(), action); !errors.Is(err, full) {
			t.Errorf("%s: %v", action, err)
		}
	}
}

func TestAProfileIsNotWrittenOverAnotherOneOfItsName(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	b := n.backend(t)
	if _, _, err := b.Apply(t.Context(), desired(t, bridgeOnEth0), time.Hour, nil); err != nil {
		t.Fatal(err)
	}
	const named = profiles.DiskDir + "/br1.nmconnection"
	other := profiles.File{Mode: 0o600, Content: []byte("[connection]\nid=br1\nuuid=3dd0b45a-87bd-4a99-8238-a4c6949f2ba3\ntype=dummy\n")}
	saved := ""
	for _, d := range n.host.Profiles().Devices {
		if d.Name == "br1" {
			saved = d.Profile
		}
	}
	if err := b.all([]profiles.Action{{Verb: profiles.Write, Path: named, File: other}, {Verb: profiles.Save, UUID: saved}}); err != nil {
		t.Fatal(err)
	}
	files := n.host.Files()
	if string(files[named].Content) != string(other.Content) {
		t.Errorf("it is gone:\n%s", files[named].Content)
	}
	if file, there := files[profiles.DiskDir+"/br1-"+saved+".nmconnection"]; !there || host.Device(file) != "br1" {
		t.Errorf("the profile has no file of its own: %v", slices.Sorted(maps.Keys(files)))
	}
}
