package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCorrection(t *testing.T) {
	desired := parsed(t, `{"interfaces":[
		{"name":"br1","type":"linux-bridge","state":"up","mtu":1450,"bridge":{"port":[{"name":"eth1"}]}},
		{"name":"eth1","type":"ethernet","state":"up","mtu":1500},
		{"name":"eth2","type":"ethernet","state":"up","mtu":1400,"ipv4":{"enabled":true,"address":[{"ip":"192.0.2.9","prefix-length":24}]}}],
		"routes":{"config":[{"destination":"198.51.100.0/24","next-hop-interface":"eth2"},{"destination":"203.0.113.0/24","next-hop-interface":"eth2"}]},
		"dns-resolver":{"config":{"server":["192.0.2.53"]}}}`)
	for name, c := range map[string]struct {
		desired             string // Where it is not the one above.
		differences, others []Difference
		want                string
	}{
		"an interface comes with what hangs together with it": {
			differences: []Difference{{Path: ParsePath("interfaces[eth1].mtu"), Want: "1500", Got: "1400"}},
			want: `{"interfaces":[{"bridge":{"port":[{"name":"eth1"}]},"mtu":1450,"name":"br1","state":"up","type":"linux-bridge"},` +
				`{"mtu":1500,"name":"eth1","state":"up","type":"ethernet"}]}`,
		},
		"a port's MTU comes with its bond's, of which nobody says anything": {
			desired:     `{"interfaces":[{"name":"bond0","type":"bond","state":"up","link-aggregation":{"mode":"active-backup","port":["eth1","eth2"]}},{"name":"eth1","type":"ethernet","mtu":1500}]}`,
			differences: []Difference{{Path: ParsePath("interfaces[eth1].mtu"), Want: "1500", Got: "1320"}},
			want: `{"interfaces":[{"link-aggregation":{"mode":"active-backup","port":["eth1","eth2"]},"mtu":1500,"name":"bond0","state":"up","type":"bond"},` +
				`{"mtu":1500,"name":"eth1","type":"ethernet"}]}`,
		},
		"a bond keeps the MTU that is said": {
			desired:     `{"interfaces":[{"name":"bond0","type":"bond","state":"up","mtu":1400,"link-aggregation":{"port":["eth1"]}},{"name":"eth1","type":"ethernet","mtu":1500}]}`,
			differences: []Difference{{Path: ParsePath("interfaces[eth1].mtu"), Want: "1500", Got: "1400"}},
			want: `{"interfaces":[{"link-aggregation":{"port":["eth1"]},"mtu":1400,"name":"bond0","state":"up","type":"bond"},` +
				`{"mtu":1500,"name":"eth1","type":"ethernet"}]}`,
		},
		"a route comes alone": {
			differences: []Difference{{Path: ParsePath("routes.config"), Want: "198.51.100.0/24 dev eth2"}},
			want:        `{"routes":{"config":[{"destination":"198.51.100.0/24","next-hop-interface":"eth2"}]}}`,
		},
		"another section comes whole": {
			differences: []Difference{{Path: ParsePath("dns-resolver.config.server"), Want: "192.0.2.53"}},
			want:        `{"dns-resolver":{"config":{"server":["192.0.2.53"]}}}`,
		},
		"what is only reported is left out": {
			differences: []Difference{{Path: ParsePath("interfaces[eth2].ipv4.address"), Want: "192.0.2.9/24"}},
			others: []Difference{
				{Path: ParsePath("interfaces[eth2].mtu"), Want: "1400", Got: "1500"}, {Path: ParsePath("routes.config"), Want: "198.51.100.0/24 dev eth2"},
				{Path: ParsePath("interfaces[eth1]"), Want: wholeInterface},
			},
			want: `{"interfaces":[{"ipv4":{"address":[{"ip":"192.0.2.9","prefix-length":24}],"enabled":true},"name":"eth2","state":"up","type":"ethernet"}],` +
				`"routes":{"config":[{"destination":"203.0.113.0/24","next-hop-interface":"eth2"}]}}`,
		},
		"an object of which nothing is left goes, too": {
			desired:     `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":1400,"lldp":{"enabled":true}}]}`,
			differences: []Difference{{Path: ParsePath("interfaces[eth1].mtu"), Want: "1400", Got: "1500"}},
			others:      []Difference{{Path: ParsePath("interfaces[eth1].lldp.enabled"), Want: "true", Got: "false"}},
			want:        `{"interfaces":[{"mtu":1400,"name":"eth1","state":"up","type":"ethernet"}]}`,
		},
		"an OVS bridge is put right, and what is only reported of it is left out": {
			desired:     `{"interfaces":[{"name":"br0","type":"ovs-bridge","state":"up","bridge":{"options":{"fail-mode":"secure","rstp":true},"port":[{"name":"br0"}]}},{"name":"br0","type":"ovs-interface","state":"up"},{"name":"br9","type":"ovs-bridge","state":"up"}]}`,
			differences: []Difference{{Path: ParsePath("interfaces[br0 ovs-bridge].bridge.options.rstp"), Want: "true", Got: "false"}},
			others:      []Difference{{Path: ParsePath("interfaces[br0 ovs-bridge].bridge.options.fail-mode"), Want: "secure", Got: "standalone"}},
			want: `{"interfaces":[{"bridge":{"options":{"rstp":true},"port":[{"name":"br0"}]},"name":"br0","state":"up","type":"ovs-bridge"},` +
				`{"name":"br0","state":"up","type":"ovs-interface"}]}`,
		},
		"no difference is nothing to apply": {want: `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			desired := desired
			if c.desired != "" {
				desired = parsed(t, c.desired)
			}
			if diff := cmp.Diff(c.want, string(Correction(desired, c.differences, c.others).JSON())); diff != "" {
				t.Fatalf("correction (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSubject(t *testing.T) {
	for path, want := range map[string]string{
		"interfaces[eth1.100].ipv4.address": "interfaces[eth1.100]",
		"interfaces[br1]":                   "interfaces[br1]",
		"routes.config":                     "routes",
		"dns-resolver.config.server":        "dns-resolver",
	} {
		if got := ParsePath(path).Subject().String(); got != want {
			t.Errorf("subject of %s = %s, want %s", path, got, want)
		}
	}
}
