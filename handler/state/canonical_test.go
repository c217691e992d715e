package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheCanonicalFormIsOneForAllSpellings(t *testing.T) {
	for name, c := range map[string]struct{ want, spellings string }{
		"bond is link-aggregation, and ports are port": {
			want:      `{"interfaces":[{"link-aggregation":{"mode":"802.3ad","options":{"balance_slb":true,"xmit_hash_policy":"layer3+4"},"port":["a"]},"name":"b","type":"bond"}]}`,
			spellings: `[{"interfaces":[{"name":"b","type":"bond","bond":{"mode":"lacp","ports":["a"],"options":{"balance-slb":"yes","xmit_hash_policy":1}}}]},{"interfaces":[{"name":"b","type":"bond","link-aggregation":{"mode":4,"port":["a"],"options":{"balance_slb":1,"xmit_hash_policy":"1"}}}]}]`,
		},
		"so it is without the type": {
			want:      `{"interfaces":[{"link-aggregation":{"mode":"active-backup"},"name":"b"}]}`,
			spellings: `[{"interfaces":[{"name":"b","bond":{"mode":"1"}}]}]`,
		},
		"a bond of an OVS bridge": {
			want:      `{"interfaces":[{"bridge":{"port":[{"link-aggregation":{"mode":"balance-slb","port":[{"name":"a"}]},"name":"o"}]},"name":"b","type":"ovs-bridge"}]}`,
			spellings: `[{"interfaces":[{"name":"b","type":"ovs-bridge","bridge":{"ports":[{"name":"o","bond":{"mode":"balance-slb","ports":[{"name":"a"}]}}]}}]}]`,
		},
		"true, yes and 1 are true, and 0x5dc is 1500": {
			want:      `{"interfaces":[{"ipv4":{"enabled":true},"lldp":{"enabled":false},"mtu":1500,"name":"e"}]}`,
			spellings: `[{"interfaces":[{"name":"e","mtu":"0x5dc","ipv4":{"enabled":"yes"},"lldp":{"enabled":"off"}}]},{"interfaces":[{"name":"e","mtu":"1500","ipv4":{"enabled":1},"lldp":{"enabled":"No"}}]}]`,
		},
		"a MAC address has colons": {
			want:      `{"interfaces":[{"mac-address":"02:00:00:00:00:0A","name":"e"}]}`,
			spellings: `[{"interfaces":[{"name":"e","mac-address":"02-00-00-00-00-0A"}]}]`,
		},
		"a network has its length and no host bits, and no network stays none": {
			want:      `{"route-rules":{"config":[{"ip-from":"192.0.2.0/24","ip-to":"","suppress-prefix-length":1}]},"routes":{"config":[{"destination":"192.0.2.1/32"},{"destination":"2001:db8::/32"}]}}`,
			spellings: `[{"routes":{"config":[{"destination":"192.0.2.1"},{"destination":"2001:0db8:0::1/32"}]},"route-rules":{"config":[{"ip-from":"192.0.2.7/24","ip-to":"","suppress_prefixlength":1}]}}]`,
		},
		"text is text where no quotes are needed": {
			want:      `{"description":"2024","dns-resolver":{"config":{"search":["7","true"]}},"hostname":{"config":"12345"},"ovn":{"bridge-mappings":[{"bridge":"10","localnet":"9"}]},"ovs-db":{"external_ids":{"a":"3","b":null,"c":"true"}},"routes":{"config":[{"next-hop-interface":"100","vrf-name":"10"}]}}`,
			spellings: `[{"description":2024,"hostname":{"config":12345},"routes":{"config":[{"next-hop-interface":100,"vrf-name":10}]},"dns-resolver":{"config":{"search":[7,true]}},"ovn":{"bridge-mappings":[{"localnet":9,"bridge":10}]},"ovs-db":{"external_ids":{"a":3,"b":null,"c":true}}}]`,
		},
		"ethtool's features have the kernel's names": {
			want:      `{"interfaces":[{"ethtool":{"feature":{"rx-gro":true,"tx-tcp-segmentation":false}},"name":"e"}]}`,
			spellings: `[{"interfaces":[{"name":"e","ethtool":{"feature":{"gro":"true","tso":false}}}]}]`,
		},
		"a word of nmstate's where any text may stand": {
			want:      `{"interfaces":[{"ipv4":{"dhcp-client-id":"iaid+duid"},"ipv6":{"addr-gen-mode":"eui64","dhcp-duid":"00:01"},"name":"e"}]}`,
			spellings: `[{"interfaces":[{"name":"e","ipv4":{"dhcp-client-id":"IAID+DUID"},"ipv6":{"addr-gen-mode":"EUI64","dhcp-duid":"00:01"}}]}]`,
		},
		"a key that is said by both of its names": {
			want:      `{"interfaces":[{"bridge":{"options":{"group-fwd-mask":3}},"name":"b","type":"linux-bridge"}]}`,
			spellings: `[{"interfaces":[{"name":"b","type":"linux-bridge","bridge":{"options":{"group-fwd-mask":3,"group-forward-mask":3}}}]}]`,
		},
		"what an interface of a type that nmstate only reports says": {
			want:      `{"interfaces":[{"ipv4":{"enabled":true},"name":"wg0","type":"wireguard"}]}`,
			spellings: `[{"interfaces":[{"name":"wg0","type":"wireguard","ipv4":{"enabled":"true"}}]}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, one := range append(parsedList(t, c.spellings), parsed(t, c.want).Tree()) {
				written := FromTree(object(one))
				read, err := ParseDesired(written.JSON())
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, string(Canonical(read).JSON())); diff != "" {
					t.Errorf("of %s (-want +got):\n%s", written.JSON(), diff)
				}
			}
		})
	}
}

func parsedList(t *testing.T, raw string) []any {
	t.Helper()
	return list(parsed(t, `{"all":`+raw+`}`).Tree()["all"])
}
