package state_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestWhatCanBeMistakenIsTold(t *testing.T) {
	const address, another = "02:00:00:00:00:01", "02:00:00:00:00:02"
	nic := func(name, permanent, address string) string {
		return `{"name":"` + name + `","type":"ethernet","state":"up","permanent-mac-address":"` + permanent + `","mac-address":"` + address + `"}`
	}
	document := func(interfaces ...string) string { return `{"interfaces":[` + strings.Join(interfaces, ",") + `]}` }
	const uplink = `{"name":"uplink","type":"ethernet","identifier":"mac-address","mac-address":"` + address + `"}`
	twins := []string{"interfaces[uplink]: eth0 and eth1 on this node all have the mac-address " + address + ": name the one that is meant"}
	for sentence, test := range map[string]struct {
		wanted, current string
		want            []string
	}{
		"one NIC has the address":                                                    {document(uplink), document(nic("eth0", address, address), nic("eth1", another, another)), nil},
		"two NICs have it as their own, as those of some clouds do":                  {document(uplink), document(nic("eth0", address, address), nic("eth1", address, address)), twins},
		"one has it as its own, and the other shows no address of its own":           {document(uplink), document(nic("eth0", "", address), nic("eth1", address, address)), twins},
		"a bond gave one the address of the other":                                   {document(uplink), document(nic("eth0", address, address), nic("eth1", another, address)), nil},
		"both were given it":                                                         {document(uplink), document(nic("eth0", "", address), nic("eth1", another, address)), twins},
		"one of the two has the name":                                                {document(strings.ReplaceAll(uplink, "uplink", "eth1")), document(nic("eth0", address, address), nic("eth1", address, address)), nil},
		"what stands on a NIC has its address and is none":                           {document(uplink), document(nic("eth0", address, address), `{"name":"eth0.5","type":"vlan","mac-address":"`+address+`"}`), nil},
		"two entries mean one NIC":                                                   {document(`{"name":"eth0","type":"ethernet","mtu":1400}`, uplink), document(nic("eth0", address, address)), []string{"interfaces[eth0] and interfaces[uplink] both mean eth0 of this node: use one name for it in all policies"}},
		"an alternative name is a name, too":                                         {document(`{"name":"eth0","mtu":1400}`, `{"name":"enp3s0","type":"ethernet"}`), document(`{"name":"eth0","type":"ethernet","alt-names":[{"name":"enp3s0"}]}`), []string{"interfaces[enp3s0] and interfaces[eth0] both mean eth0 of this node: use one name for it in all policies"}},
		"what is to be made may be called as a profile is":                           {document(`{"name":"eth0","mtu":1400}`, `{"name":"br1","type":"linux-bridge"}`), document(`{"name":"eth0","type":"ethernet","profile-name":"br1"}`), nil},
		"an OVS bridge and its internal interface have one name":                     {document(`{"name":"br1","type":"ovs-bridge"}`, `{"name":"br1","type":"ovs-interface"}`), document(`{"name":"br1","type":"ovs-bridge"}`, `{"name":"br1","type":"ovs-interface"}`), nil},
		"what is to be absent means nothing":                                         {document(`{"name":"eth0","state":"absent"}`, uplink), document(nic("eth0", address, address)), nil},
		"an address that no NIC has is nothing to mistake (it is waited for, there)": {document(uplink), document(nic("eth0", another, another)), nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(test.want, state.Mistakable(parse(t, test.wanted), parse(t, test.wanted), parse(t, test.current))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAChangeIsNotBlamedForOthersNames(t *testing.T) {
	current := parse(t, `{"interfaces":[{"name":"eth0","type":"ethernet","alt-names":[{"name":"enp3s0"}]},{"name":"eth1","type":"ethernet"}]}`)
	whole := parse(t, `{"interfaces":[{"name":"eth0","mtu":1400},{"name":"enp3s0","type":"ethernet"},{"name":"eth1","mtu":1400}]}`)
	if got := state.Mistakable(parse(t, `{"interfaces":[{"name":"eth1","mtu":1400}]}`), whole, current); got != nil {
		t.Errorf("a change of another NIC: %q", got)
	}
	for _, name := range []string{"eth0", "enp3s0"} {
		if got := state.Mistakable(parse(t, `{"interfaces":[{"name":"`+name+`"}]}`), whole, current); len(got) != 1 {
			t.Errorf("a change of %s: %q, want one line", name, got)
		}
	}
}
