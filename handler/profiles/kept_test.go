package profiles

import (
	"strings"
	"testing"
)

func TestWhatTheNextBootWouldNotBring(t *testing.T) {
	const (
		bridge  = "interfaces: [{name: br1, type: linux-bridge, state: up, bridge: {port: [{name: eth1}]}}]"
		ofBr1   = "[connection]\nid=br1\nuuid=u1\ntype=bridge\ninterface-name=br1\n"
		ofEth1  = "[connection]\nid=eth1\nuuid=u2\ntype=ethernet\ninterface-name=eth1\ncontroller=br1\nport-type=bridge\n"
		ofEth2  = "[connection]\nid=any\nuuid=u3\ntype=ethernet\n"
		ofLater = "[connection]\nid=br1\nuuid=u4\ntype=bridge\ninterface-name=br1\n[.nmmeta]\nnm-generated=true\n"
	)
	disk := func(contents ...string) Files {
		files := Files{}
		for _, content := range contents {
			files[DiskDir+"/"+parse([]byte(content)).name()+".nmconnection"] = File{Content: []byte(content)}
		}
		return files
	}
	for sentence, c := range map[string]struct {
		desired string
		now     Snapshot
		change  Change
		want    string
	}{
		"everything is on disk": {desired: bridge, now: Snapshot{Files: disk(ofBr1, ofEth1)}},
		"a port has no profile": {desired: bridge, now: Snapshot{Files: disk(ofBr1)}, want: "interfaces[eth1]: NetworkManager has no profile for it"},
		"one is in memory only": {desired: bridge, now: Snapshot{Files: disk(ofBr1, ofEth1), Unsaved: []string{"u1"}}, want: "interfaces[br1]: its profile is not on disk as NetworkManager has it"},
		"one is in /run":        {desired: bridge, now: Snapshot{Files: Files{DiskDir + "/eth1": {Content: []byte(ofEth1)}, RunDir + "/br1": {Content: []byte(ofBr1)}}}, want: "interfaces[br1]: its profile is not on disk as NetworkManager has it"},
		"NetworkManager made it up": {
			desired: bridge, now: Snapshot{Files: disk(ofLater, ofEth1), Devices: []Device{{Name: "br1", Profile: "u4", External: true}}},
			want: "interfaces[br1]: NetworkManager has no profile for it",
		},
		"another one is active than that on disk": {
			desired: bridge, now: Snapshot{Files: disk(ofBr1, ofEth1), Devices: []Device{{Name: "br1", Profile: "u9"}}},
			want: "interfaces[br1]: NetworkManager has no profile for it",
		},
		"the active one names no device": {
			desired: "interfaces: [{name: eth2, type: ethernet, state: up}]",
			now:     Snapshot{Files: disk(ofEth2), Devices: []Device{{Name: "eth2", Profile: "u3"}}},
		},
		"a route leads out of one without a profile": {
			desired: "routes: {config: [{destination: 198.51.100.0/24, next-hop-address: 192.0.2.1, next-hop-interface: eth2}]}",
			want:    "interfaces[eth2]: NetworkManager has no profile for it",
		},
		"a route is to be absent": {desired: "routes: {config: [{state: absent, destination: 198.51.100.0/24, next-hop-interface: eth2}]}"},
		"one is to be down":       {desired: "interfaces: [{name: eth2, type: ethernet, state: down}]", want: "interfaces[eth2]: no profile says that it is to be down"},
		"what is to be absent has a profile": {
			desired: "interfaces: [{name: br1, type: linux-bridge, state: absent}]",
			now:     Snapshot{Files: disk(ofBr1)}, change: Change{Absent: []Interface{{Name: "br1", Type: "linux-bridge"}}},
			want: "to be done: delete profile br1 (u1)",
		},
		"what is to be absent has none": {
			desired: "interfaces: [{name: br1, type: linux-bridge, state: absent}]",
			change:  Change{Absent: []Interface{{Name: "br1", Type: "linux-bridge"}}},
		},
		"the host is to be called otherwise": {desired: "hostname: {config: node1}", now: Snapshot{Hostname: "node2"}, change: Change{Hostname: "node1"}, want: `to be done: set-hostname to "node1"`},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := Unkept(parsedState(t, c.desired), parsedState(t, "{}"), c.now, c.change)
			if strings.Join(got, "\n") != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
