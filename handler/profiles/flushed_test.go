package profiles

import (
	"strings"
	"testing"
)

// contentOf is a file's content with little in it.
func contentOf(uuid, kind, controller, method string) File {
	content := "[connection]\nid=" + uuid + "\nuuid=" + uuid + "\ntype=" + kind + "\ninterface-name=" + uuid + "\n"
	if controller != "" {
		content += "controller=" + controller + "\n"
	}
	return File{Mode: 0o600, Content: []byte(content + "\n[ipv4]\nmethod=" + method + "\n")}
}

func TestPermanentIsFlushedBeforeWhatLosesItsAddresses(t *testing.T) {
	nic := contentOf("eth0", "ethernet", "", "manual")
	for name, one := range map[string]struct {
		before, trial map[string]File
		want          string
	}{
		"a bridge takes the NIC": {
			before: map[string]File{"eth0": nic},
			trial:  map[string]File{"br0": contentOf("br0", "bridge", "", "manual"), "eth0": contentOf("eth0", "ethernet", "br0", "disabled")},
			want:   "save br0, sync, save eth0, sync",
		},
		"an Open vSwitch bridge takes the NIC, its own interface the address": {
			before: map[string]File{"eth0": nic},
			trial: map[string]File{
				"br-ex": contentOf("br-ex", "ovs-bridge", "", "disabled"), "ovs0": contentOf("ovs0", "ovs-interface", "br-ex", "manual"),
				"eth0": contentOf("eth0", "ethernet", "br-ex", "disabled"),
			},
			want: "save br-ex, sync, save ovs0, sync, save eth0, sync",
		},
		"a NIC has another address": {
			before: map[string]File{"eth0": nic},
			trial:  map[string]File{"eth0": contentOf("eth0", "ethernet", "", "auto")},
			want:   "save eth0, sync",
		},
		"all of it was done before a crash, but nobody knows whether it was flushed": {
			before: map[string]File{"eth0": nic},
			want:   "sync",
		},
		"the controller was saved before a crash": {
			before: map[string]File{"eth0": nic},
			trial:  map[string]File{"eth0": contentOf("eth0", "ethernet", "br0", "disabled")},
			want:   "sync, save eth0, sync",
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, now := Snapshot{Files: Files{}}, Snapshot{Files: Files{}}
			for uuid, file := range one.before {
				before.Files[DiskDir+"/"+uuid], now.Files[DiskDir+"/"+uuid] = file, file
			}
			for uuid, file := range one.trial {
				now.Files[RunDir+"/"+uuid] = file
			}
			var got []string
			for _, a := range Permanent(before, nil, now, Change{}) {
				got = append(got, strings.TrimSpace(string(a.Verb)+" "+a.UUID))
			}
			if all := strings.Join(got, ", "); all != one.want {
				t.Errorf("%s, want %s", all, one.want)
			}
		})
	}
}

func TestAFileThatThePowerCutShortGoesWithItsTrial(t *testing.T) {
	const at = DiskDir + "/br0.nmconnection"
	before, trial := drawnNode("disk eth0 device=eth0"), &Trial{Snapshot: drawnNode("disk eth0 device=eth0", "run br0 device=br0 type=bridge")}
	whole := trial.Files[RunDir+"/br0.nmconnection"]
	cut := func(size int) Snapshot {
		booted := drawnNode("disk eth0 device=eth0")
		booted.Files[at] = File{Mode: whole.Mode, Content: whole.Content[:size]}
		return booted
	}
	for size := range len(whole.Content) + 1 {
		booted := cut(size)
		if want, got := "remove "+at, words(FilesBack(before, trial, booted, booted)); len(got) == 0 || got[0] != want {
			t.Errorf("of its %d bytes %d are there: does %q, want %q first", len(whole.Content), size, got, want)
		}
		if got := Differences(before, trial, booted, booted); len(got) != 1 || got[0] != at+" is there, and was not" {
			t.Errorf("of its %d bytes %d are there: differs by %q", len(whole.Content), size, got)
		}
	}
	booted, others := cut(0), cut(0)
	others.Files[at] = contentOf("br9", "bridge", "", "auto")
	for sentence, is := range map[string][]string{
		"an empty file that was there before":      words(FilesBack(booted, trial, booted, booted)),
		"an empty file where no trial is known of": words(FilesBack(before, nil, booted, booted)),
		"another profile of that name":             words(FilesBack(before, trial, others, others)),
	} {
		if len(is) > 0 {
			t.Errorf("%s is touched: %q", sentence, is)
		}
	}
}
