package profiles

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func words(actions []Action) []string {
	var found []string
	for _, action := range actions {
		found = append(found, action.String())
	}
	return found
}

func TestPermanent(t *testing.T) {
	saved := func(names ...string) []string {
		var lines []string
		for _, name := range names {
			if name == "sync" {
				lines = append(lines, name)
				continue
			}
			lines = append(lines, "save profile "+name+" ("+name+")")
		}
		return append(lines, "sync")
	}
	for sentence, test := range map[string]struct {
		before, trial []string
		now           []string // Empty: as in the trial.
		held          Files
		change        Change
		want          []string
	}{
		"a trial that changed no profile is flushed all the same: it may have been saved before a crash": {
			before: []string{"disk eth0 device=eth0"}, trial: []string{"disk eth0 device=eth0"}, want: saved()},
		"a changed profile is saved": {
			before: []string{"disk eth0 device=eth0 ip=192.0.2.1/24"},
			trial:  []string{"disk eth0 device=eth0 ip=192.0.2.1/24", "run eth0 device=eth0 ip=192.0.2.2/24 shadow=disk:eth0.nmconnection"},
			want:   saved("eth0")},
		"what gains its addresses comes before what loses them": {
			before: []string{"disk a device=a ip=192.0.2.1/24"},
			trial:  []string{"disk a device=a ip=192.0.2.1/24", "run a device=a controller=z", "run z device=z type=bridge ip=192.0.2.1/24"},
			want:   saved("z", "sync", "a")},
		"also where the controller is what loses them": {
			before: []string{"disk br0 device=br0 type=bridge ip=192.0.2.1/24", "disk eth0 device=eth0 controller=br0"},
			trial: []string{"disk br0 device=br0 type=bridge ip=192.0.2.1/24", "disk eth0 device=eth0 controller=br0",
				"run br0 device=br0 type=bridge", "run eth0 device=eth0 ip=192.0.2.1/24"},
			want: saved("eth0", "sync", "br0")},
		"controllers come before their ports, and a bond in a bridge after that and before its own": {
			trial: []string{"run a device=a controller=m type=ethernet", "run m device=m controller=z type=bond", "run z device=z type=bridge"},
			want:  saved("z", "sync", "m", "sync", "a")},
		"what was in memory before and is the same is somebody else's": {
			before: []string{"run initrd device=eth0 ip=192.0.2.1/24"},
			trial:  []string{"run initrd device=eth0 ip=192.0.2.1/24", "run eth1 device=eth1"},
			want:   saved("eth1")},
		"what was in memory before and was changed is saved": {
			before: []string{"run initrd device=eth0 ip=192.0.2.1/24"},
			trial:  []string{"run initrd device=eth0 ip=192.0.2.2/24"},
			want:   saved("initrd")},
		"what somebody else put into memory during the probes is not": {
			before: []string{"disk eth0 device=eth0"},
			trial:  []string{"disk eth0 device=eth0", "run eth1 device=eth1"},
			now:    []string{"disk eth0 device=eth0", "run eth1 device=eth1", "run vpn device=tun0"},
			want:   saved("eth1")},
		"a profile that NetworkManager made up is nobody's": {
			trial: []string{"run docker0 device=docker0 type=bridge generated=true"}, want: saved()},
		"done again it has only the rest to save": {
			before: []string{"disk eth0 device=eth0 ip=192.0.2.1/24"},
			trial: []string{"disk eth0 device=eth0 ip=192.0.2.1/24", "run eth0 device=eth0 controller=br0",
				"run br0 device=br0 type=bridge ip=192.0.2.1/24"},
			now: []string{"disk eth0 device=eth0 ip=192.0.2.1/24", "run eth0 device=eth0 controller=br0",
				"disk br0 device=br0 type=bridge ip=192.0.2.1/24"},
			want: saved("sync", "eth0")},
		"held global DNS is written for the next boot": {
			held: Files{DNSFile: {Mode: 0o600, Content: []byte("new")}},
			want: []string{"write " + DNSFile, "reload-dns", "sync"}},
		"the next boot's hostname is set": {
			change: Change{Hostname: "node-9"}, want: []string{`set-hostname to "node-9"`, "sync"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			trial := &Trial{Snapshot: drawnNode(test.trial...), Held: test.held}
			now := trial.Snapshot
			if test.now != nil {
				now = drawnNode(test.now...)
			}
			if diff := cmp.Diff(test.want, words(Permanent(drawnNode(test.before...), trial, now, test.change))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestTidy(t *testing.T) {
	for sentence, test := range map[string]struct {
		before, trial, now []string
		change             Change
		want               []string
	}{
		"a change that makes nothing void deletes nothing": {
			before: []string{"disk eth0 device=eth0 ip=192.0.2.1/24"},
			trial:  []string{"disk eth0 device=eth0 ip=192.0.2.1/24", "run eth0 device=eth0 ip=192.0.2.2/24"},
			now:    []string{"disk eth0 device=eth0 ip=192.0.2.2/24"}},
		"all profiles of an absent interface go, the inactive ones too": {
			before: []string{"disk a device=eth3", "disk b device=eth3", "disk c device=eth4"},
			trial:  []string{"disk a device=eth3", "disk b device=eth3", "disk c device=eth4"},
			now:    []string{"disk a device=eth3", "disk b device=eth3", "disk c device=eth4"},
			change: Change{Absent: []Interface{{Name: "eth3"}}},
			want:   []string{"delete profile a (a)", "delete profile b (b)", "sync"}},
		"an absent OVS bridge does not take the interface of its name": {
			before: []string{"disk a device=ovs0 type=ovs-bridge", "disk b device=ovs0 type=ovs-interface"},
			trial:  []string{"disk a device=ovs0 type=ovs-bridge", "disk b device=ovs0 type=ovs-interface"},
			now:    []string{"disk a device=ovs0 type=ovs-bridge", "disk b device=ovs0 type=ovs-interface"},
			change: Change{Absent: []Interface{{Name: "ovs0", Type: "ovs-bridge"}}},
			want:   []string{"delete profile a (a)", "sync"}},
		"another profile for the interface of a saved one goes": {
			before: []string{"disk a device=eth3", "disk b device=eth3"},
			trial:  []string{"disk a device=eth3", "disk b device=eth3", "run a device=eth3 ip=192.0.2.3/24"},
			now:    []string{"disk a device=eth3 ip=192.0.2.3/24", "disk b device=eth3"},
			want:   []string{"delete profile b (b)", "sync"}},
		"another kind of profile for it stays": {
			before: []string{"disk a device=eth3 type=ethernet", "disk b device=eth3 type=pppoe"},
			trial:  []string{"disk a device=eth3 type=ethernet", "disk b device=eth3 type=pppoe", "run a device=eth3 type=ethernet ip=192.0.2.3/24"},
			now:    []string{"disk a device=eth3 type=ethernet ip=192.0.2.3/24", "disk b device=eth3 type=pppoe"}},
		"an OVS port goes with its last interface": {
			before: []string{"disk br device=br0 type=ovs-bridge", "disk p device=eth1 type=ovs-port controller=br", "disk eth1 device=eth1 controller=p port-type=ovs-port"},
			trial:  []string{"disk br device=br0 type=ovs-bridge", "disk p device=eth1 type=ovs-port controller=br", "run eth1 device=eth1"},
			now:    []string{"disk br device=br0 type=ovs-bridge", "disk p device=eth1 type=ovs-port controller=br", "disk eth1 device=eth1"},
			want:   []string{"delete profile p (p)", "sync"}},
		"also where it is named by its interface, and the bridge goes": {
			before: []string{"disk br device=br0 type=ovs-bridge", "disk p device=eth1 type=ovs-port controller=br0", "disk eth1 device=eth1 controller=eth1 port-type=ovs-port"},
			trial:  []string{"disk br device=br0 type=ovs-bridge", "disk p device=eth1 type=ovs-port controller=br0", "run eth1 device=eth1"},
			now:    []string{"disk br device=br0 type=ovs-bridge", "disk p device=eth1 type=ovs-port controller=br0", "disk eth1 device=eth1"},
			change: Change{Absent: []Interface{{Name: "br0", Type: "ovs-bridge"}}},
			want:   []string{"delete profile br (br)", "delete profile p (p)", "sync"}},
		"that it went before a crash is made certain": {
			before: []string{"disk p device=eth1 type=ovs-port controller=br", "disk eth1 device=eth1 controller=p port-type=ovs-port"},
			trial:  []string{"disk p device=eth1 type=ovs-port controller=br", "run eth1 device=eth1"},
			now:    []string{"disk eth1 device=eth1"},
			want:   []string{"sync"}},
		"an OVS bond with an interface left stays": {
			before: []string{"disk p device=bond0 type=ovs-port controller=br", "disk eth1 device=eth1 controller=p port-type=ovs-port", "disk eth2 device=eth2 controller=p port-type=ovs-port"},
			trial:  []string{"disk p device=bond0 type=ovs-port controller=br", "run eth1 device=eth1", "disk eth2 device=eth2 controller=p port-type=ovs-port"},
			now:    []string{"disk p device=bond0 type=ovs-port controller=br", "disk eth1 device=eth1", "disk eth2 device=eth2 controller=p port-type=ovs-port"}},
		"an OVS port that had no interface before is somebody's": {
			before: []string{"disk p device=eth1 type=ovs-port controller=br", "disk eth1 device=eth1"},
			trial:  []string{"disk p device=eth1 type=ovs-port controller=br", "run eth1 device=eth1 ip=192.0.2.3/24"},
			now:    []string{"disk p device=eth1 type=ovs-port controller=br", "disk eth1 device=eth1 ip=192.0.2.3/24"}},
		"a profile for no certain interface stays": {
			before: []string{"disk any"}, trial: []string{"disk any", "run eth3 device=eth3"}, now: []string{"disk any", "disk eth3 device=eth3"},
			change: Change{Absent: []Interface{{Name: ""}}}, want: []string{"sync"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			trial := &Trial{Snapshot: drawnNode(test.trial...)}
			got := words(Tidy(drawnNode(test.before...), trial, drawnNode(test.now...), test.change))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestNotSaved(t *testing.T) {
	before := drawnNode("disk eth0 device=eth0", "run initrd device=eth1")
	trial := &Trial{Snapshot: drawnNode("disk eth0 device=eth0", "run eth0 device=eth0 ip=192.0.2.2/24", "run br0 device=br0", "run initrd device=eth1")}
	for sentence, test := range map[string]struct{ now, want []string }{
		"all of the trial is on disk, and what was in memory before stays there": {
			now: []string{"disk eth0 device=eth0 ip=192.0.2.2/24", "disk br0 device=br0", "run initrd device=eth1"}},
		"one is still in memory": {
			now:  []string{"disk eth0 device=eth0 ip=192.0.2.2/24", "run br0 device=br0", "run initrd device=eth1"},
			want: []string{"br0"}},
	} {
		if diff := cmp.Diff(test.want, NotSaved(before, trial, drawnNode(test.now...))); diff != "" {
			t.Errorf("%s: -want +got\n%s", sentence, diff)
		}
	}
}

func TestUndone(t *testing.T) {
	const eth0, shadow, br0 = "disk eth0 device=eth0 ip=192.0.2.1/24", "run eth0 device=eth0 controller=br0", "run br0 device=br0 type=bridge"
	before, trial := drawnNode(eth0), &Trial{Snapshot: drawnNode(eth0, shadow, br0)}
	for sentence, test := range map[string]struct {
		now  []string
		none bool
		want []string
	}{
		"the trial is in place":                              {now: []string{eth0, shadow, br0}},
		"it is saved":                                        {now: []string{"disk eth0 device=eth0 controller=br0", "disk br0 device=br0 type=bridge"}},
		"half of it is saved":                                {now: []string{eth0, shadow, "disk br0 device=br0 type=bridge"}},
		"a new profile is gone":                              {now: []string{eth0, shadow}, want: []string{"br0"}},
		"what hid the profile from before is gone":           {now: []string{eth0, br0}, want: []string{"eth0"}},
		"all of it is gone":                                  {now: []string{eth0}, want: []string{"br0", "eth0"}},
		"somebody has edited one of them":                    {now: []string{"disk eth0 device=eth0 controller=br0 ip=198.51.100.1/24", br0}},
		"no picture of the trial was taken: it is not known": {now: []string{eth0}, none: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			known := trial
			if test.none {
				known = nil
			}
			if diff := cmp.Diff(test.want, Undone(before, known, drawnNode(test.now...))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
