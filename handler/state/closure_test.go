package state_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// aggregate is what several policies together want.
const aggregate = `{"interfaces":[
 {"name":"eth1","type":"ethernet","mtu":1500},
 {"name":"eth2","type":"ethernet","controller":"bond0"},
 {"name":"bond0","type":"bond","link-aggregation":{"mode":"active-backup","port":["eth1","eth2"]}},
 {"name":"bond0.100","type":"vlan","vlan":{"base-iface":"bond0","id":100}},
 {"name":"br1","type":"linux-bridge","bridge":{"port":[{"name":"bond0.100"}]}},
 {"name":"eth3","type":"ethernet","ipv4":{"enabled":true,"address":[{"ip":"192.0.2.3","prefix-length":24}]}},
 {"name":"vrf0","type":"vrf","vrf":{"port":["eth4"],"route-table-id":100}},
 {"name":"eth4","type":"ethernet"},
 {"name":"br-ex","type":"ovs-bridge","bridge":{"port":[{"name":"br-ex"},{"name":"eth5"}]}},
 {"name":"br-ex","type":"ovs-interface","copy-mac-from":"eth5"},
 {"name":"eth5","type":"ethernet"}],
 "routes":{"config":[{"destination":"203.0.113.0/24","next-hop-interface":"eth3","next-hop-address":"192.0.2.1"},
  {"destination":"10.0.0.0/8","next-hop-interface":"eth4","next-hop-address":"192.0.2.1","table-id":100},
  {"state":"absent","destination":"10.9.0.0/16"}]},
 "route-rules":{"config":[{"ip-from":"192.0.2.0/24","route-table":100},{"iif":"eth3","action":"prohibit"}]},
 "dns-resolver":{"config":{"server":["192.0.2.53"]}},
 "hostname":{"config":"node1"}}`

type outline struct {
	Interfaces, Routes, Rules, Sections []string
}

func outlineOf(s state.State) outline {
	var found outline
	for _, one := range s.Interfaces() {
		found.Interfaces = append(found.Interfaces, one.Name)
	}
	for _, route := range s.Routes() {
		found.Routes = append(found.Routes, route.String())
	}
	for _, rule := range s.RouteRules() {
		found.Rules = append(found.Rules, rule.String())
	}
	for _, section := range []string{"dns-resolver", "hostname", "ovs-db", "ovn", "description"} {
		if _, there := s.Tree()[section]; there {
			found.Sections = append(found.Sections, section)
		}
	}
	return found
}

func TestPart(t *testing.T) {
	for name, test := range map[string]struct {
		changed []string
		want    outline
	}{
		"nothing": {},
		"an interface that stands alone brings its routes and rules": {
			changed: []string{"eth3"},
			want: outline{
				Interfaces: []string{"eth3"},
				Routes:     []string{"203.0.113.0/24 via 192.0.2.1 dev eth3"},
				Rules:      []string{"rule iif eth3 prohibit"},
			},
		},
		"a port brings its controller and the other ports": {
			changed: []string{"eth1"},
			want:    outline{Interfaces: []string{"eth1", "eth2", "bond0"}},
		},
		"a VLAN brings the bond below it and the bridge above it": {
			changed: []string{"bond0.100"},
			want:    outline{Interfaces: []string{"eth1", "eth2", "bond0", "bond0.100", "br1"}},
		},
		"a VRF brings its ports, their routes and the rules of its table": {
			changed: []string{"vrf0"},
			want: outline{
				Interfaces: []string{"vrf0", "eth4"},
				Routes:     []string{"10.0.0.0/8 via 192.0.2.1 dev eth4 table 100"},
				Rules:      []string{"rule from 192.0.2.0/24 lookup 100"},
			},
		},
		"an OVS bridge and the interface of the same name": {
			changed: []string{"br-ex"},
			want:    outline{Interfaces: []string{"br-ex", "br-ex", "eth5"}},
		},
		"an interface that is not in the document": {changed: []string{"eth9"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, outlineOf(state.Closure(parse(t, aggregate), test.changed))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDelta(t *testing.T) {
	to := parse(t, aggregate)
	for name, test := range map[string]struct {
		from state.State
		want outline
	}{
		"nothing changed": {from: to},
		"everything is new": {
			want: outlineOf(to),
		},
		"an interface changed": {
			from: changed(t, to, 9000, "interfaces", 5, "mtu"),
			want: outline{
				Interfaces: []string{"eth3"},
				Routes:     []string{"203.0.113.0/24 via 192.0.2.1 dev eth3"},
				Rules:      []string{"rule iif eth3 prohibit"},
			},
		},
		"a route is new": {
			from: changed(t, to, []any{to.Tree()["routes"].(map[string]any)["config"].([]any)[1], to.Tree()["routes"].(map[string]any)["config"].([]any)[2]}, "routes", "config"),
			want: outline{Routes: []string{"203.0.113.0/24 via 192.0.2.1 dev eth3"}},
		},
		"a rule is new": {
			from: changed(t, to, []any{to.Tree()["route-rules"].(map[string]any)["config"].([]any)[1]}, "route-rules", "config"),
			want: outline{Rules: []string{"rule from 192.0.2.0/24 lookup 100"}},
		},
		"a name server changed": {
			from: changed(t, to, []any{"192.0.2.54"}, "dns-resolver", "config", "server"),
			want: outline{Sections: []string{"dns-resolver"}},
		},
		"what is no longer wanted stays as it is": {
			from: changed(t, changed(t, to, map[string]any{"config": "x"}, "ovs-db"), "for people", "description"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, outlineOf(state.Delta(test.from, to))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestChangedInterfacesAndSections(t *testing.T) {
	to := parse(t, aggregate)
	from := changed(t, changed(t, to, 9000, "interfaces", 0, "mtu"), "node2", "hostname", "config")
	if diff := cmp.Diff([]string{"eth1"}, state.ChangedInterfaces(from, to)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"hostname", "interfaces"}, state.ChangedSections(from, to)); diff != "" {
		t.Error(diff)
	}
	same := changed(t, to, nil, "hostname")
	if sections := state.ChangedSections(to, same); len(sections) > 0 {
		t.Errorf("a section that is gone is not a change: %v", sections)
	}
}
