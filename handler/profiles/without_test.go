package profiles

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// drawnNode is a snapshot from lines like "run eth0 shadow=eth0.nmconnection
// controller=br0 type=bridge ip=192.0.2.1/24" and "device eth0 profile=eth0
// software=yes mtu=1400"; a profile's UUID is
// its name.
func drawnNode(lines ...string) Snapshot {
	now := Snapshot{Files: Files{}}
	for _, line := range lines {
		words := strings.Fields(line)
		says := map[string]string{}
		for _, word := range words[2:] {
			key, value, _ := strings.Cut(word, "=")
			says[key] = value
		}
		if words[0] == "device" {
			mtu, _ := strconv.Atoi(says["mtu"])
			now.Devices = append(now.Devices, Device{Name: words[1], Profile: says["profile"], External: says["external"] != "",
				Software: says["software"] != "", MTU: mtu})
			continue
		}
		content := fmt.Sprintf("[connection]\nid=%s\nuuid=%[1]s\ntype=%s\n", words[1], says["type"])
		for _, setting := range [][2]string{{"device", "interface-name"}, {"controller", "master"}, {"port-type", "slave-type"}, {"autoconnect", "autoconnect"}} {
			if value := says[setting[0]]; value != "" {
				content += setting[1] + "=" + value + "\n"
			}
		}
		if says["ip"] != "" {
			content += "[ipv4]\nmethod=manual\naddress1=" + says["ip"] + "\n"
		}
		dir := DiskDir
		if words[0] == "run" {
			dir = RunDir
		}
		content += "\n[.nmmeta]\n"
		for _, setting := range [][2]string{{"shadow", "shadowed-storage"}, {"generated", "nm-generated"}} {
			if value := says[setting[0]]; value != "" {
				content += setting[1] + "=" + strings.Replace(value, "disk:", DiskDir+"/", 1) + "\n"
			}
		}
		now.Files[dir+"/"+words[1]+".nmconnection"] = File{Mode: 0o600, Content: []byte(content)}
	}
	return now
}

func TestTheWayBackWithoutAJournal(t *testing.T) {
	const away, reload = "remove " + RunDir + "/", "reload"
	for sentence, test := range map[string]struct {
		now            []string
		files, devices []string
	}{
		"nothing is in memory: nothing is done": {now: []string{"disk eth0 device=eth0", "device eth0 profile=eth0"}},
		"a profile that hides one on disk goes, and its device gets that": {
			now:     []string{"disk eth0 device=eth0", "run eth0 device=eth0 shadow=disk:eth0.nmconnection", "device eth0 profile=eth0", "device eth1"},
			files:   []string{away + "eth0.nmconnection", reload},
			devices: []string{"activate profile eth0 (eth0) on eth0"},
		},
		"a device that the trial left without a profile gets the one on disk": {
			now:     []string{"disk eth0 device=eth0", "run eth0 device=eth0 shadow=disk:eth0.nmconnection", "device eth0"},
			files:   []string{away + "eth0.nmconnection", reload},
			devices: []string{"activate profile eth0 (eth0) on eth0"},
		},
		"not one that does not come up by itself": {
			now:   []string{"disk eth0 device=eth0 autoconnect=false", "run eth0 device=eth0 shadow=disk:eth0.nmconnection", "device eth0"},
			files: []string{away + "eth0.nmconnection", reload},
		},
		"a profile in memory that hides none stays: the node may have booted with it": {
			now: []string{"run boot0 device=eth0", "device eth0 profile=boot0"},
		},
		"a shadow whose file on disk is gone stays: it is all that there is": {
			now: []string{"run eth0 device=eth0 shadow=disk:eth0.nmconnection", "device eth0 profile=eth0"},
		},
		"a shadow of another file stays": {
			now: []string{"disk eth0 device=eth0", "run eth0 device=eth0 shadow=/usr/lib/NetworkManager/system-connections/eth0.nmconnection", "device eth0 profile=eth0"},
		},
		"what NetworkManager made up for a device of somebody else's stays": {
			now: []string{"disk eth0 device=eth0", "run eth0 device=eth0 shadow=disk:eth0.nmconnection generated=true", "device eth0 profile=eth0 external=yes"},
		},
		"a bridge in memory that loses its only port goes with what it took": {
			now: []string{
				"disk eth0 device=eth0", "run eth0 device=eth0 controller=br0 shadow=disk:eth0.nmconnection",
				"run br0 device=br0 type=bridge", "device br0 profile=br0", "device eth0 profile=eth0",
			},
			files:   []string{away + "eth0.nmconnection", reload},
			devices: []string{"delete profile br0 (br0)", "activate profile eth0 (eth0) on eth0"},
		},
		"a bridge in memory that has another port stays": {
			now: []string{
				"disk eth0 device=eth0", "run eth0 device=eth0 controller=br0 shadow=disk:eth0.nmconnection",
				"run br0 device=br0 type=bridge", "run eth1 device=eth1 controller=br0", "device eth0 profile=eth0",
			},
			files:   []string{away + "eth0.nmconnection", reload},
			devices: []string{"activate profile eth0 (eth0) on eth0"},
		},
		"a bridge in memory without any port is not the trial's": {
			now: []string{
				"disk eth0 device=eth0", "run eth0 device=eth0 shadow=disk:eth0.nmconnection", "run br0 device=br0 type=bridge", "device eth0 profile=eth0",
			},
			files:   []string{away + "eth0.nmconnection", reload},
			devices: []string{"activate profile eth0 (eth0) on eth0"},
		},
		"controllers come before their ports": {
			now: []string{
				"disk a-port device=eth0 controller=bond0", "disk bond0 device=bond0 type=bond",
				"run a-port device=eth0 controller=bond0 shadow=disk:a-port.nmconnection", "run bond0 device=bond0 type=bond shadow=disk:bond0.nmconnection",
				"device eth0 profile=a-port", "device bond0 profile=bond0",
			},
			files:   []string{away + "a-port.nmconnection", away + "bond0.nmconnection", reload},
			devices: []string{"activate profile bond0 (bond0) on bond0", "activate profile a-port (a-port) on eth0"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			files, devices := WithoutJournal(drawnNode(test.now...))
			if diff := cmp.Diff(test.files, actionLines(files)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.devices, actionLines(devices)); diff != "" {
				t.Errorf("devices (-want +got):\n%s", diff)
			}
		})
	}
}

func actionLines(actions []Action) (all []string) {
	for _, a := range actions {
		all = append(all, a.String())
	}
	return all
}

// TestLeftInRun: what hides a profile on disk is taken away, the rest is only named.
func TestLeftInRun(t *testing.T) {
	now := drawnNode("disk eth0", "run eth0 shadow=disk:eth0.nmconnection", "run veth1", "run br0 type=bridge", "run lo generated=true")
	want := []string{RunDir + "/br0.nmconnection", RunDir + "/veth1.nmconnection"}
	if diff := cmp.Diff(want, LeftInRun(now)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
