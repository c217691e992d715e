package profiles

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStandIn(t *testing.T) {
	const U = "00000000-0000-4000-8000-000000000023"
	profile := func(lines ...string) File {
		return File{Mode: 0o600, Content: []byte(strings.Join(append([]string{"[connection]", "id=netplan-eth2", "uuid=" + U}, lines...), "\n") + "\n")}
	}
	const inRun, onDisk = RunDir + "/netplan-eth2.nmconnection", DiskDir + "/netplan-eth2.nmconnection"
	at := DiskDir + "/netplan-eth2-" + standInOf(U)[:8] + ".nmconnection"
	written := func(priority string, lines ...string) File {
		own := []string{"[connection]", priority, "id=netplan-eth2 (kubernetes-nmstate)", "uuid=" + standInOf(U)}
		return File{Mode: 0o600, Content: []byte(strings.Join(append(own, lines...), "\n") + "\n")}
	}
	nic := []string{"type=ethernet", "interface-name=eth2"}
	eth2 := func(more ...string) File { return profile(append(nic[:2:2], more...)...) }
	for sentence, test := range map[string]struct {
		before, trial, now Files
		want               []Action
	}{
		"what was written into /run has one": {
			before: Files{inRun: eth2()}, trial: Files{inRun: eth2("[ipv4]", "method=auto")}, now: Files{onDisk: eth2("[ipv4]", "method=auto")},
			want: []Action{{Verb: Write, Path: at, File: written("autoconnect-priority=1", nic[0], nic[1], "[ipv4]", "method=auto")}},
		},
		"it has the higher priority": {
			before: Files{inRun: eth2("autoconnect-priority=-100")}, trial: Files{inRun: eth2("autoconnect-priority=-100", "mdns=1")}, now: Files{onDisk: eth2("autoconnect-priority=-100", "mdns=1")},
			want: []Action{{Verb: Write, Path: at, File: written("autoconnect-priority=-99", nic[0], nic[1], "mdns=1")}},
		},
		"one that is there is as the next change is, and stays": {
			before: Files{onDisk: eth2(), at: written("autoconnect-priority=1", nic...)}, trial: Files{onDisk: eth2(), inRun: eth2("mdns=1"), at: written("autoconnect-priority=1", nic...)}, now: Files{onDisk: eth2("mdns=1"), at: written("autoconnect-priority=1", nic...)},
			want: []Action{{Verb: Write, Path: at, File: written("autoconnect-priority=1", nic[0], nic[1], "mdns=1")}},
		},
		"it keeps its priority where nmstate has forgotten that of its profile": {
			before: Files{onDisk: eth2(), at: written("autoconnect-priority=6", nic...)}, trial: Files{onDisk: eth2(), inRun: eth2("mdns=1"), at: written("autoconnect-priority=6", nic...)}, now: Files{onDisk: eth2("mdns=1"), at: written("autoconnect-priority=6", nic...)},
			want: []Action{{Verb: Write, Path: at, File: written("autoconnect-priority=6", nic[0], nic[1], "mdns=1")}},
		},
		"after the boot it is what is changed: it stays the preferred one, and the other one stays": {
			before: Files{inRun: eth2("autoconnect-priority=5"), at: written("autoconnect-priority=6", nic...)},
			trial:  Files{inRun: eth2("autoconnect-priority=5"), at: written("autoconnect-priority=6", nic...), RunDir + "/stand.nmconnection": written("mdns=1", nic...)},
			now:    Files{inRun: eth2("autoconnect-priority=5"), at: written("mdns=1", nic...)},
			want: []Action{{Verb: Write, Path: at, File: File{Mode: 0o600, Content: []byte("[connection]\nautoconnect-priority=6\nmdns=1\nid=netplan-eth2 (kubernetes-nmstate)\nuuid=" +
				standInOf(U) + "\ntype=ethernet\ninterface-name=eth2\n")}}},
		},
		"what was on disk has none": {
			before: Files{onDisk: eth2()}, trial: Files{onDisk: eth2(), inRun: eth2("mdns=1")}, now: Files{onDisk: eth2("mdns=1")},
		},
		"nor has what a trial left in /run": {
			before: Files{onDisk: eth2(), inRun: eth2("mdns=0", "[.nmmeta]", "shadowed-storage="+onDisk)}, trial: Files{onDisk: eth2(), inRun: eth2("mdns=1")}, now: Files{onDisk: eth2("mdns=1")},
		},
		"nor has a controller, which its ports name by its UUID": {
			before: Files{inRun: profile("type=bridge")}, trial: Files{inRun: profile("type=bridge", "mdns=1")}, now: Files{onDisk: profile("type=bridge", "mdns=1")},
		},
		"nor has what the change has left alone": {
			before: Files{inRun: eth2()}, trial: Files{inRun: eth2()}, now: Files{inRun: eth2()},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			want := test.want
			if len(want) > 0 {
				want = append(want, Action{Verb: Reload, Paths: []string{at}}, Action{Verb: Sync})
			}
			got := Tidy(Snapshot{Files: test.before}, &Trial{Snapshot: Snapshot{Files: test.trial}}, Snapshot{Files: test.now}, Change{})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAStandInGoesWithItsInterface(t *testing.T) {
	stand := standInOf("a")
	node := drawnNode("disk a device=eth2", "disk "+stand+" device=eth2")
	got := words(Tidy(node, &Trial{Snapshot: node}, node, Change{Absent: []Interface{{Name: "eth2"}}}))
	slices.Sort(got)
	want := []string{"delete profile a (a)", "delete profile " + stand + " (" + stand + ")", "sync"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestANewProfileIsPreferredToOneForAllNICs(t *testing.T) {
	const all, own = DiskDir + "/all.nmconnection", DiskDir + "/eth2.nmconnection"
	profile := func(lines ...string) File {
		return File{Mode: 0o600, Content: []byte(strings.Join(append([]string{"[connection]"}, lines...), "\n") + "\n")}
	}
	forAll := func(more ...string) File { return profile(append([]string{"uuid=all", "multi-connect=3"}, more...)...) }
	eth2 := func(more ...string) File { return profile(append(more, "uuid=own", "interface-name=eth2")...) }
	for sentence, test := range map[string]struct {
		before, now File
		on, want    string
	}{
		"of the same priority":           {before: forAll(), now: eth2(), on: "all", want: "autoconnect-priority=1"},
		"of a higher one":                {before: forAll("autoconnect-priority=7"), now: eth2("autoconnect-priority=2"), on: "all", want: "autoconnect-priority=8"},
		"of a lower one, as it is":       {before: forAll("autoconnect-priority=-100"), now: eth2(), on: "all"},
		"that its NIC did not have":      {before: forAll(), now: eth2(), on: "own", want: "autoconnect-priority=1"},
		"for one NIC, by something else": {before: profile("uuid=all", "type=ethernet"), now: eth2(), on: "another"},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := Snapshot{Files: Files{all: test.before}, Devices: []Device{{Name: "eth2", Profile: test.on}}}
			var want []Action
			if test.want != "" {
				want = []Action{{Verb: Write, Path: own, File: eth2(test.want)}, {Verb: Reload, Paths: []string{own}}, {Verb: Sync}}
			}
			trial := &Trial{Snapshot: Snapshot{Files: Files{all: test.before, RunDir + "/eth2.nmconnection": test.now}}}
			got := Tidy(before, trial, Snapshot{Files: Files{all: test.before, own: test.now}}, Change{})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestProfilesKeepWhatNmstateForgets(t *testing.T) {
	const at = DiskDir + "/eth2.nmconnection"
	eth2 := func(lines ...string) File {
		own := []string{"uuid=own", "interface-name=eth2"}
		i := slices.Index(lines, "[ipv4]")
		if i < 0 {
			i = len(lines)
		}
		return File{Mode: 0o600, Content: []byte(strings.Join(slices.Concat([]string{"[connection]"}, lines[:i], own, lines[i:]), "\n") + "\n")}
	}
	for sentence, test := range map[string]struct {
		before, now File
		want        *File
	}{
		"its priority":                           {eth2("autoconnect-priority=7"), eth2(), new(eth2("autoconnect-priority=7"))},
		"a low one, too":                         {eth2("autoconnect-priority=-7"), eth2(), new(eth2("autoconnect-priority=-7"))},
		"not what somebody gave it meanwhile":    {eth2("autoconnect-priority=7"), eth2("autoconnect-priority=9"), nil},
		"the time that it waits for a lease":     {eth2("[ipv4]", "dhcp-timeout=70", "method=auto"), eth2("[ipv4]", "dhcp-timeout=2147483647", "method=auto"), new(eth2("[ipv4]", "dhcp-timeout=70", "method=auto"))},
		"not where the policy switched DHCP on":  {eth2("[ipv4]", "dhcp-timeout=70", "method=manual"), eth2("[ipv4]", "dhcp-timeout=2147483647", "method=auto"), nil},
		"not one that the profile did not say":   {eth2("[ipv4]", "method=auto"), eth2("[ipv4]", "dhcp-timeout=2147483647", "method=auto"), nil},
		"nothing where nothing is forgotten":     {eth2("autoconnect-priority=7"), eth2("autoconnect-priority=7"), nil},
		"nothing of a profile that is to be new": {File{}, eth2(), nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := Snapshot{Files: Files{}}
			if len(test.before.Content) > 0 {
				before.Files[at] = test.before
			}
			var want []Action
			if test.want != nil {
				want = []Action{{Verb: Write, Path: at, File: *test.want}, {Verb: Reload, Paths: []string{at}}, {Verb: Sync}}
			}
			trial := &Trial{Snapshot: Snapshot{Files: Files{RunDir + "/eth2.nmconnection": test.now}}}
			now := Snapshot{Files: Files{at: test.now}}
			if diff := cmp.Diff(want, Tidy(before, trial, now, Change{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, action := range Tidy(before, trial, now, Change{Absent: []Interface{{Name: "eth2"}}}) {
				if action.Verb == Write {
					t.Errorf("a profile that goes is written: %+v", action)
				}
			}
		})
	}
}
