package profiles

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFilesBack(t *testing.T) {
	const run, disk = RunDir + "/", DiskDir + "/"
	const eth0 = "disk eth0 device=eth0 ip=192.0.2.1/24"
	for sentence, test := range map[string]struct {
		before, trial []string
		noTrial       bool
		change        Change
		seen, now     []string // Empty: as in the trial, and as seen.
		want          []string
		reloads       []string
	}{
		"nothing to put back": {before: []string{eth0}, trial: []string{eth0}},
		"a shadow goes, and what it hid is read": {
			before: []string{eth0}, trial: []string{eth0, "run eth0 device=eth0 shadow=disk:eth0.nmconnection"},
			want: []string{"remove " + run + "eth0.nmconnection", "sync", "reload"}, reloads: []string{run + "eth0.nmconnection"}},
		"so does a profile that is new": {
			before: []string{eth0}, trial: []string{eth0, "run br0 device=br0 type=bridge"},
			want: []string{"remove " + run + "br0.nmconnection", "sync", "reload"}, reloads: []string{run + "br0.nmconnection"}},
		"a profile in memory from before, an initrd's, gets its bytes back": {
			before: []string{"run initrd device=eth0 ip=192.0.2.1/24"}, trial: []string{"run initrd device=eth0 ip=192.0.2.2/24"},
			want: []string{"write " + run + "initrd.nmconnection", "sync", "reload"}, reloads: []string{run + "initrd.nmconnection"}},
		"what was made permanent already is put back on disk, after what hides it": {
			before: []string{eth0}, trial: []string{eth0, "run eth0 device=eth0 ip=192.0.2.2/24", "run br0 device=br0"},
			seen:    []string{"disk eth0 device=eth0 ip=192.0.2.2/24", "run br0 device=br0"},
			want:    []string{"remove " + run + "br0.nmconnection", "write " + disk + "eth0.nmconnection", "sync", "reload"},
			reloads: []string{run + "br0.nmconnection", disk + "eth0.nmconnection"}},
		"a bridge that was made permanent goes once its NIC is back for certain": {
			before: []string{eth0}, trial: []string{eth0, "run eth0 device=eth0 controller=br0", "run br0 device=br0 type=bridge ip=192.0.2.1/24"},
			seen:    []string{"disk eth0 device=eth0 controller=br0", "disk br0 device=br0 type=bridge ip=192.0.2.1/24"},
			want:    []string{"write " + disk + "eth0.nmconnection", "sync", "remove " + disk + "br0.nmconnection", "sync", "reload"},
			reloads: []string{disk + "br0.nmconnection", disk + "eth0.nmconnection"}},
		"a bridge is back for certain before its port is": {
			before: []string{"disk a0 device=a0 controller=br9", "disk br9 device=br9 type=bridge ip=192.0.2.1/24"},
			trial:  []string{"run a0 device=a0 ip=192.0.2.1/24"}, seen: []string{"disk a0 device=a0 ip=192.0.2.1/24"},
			want:    []string{"write " + disk + "br9.nmconnection", "sync", "write " + disk + "a0.nmconnection", "sync", "reload"},
			reloads: []string{disk + "a0.nmconnection", disk + "br9.nmconnection"}},
		"what gets its addresses back does so before another one loses them": {
			before: []string{"disk br9 device=br9 type=bridge", "disk eth0 device=eth0 ip=192.0.2.1/24"},
			trial:  []string{"run br9 device=br9 type=bridge ip=192.0.2.1/24", "run eth0 device=eth0 controller=br9"},
			seen:   []string{"disk br9 device=br9 type=bridge ip=192.0.2.1/24", "disk eth0 device=eth0 controller=br9"},
			want:   []string{"write " + disk + "eth0.nmconnection", "sync", "write " + disk + "br9.nmconnection", "sync", "reload"}, reloads: []string{disk + "br9.nmconnection", disk + "eth0.nmconnection"}},
		"a profile that was deleted on disk comes back": {
			before: []string{eth0}, trial: []string{eth0, "run eth0 device=eth0"}, seen: []string{"disk other"},
			want: []string{"write " + disk + "eth0.nmconnection", "sync", "reload"}, reloads: []string{disk + "eth0.nmconnection"}},
		"the profile of an OVS port comes back that went with its last interface": {
			before:  []string{"disk p device=eth1 type=ovs-port controller=br", "disk eth1 device=eth1 controller=p port-type=ovs-port"},
			trial:   []string{"disk p device=eth1 type=ovs-port controller=br", "run eth1 device=eth1"},
			seen:    []string{"disk eth1 device=eth1"},
			want:    []string{"sync", "write " + disk + "p.nmconnection", "sync", "write " + disk + "eth1.nmconnection", "sync", "reload"},
			reloads: []string{disk + "eth1.nmconnection", disk + "p.nmconnection"}},
		"so do the profiles of a bridge that was to be absent, as far as they have gone": {
			before:  []string{"disk br device=br0 type=ovs-bridge", "disk p device=ovs0 type=ovs-port controller=br", "disk ovs0 device=ovs0 controller=p port-type=ovs-port"},
			change:  Change{Absent: []Interface{{Name: "br0", Type: "ovs-bridge"}, {Name: "ovs0", Type: "ovs-interface"}}},
			trial:   []string{"disk br device=br0 type=ovs-bridge", "disk p device=ovs0 type=ovs-port controller=br", "disk ovs0 device=ovs0 controller=p port-type=ovs-port"},
			seen:    []string{"disk br device=br0 type=ovs-bridge", "disk ovs0 device=ovs0 controller=p port-type=ovs-port"},
			want:    []string{"sync", "write " + disk + "p.nmconnection", "sync", "reload"},
			reloads: []string{disk + "p.nmconnection"}},
		"a profile that the change does not name and that somebody has deleted stays away": {
			before: []string{eth0, "disk eth1 device=eth1"},
			change: Change{Absent: []Interface{{Name: "br0"}}},
			trial:  []string{eth0, "disk eth1 device=eth1"}, seen: []string{eth0}},
		"an administrator's edit of another file during the trial stays": {
			before: []string{eth0, "disk eth1 device=eth1"},
			trial:  []string{eth0, "disk eth1 device=eth1", "run eth0 device=eth0"},
			seen:   []string{eth0, "disk eth1 device=eth1 ip=198.51.100.7/24", "disk eth9 device=eth9", "run eth0 device=eth0"},
			want:   []string{"remove " + run + "eth0.nmconnection", "sync", "reload"}, reloads: []string{run + "eth0.nmconnection"}},
		"it stays as it was seen though NetworkManager's rollback has undone it": {
			before: []string{eth0, "disk eth1 device=eth1"},
			trial:  []string{eth0, "disk eth1 device=eth1", "run eth0 device=eth0"},
			seen:   []string{eth0, "disk eth1 device=eth1 ip=198.51.100.7/24", "run eth0 device=eth0"},
			now:    []string{eth0, "disk eth1 device=eth1"},
			want:   []string{"write " + disk + "eth1.nmconnection", "sync", "reload"}, reloads: []string{disk + "eth1.nmconnection"}},
		"without a picture of the trial all that differs is the trial's": {
			before: []string{eth0}, noTrial: true, seen: []string{eth0, "run eth0 device=eth0"},
			want: []string{"remove " + run + "eth0.nmconnection", "sync", "reload"}, reloads: []string{run + "eth0.nmconnection"}},
		"a profile that NetworkManager makes up comes and goes as it likes": {
			before: []string{"run docker0 device=docker0 generated=true"}, trial: []string{"run lo device=lo generated=true"}},
		"one that the trial took over has its made-up content again": {
			before: []string{"run eth2 device=eth2 ip=198.18.9.1/24 generated=true"}, trial: []string{"run eth2 device=eth2 ip=198.18.9.2/24"},
			want: []string{"write " + run + "eth2.nmconnection", "sync", "reload"}, reloads: []string{run + "eth2.nmconnection"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			trial := &Trial{Snapshot: drawnNode(test.trial...)}
			seen := trial.Snapshot
			if test.seen != nil {
				seen = drawnNode(test.seen...)
			}
			if test.noTrial {
				trial = nil
			}
			now := seen
			if test.now != nil {
				now = drawnNode(test.now...)
			}
			before := drawnNode(test.before...)
			if trial != nil {
				trial.Void = Void(before, trial, test.change)
			}
			actions := FilesBack(before, trial, seen, now)
			if diff := cmp.Diff(test.want, words(actions)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			var reloads []string
			if len(actions) > 0 {
				reloads = actions[len(actions)-1].Paths
			}
			if diff := cmp.Diff(test.reloads, reloads); diff != "" {
				t.Errorf("read again, -want +got\n%s", diff)
			}
		})
	}
}

func TestFilesBackOfDNSAndHostname(t *testing.T) {
	before, now := drawnNode("disk eth0"), drawnNode("disk eth0")
	before.Hostname, now.Hostname = "node", "node-9"
	now.Files[DNSFile] = File{Mode: 0o600, Content: []byte("new")}
	want := []string{"remove " + DNSFile, "sync", `set-hostname to "node"`}
	if diff := cmp.Diff(want, words(FilesBack(before, &Trial{Snapshot: before}, now, now))); diff != "" {
		t.Errorf("no profile is read again for their sake; -want +got\n%s", diff)
	}
}

func TestDNSBack(t *testing.T) {
	held := Files{DNSFile: {Content: []byte("new")}}
	for sentence, test := range map[string]struct {
		trial *Trial
		want  []string
	}{
		"no picture of the trial: nothing is known of DNS": {},
		"a trial that wrote no DNS":                        {trial: &Trial{}},
		"held DNS is forgotten":                            {trial: &Trial{Held: held}, want: []string{"reload-dns"}},
	} {
		if diff := cmp.Diff(test.want, words(DNSBack(test.trial))); diff != "" {
			t.Errorf("%s: -want +got\n%s", sentence, diff)
		}
	}
}

func TestDevicesBack(t *testing.T) {
	for sentence, test := range map[string]struct {
		before, trial, now []string
		touched            []string
		want               []string
	}{
		"a device with its profile, untouched, keeps its link": {
			before: []string{"disk eth0", "device eth0 profile=eth0"}, now: []string{"disk eth0", "device eth0 profile=eth0"}},
		"a device whose profile the trial had changed gets it anew": {
			before: []string{"disk eth0", "device eth0 profile=eth0"}, now: []string{"disk eth0", "device eth0 profile=eth0"},
			touched: []string{"eth0"}, want: []string{"activate profile eth0 (eth0) on eth0"}},
		"controllers come before their ports, also where the device is to be made": {
			before: []string{"disk a controller=z", "disk z type=bridge", "device a profile=a", "device z profile=z software=yes"},
			now:    []string{"device a"},
			want:   []string{"activate profile z (z) on z", "activate profile a (a) on a"}},
		"software that the trial made goes": {
			before: []string{"device eth0"},
			trial:  []string{"device eth0", "device br0 profile=br0 software=yes"},
			now:    []string{"device eth0", "device br0 profile=br0 software=yes"},
			want:   []string{"delete-device br0"}},
		"also where its profile went before": {
			trial: []string{"device veth1 profile=veth1 software=yes"}, now: []string{"device veth1 software=yes"},
			want: []string{"delete-device veth1"}},
		"software that somebody else made meanwhile stays": {
			trial: []string{"device docker0 profile=x external=yes software=yes"},
			now:   []string{"device docker0 profile=x external=yes software=yes", "device veth9 software=yes"}},
		"a new NIC stays": {
			trial: []string{"device eth9 profile=eth9"}, now: []string{"device eth9 profile=eth9"}},
		"a NIC that had no profile is disconnected": {
			before: []string{"device eth2"}, now: []string{"device eth2 profile=eth2"}, want: []string{"disconnect eth2"}},
		"a NIC that was configured by hand gets its made-up profile": {
			before:  []string{"run x device=eth2 ip=198.18.9.1/24 generated=true", "device eth2 profile=x external=yes"},
			trial:   []string{"run x device=eth2 ip=198.18.9.2/24", "device eth2 profile=x"},
			now:     []string{"run x device=eth2 ip=198.18.9.1/24 generated=true", "device eth2 profile=x external=yes"},
			touched: []string{"x"},
			want:    []string{"activate profile eth2 (x) on eth2"}},
		"one that the trial did not touch is left alone": {
			before: []string{"run x device=eth2 generated=true", "device eth2 profile=x external=yes"},
			now:    []string{"run y device=eth2 generated=true", "device eth2 profile=y external=yes"}},
		"the MTU from before comes last, since no activation resets it": {
			before: []string{"disk eth0", "device eth0 profile=eth0 mtu=1500"}, now: []string{"disk eth0", "device eth0 profile=eth0 mtu=1400"},
			touched: []string{"eth0"}, want: []string{"activate profile eth0 (eth0) on eth0", "set-mtu eth0 to 1500"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			trial := &Trial{Snapshot: drawnNode(test.trial...)}
			got := words(DevicesBack(drawnNode(test.before...), trial, drawnNode(test.now...), drawnNode(test.now...), test.touched))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestDevicesBackOfATrialWithoutAPicture(t *testing.T) {
	for sentence, test := range map[string]struct {
		seen, now []string
		want      []string
	}{
		"what is new and has a profile is the trial's": {
			now:  []string{"device eth0", "device br0 profile=br0 software=yes"},
			want: []string{"delete-device br0"}},
		"so is what a profile speaks of that NetworkManager died before using": {
			seen: []string{"run br0 device=br0", "device eth0", "device br0 software=yes"},
			now:  []string{"device eth0", "device br0 software=yes"},
			want: []string{"delete-device br0"}},
		"what no profile speaks of is somebody else's": {
			seen: []string{"run br0 device=br0", "device eth0", "device docker0 software=yes"},
			now:  []string{"device eth0", "device docker0 software=yes"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			before, seen := drawnNode("device eth0"), drawnNode(test.seen...)
			got := words(DevicesBack(before, nil, seen, drawnNode(test.now...), Touched(before, nil, seen)))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestWhatNetworkManagerWasWritingWhenThePowerWentIsRemoved(t *testing.T) {
	before := drawnNode("disk eth0 device=eth0 ip=192.0.2.1/24")
	for sentence, content := range map[string]string{
		"an empty file": "",
		"a whole one":   "[connection]\nid=eth0\nuuid=eth0\ninterface-name=eth0\n",
	} {
		t.Run(sentence, func(t *testing.T) {
			now := drawnNode("disk eth0 device=eth0 ip=192.0.2.1/24")
			now.Files[DiskDir+"/eth0.nmconnection.1L9DZ3"] = File{Mode: 0o600, Content: []byte(content)}
			now.Files[DiskDir+"/eth0.nmconnection.bak"] = File{Mode: 0o600} // A person's.
			want := []string{"remove " + DiskDir + "/eth0.nmconnection.1L9DZ3", "sync", "reload"}
			if diff := cmp.Diff(want, words(FilesBack(before, nil, now, now))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if lines := Differences(before, nil, now, now); len(lines) != 1 {
				t.Errorf("differences: %q, want that file", lines)
			}
		})
	}
}
