package state_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const threeNICs = `{"interfaces":[{"name":"eth0","type":"ethernet","state":"up","permanent-mac-address":"02:00:00:00:00:01","mac-address":"02:00:00:00:00:02"},{"name":"eth1","type":"ethernet","state":"down","profile-name":"the second"},{"name":"veth1","type":"veth","state":"ignore"},{"name":"lo","type":"loopback"},{"name":"eth2","type":"ethernet","alt-names":[{"name":"enp3s0"}]}]}`

func TestUnknown(t *testing.T) {
	for sentence, test := range map[string]struct {
		wanted string
		want   []string
	}{
		"what is there is known, by whatever name":  {`{"interfaces":[{"name":"eth1","state":"up"},{"name":"enp3s0","type":"ethernet"},{"name":"the second"},{"name":"veth1","type":"veth"}]}`, nil},
		"a NIC cannot be made":                      {`{"interfaces":[{"name":"eth9","type":"ethernet","state":"up"}]}`, []string{"interfaces[eth9]"}},
		"nor can what has no type":                  {`{"interfaces":[{"name":"eth9","mtu":1400}]}`, []string{"interfaces[eth9]"}},
		"nor a veth without a peer":                 {`{"interfaces":[{"name":"veth9","type":"veth"}]}`, []string{"interfaces[veth9]"}},
		"a veth and its peer can":                   {`{"interfaces":[{"name":"a","type":"veth","veth":{"peer":"b"}},{"name":"b","type":"ethernet"},{"name":"br1","type":"linux-bridge","bridge":{"port":[{"name":"a"},{"name":"b"}]}}]}`, nil},
		"what is not to be up need not be there":    {`{"interfaces":[{"name":"eth9","type":"ethernet","state":"down"},{"name":"eth8","state":"absent"},{"name":"eth7","state":"ignore"}]}`, nil},
		"a port has to be there or be made":         {`{"interfaces":[{"name":"br1","type":"linux-bridge","bridge":{"port":[{"name":"eth9"},{"name":"eth0"},{"name":"bond0"}]}},{"name":"bond0","type":"bond","link-aggregation":{"port":["eth8"]}}]}`, []string{"interfaces[br1]: port eth9", "interfaces[bond0]: port eth8"}},
		"an OVS bridge makes its own port":          {`{"interfaces":[{"name":"br1","type":"ovs-bridge","bridge":{"port":[{"name":"ovs0"}]}}]}`, nil},
		"a base has to be there or be made":         {`{"interfaces":[{"name":"a","type":"vlan","vlan":{"base-iface":"eth9","id":3}},{"name":"b","type":"mac-vlan","mac-vlan":{"base-iface":"a"}}]}`, []string{"interfaces[a]: base-iface eth9"}},
		"so has what a MAC address is copied from":  {`{"interfaces":[{"name":"br1","type":"linux-bridge","copy-mac-from":"eth9"}]}`, []string{"interfaces[br1]: copy-mac-from eth9"}},
		"so has what a route goes through":          {`{"routes":{"config":[{"destination":"0.0.0.0/0","next-hop-interface":"eth9"},{"destination":"0.0.0.0/0","next-hop-interface":"eth8","state":"absent"},{"next-hop-interface":"eth0"}]}}`, []string{"routes[0.0.0.0/0]: next-hop-interface eth9"}},
		"what is identified otherwise has any name": {`{"interfaces":[{"name":"uplink","type":"ethernet","identifier":"mac-address","mac-address":"02-00-00-00-00-01"},{"name":"br1","type":"linux-bridge","bridge":{"port":[{"name":"uplink"}]}}]}`, nil},
		"and an address that has to be there":       {`{"interfaces":[{"name":"uplink","identifier":"mac-address","mac-address":"02:00:00:00:00:09"},{"name":"eth1","identifier":"pci-address","pci-address":"0000:00:02.0"}]}`, []string{"interfaces[uplink]: mac-address 02:00:00:00:00:09", "interfaces[eth1]: pci-address 0000:00:02.0"}},
		"virtual functions come with their NIC":     {`{"interfaces":[{"name":"eth0","type":"ethernet","ethernet":{"sr-iov":{"total-vfs":2}}},{"name":"eth0v1","type":"ethernet"}]}`, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			var got []string
			for _, one := range state.Unknown(parse(t, test.wanted), parse(t, threeNICs)) {
				got = append(got, fmt.Sprint(one))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMade(t *testing.T) {
	wanted := parse(t, `{"interfaces":[{"name":"eth0","type":"ethernet"},{"name":"bond0","type":"bond"},{"name":"br0","type":"linux-bridge","state":"down"},{"name":"br1","type":"linux-bridge","state":"up"}]}`)
	var got []string
	for _, one := range state.Made(wanted, parse(t, threeNICs)) {
		got = append(got, one.Name+" "+one.Type)
	}
	if diff := cmp.Diff([]string{"bond0 bond", "br1 linux-bridge"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestNamesOf(t *testing.T) {
	if got := state.NamesOf(parse(t, threeNICs)); got != "eth0, eth1, eth2" {
		t.Errorf("NamesOf() = %s", got)
	}
	if got := state.NamesOf(state.State{}); got != "none" {
		t.Errorf("NamesOf(nothing) = %s", got)
	}
}

func TestHas(t *testing.T) {
	current := parse(t, threeNICs)
	if !state.Has(current, []string{"eth0", "veth1", "enp3s0"}) || state.Has(current, []string{"eth0", "eth9"}) {
		t.Error("it does not tell what is there")
	}
}
