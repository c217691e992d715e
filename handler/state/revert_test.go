package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompleteRevert(t *testing.T) {
	before := `{"interfaces":[
		{"name":"eth0","type":"ethernet","state":"up",
		 "ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.11","prefix-length":24,"mptcp-flags":["subflow"]}]},
		 "ipv6":{"enabled":true,"address":[{"ip":"2001:db8::11","prefix-length":64}]}},
		{"name":"eth1","type":"ethernet","state":"up","ipv4":{"enabled":true,"dhcp":true,"address":[{"ip":"192.0.2.99","prefix-length":24}]}}],
		"routes":{"config":[
		{"destination":"0.0.0.0/0","next-hop-interface":"eth0","next-hop-address":"192.0.2.1","metric":100},
		{"destination":"::/0","next-hop-interface":"eth0","next-hop-address":"2001:db8::1","metric":100},
		{"destination":"203.0.113.0/24","next-hop-interface":"eth1","next-hop-address":"192.0.2.1"}]}}`
	for name, c := range map[string]struct{ revert, want string }{
		"a NIC whose IPv6 was switched off gets its addresses and all its routes back": {
			revert: `{"interfaces":[{"name":"eth0","state":"up","mtu":1500,"ipv6":{"enabled":true}}]}`,
			want: `{"interfaces":[{"name":"eth0","state":"up","mtu":1500,
				"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.11","prefix-length":24}]},
				"ipv6":{"enabled":true,"address":[{"ip":"2001:db8::11","prefix-length":64}]}}],
				"routes":{"config":[{"next-hop-interface":"eth0","state":"absent"},
				{"destination":"0.0.0.0/0","next-hop-interface":"eth0","next-hop-address":"192.0.2.1","metric":100},
				{"destination":"::/0","next-hop-interface":"eth0","next-hop-address":"2001:db8::1","metric":100}]}}`,
		},
		"what DHCP hands out is not written down as if it were configured": {
			revert: `{"interfaces":[{"name":"eth1","state":"up"}]}`,
			want: `{"interfaces":[{"name":"eth1","state":"up","ipv4":{"enabled":true,"dhcp":true}}],
				"routes":{"config":[{"next-hop-interface":"eth1","state":"absent"},
				{"destination":"203.0.113.0/24","next-hop-interface":"eth1","next-hop-address":"192.0.2.1"}]}}`,
		},
		"an interface that was not there before only goes": {
			revert: `{"interfaces":[{"name":"br0","state":"absent"}],"routes":{"config":[{"next-hop-interface":"br0","state":"absent"}]}}`,
			want:   `{"interfaces":[{"name":"br0","state":"absent"}],"routes":{"config":[{"next-hop-interface":"br0","state":"absent"}]}}`,
		},
		"routes of other interfaces stay as they were computed": {
			revert: `{"interfaces":[{"name":"eth1","state":"up"}],"routes":{"config":[{"destination":"198.51.100.0/24","next-hop-interface":"eth2"}]}}`,
			want: `{"interfaces":[{"name":"eth1","state":"up","ipv4":{"enabled":true,"dhcp":true}}],
				"routes":{"config":[{"next-hop-interface":"eth1","state":"absent"},
				{"destination":"198.51.100.0/24","next-hop-interface":"eth2"},
				{"destination":"203.0.113.0/24","next-hop-interface":"eth1","next-hop-address":"192.0.2.1"}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := CompleteRevert(reading(t, c.revert), reading(t, before))
			if diff := cmp.Diff(string(reading(t, c.want).JSON()), string(got.JSON())); diff != "" {
				t.Errorf("revert differs (-want +got):\n%s", diff)
			}
		})
	}
}

func reading(t *testing.T, raw string) State {
	t.Helper()
	s, err := Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAnAgeingTimeThatSTPShortenedForAWhileIsNoDifference(t *testing.T) {
	bridge := func(stp, ageing string) State {
		return reading(t, `{"interfaces":[{"name":"br0","type":"linux-bridge","state":"up","bridge":{"options":{
			"mac-ageing-time":`+ageing+`,"stp":{"enabled":`+stp+`}}}}]}`)
	}
	if found := Diff(bridge("true", "300"), bridge("true", "30")); len(found) > 0 {
		t.Errorf("with STP: %v", found)
	}
	if found := Diff(bridge("false", "300"), bridge("false", "30")); len(found) != 1 {
		t.Errorf("without STP: %v, want one difference", found)
	}
}
