package profiles

import (
	"strings"
	"testing"
)

func TestAZoneThatDoesNotComeWithTheNICIsTold(t *testing.T) {
	t.Parallel()
	const (
		nic      = "[connection]\nuuid=n\ntype=ethernet\nzone=internal\n"
		plain    = "[connection]\nuuid=n\ntype=ethernet\n"
		port     = "[connection]\nuuid=n\ntype=ethernet\nzone=internal\ncontroller=br0\nport-type=bridge\n"
		bridge   = "[connection]\nuuid=b\ntype=bridge\n"
		inZone   = "[connection]\nuuid=b\ntype=bridge\nzone=internal\n"
		inOther  = "[connection]\nuuid=b\ntype=bridge\nzone=public\n"
		bridged  = `interfaces: [{name: eth0, type: ethernet, controller: br0}, {name: br0, type: linux-bridge}]`
		switched = `interfaces: [{name: eth0, type: ethernet, controller: br0}, {name: br0, type: ovs-bridge}]`
		apart    = `interfaces: [{name: eth0, type: ethernet, controller: ""}, {name: br0, type: linux-bridge}]`
	)
	const told = `interfaces[br0]: eth0, whose place it takes, is in zone "internal" of firewalld, and it is not`
	for name, row := range map[string]struct{ before, trial, current, want string }{
		"the bridge is in no zone":                {nic, bridge, bridged, told},
		"it is in another one":                    {nic, inOther, bridged, told},
		"an administrator has put it in the same": {nic, inZone, bridged, ""},
		"the NIC was in none":                     {plain, bridge, bridged, ""},
		"the NIC was its port before":             {port, bridge, bridged, ""},
		"the NIC is no port":                      {nic, bridge, apart, ""},
		"the addresses are on the internal port":  {nic, bridge, switched, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := Snapshot{Files: Files{DiskDir + "/eth0.nmconnection": {Content: []byte(row.before)}}, Devices: []Device{{Name: "eth0", Profile: "n"}}}
			trial := Snapshot{Files: Files{RunDir + "/br0.nmconnection": {Content: []byte(row.trial)}}}
			got := strings.Join(ZonesLeft(parsedState(t, row.current), before, trial, []Device{{Name: "eth0", Profile: "n"}, {Name: "br0", Profile: "b"}}), "; ")
			if (row.want == "") != (got == "") || !strings.HasPrefix(got, row.want) {
				t.Errorf("it tells %q, want %q", got, row.want)
			}
		})
	}
}
