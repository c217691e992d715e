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
