package desired

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// originals are what a node notes when it commits a document.
func originals(t *testing.T, committed, before string) state.Originals {
	t.Helper()
	return state.Originals{}.Remember(state.State{}, stateOf(t, committed), stateOf(t, before), nil)
}

func TestAPlanOfAnUndoHasTheValuesOfBefore(t *testing.T) {
	for name, test := range map[string]struct{ held, before, target, want string }{
		"an MTU": {
			`interfaces: [{name: eth1, mtu: 1500}]`, `interfaces: [{name: eth1, type: ethernet, state: up, mtu: 9000}]`, `{}`,
			"Reapply\neth1 Reapply (settings change)\n  mtu: 1500 -> 9000",
		},
		"an interface that was down": {
			`interfaces: [{name: eth2, state: up, mtu: 1500}]`, `interfaces: [{name: eth2, type: ethernet, state: down, mtu: 9000}]`, `{}`,
			"AddressLoss\neth2 AddressLoss (its configuration goes)\n  state: up -> down\n  mtu: 1500 -> 9000",
		},
		"an MTU that another policy sets too": {
			`interfaces: [{name: eth1, mtu: 1500}]`, `interfaces: [{name: eth1, type: ethernet, state: up, mtu: 9000}]`, `interfaces: [{name: eth1, mtu: 1500}]`,
			"None",
		},
		"an MTU that somebody has changed since": {
			`interfaces: [{name: eth1, mtu: 1400}]`, `interfaces: [{name: eth1, type: ethernet, state: up, mtu: 9000}]`, `{}`,
			"None",
		},
		"a VLAN that was not there": {
			`interfaces: [{name: eth2.7, type: vlan, state: up, vlan: {id: 7, base-iface: eth2}}]`, `interfaces: [{name: eth2, type: ethernet, state: up}]`, `{}`,
			"AddressLoss\neth2.7 AddressLoss (it is removed)\n  is removed",
		},
		"an address": {
			`interfaces: [{name: eth1, ipv4: {enabled: true, dhcp: false, address: [{ip: 203.0.113.10, prefix-length: 24}]}}]`,
			`interfaces: [{name: eth1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, address: [{ip: 203.0.113.9, prefix-length: 24}]}}]`, `{}`,
			"AddressLoss\neth1 AddressLoss (it loses 203.0.113.10/24)\n  ipv4.address: -> 203.0.113.9/24\n  ipv4.address: 203.0.113.10/24 ->",
		},
		"a name server": {
			`dns-resolver: {config: {server: [192.0.2.53]}}`, `dns-resolver: {config: {server: [192.0.2.1]}}`, `{}`,
			"Reapply\ndns-resolver.config.server: -> 192.0.2.1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			whole := Undone{Held: stateOf(t, test.held), All: stateOf(t, test.held), Originals: originals(t, test.held, test.before), Whole: true}
			got := Plan(stateOf(t, `{}`), stateOf(t, test.target), stateOf(t, plannedNode), whole)
			if diff := cmp.Diff(test.want, shownPlan(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsToldOfBefore(t *testing.T) {
	const committed = `{interfaces: [{name: eth1, mtu: 1400}, {name: br1, type: linux-bridge, state: up, mtu: 1500, bridge: {options: {stp: {enabled: false}}}}, {name: eth2, 802.1x: {identity: a, password: here}}], dns-resolver: {config: {server: [192.0.2.53]}}}`
	const before = `{interfaces: [{name: eth1, type: ethernet, state: up, mtu: 1500}, {name: eth2, type: ethernet, state: up, 802.1x: {identity: b, password: canary}}], dns-resolver: {config: {server: []}}}`
	all := originals(t, committed, before)
	told, omitted := TellBefore(all, v1.BeforeBytes)
	var lines []string
	for _, one := range told {
		lines = append(lines, one.Of+" "+string(one.Was.Raw)+" "+strings.Join(one.Unset, " "))
	}
	want := []string{
		`dns-resolver {"config":{"server":[]}} `,
		`interfaces[br1] {"state":"absent"} bridge.options.stp.enabled mtu`,
		`interfaces[eth1] {"mtu":1500,"state":"up"} `,
		`interfaces[eth2] {"802.1x":{"identity":"b","password":"(hidden)"},"state":"up"} `,
	}
	if diff := cmp.Diff(want, lines); diff != "" || omitted != 0 {
		t.Errorf("%d left out, -want +got:\n%s", omitted, diff)
	}
	if some, omitted := TellBefore(all, 100); len(some) != 2 || omitted != 2 {
		t.Errorf("within 100 bytes it tells %v and leaves out %d", some, omitted)
	}
	respelt := []v1.Before{{Of: "interfaces[eth1]", Was: v1.NewState([]byte(`{ "state": "up", "mtu": 1500 }`))}}
	if !SameBefore(told[2:3], respelt) || SameBefore(told, respelt) {
		t.Error("what the API server has spelt anew is taken for something else, or something else for it")
	}
	if whole, err := state.OriginalsOf(all.Parts()); err != nil || strings.ReplaceAll(string(whole.JSON()), "(hidden)", "canary") != string(all.JSON()) {
		t.Errorf("the parts come to %s, %v, want %s", whole.JSON(), err, all.JSON())
	}
	back, err := OriginalsOf(&v1.NodeNetworkStateStatus{Before: told})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"interfaces[eth1].mtu": "1500", "interfaces[br1].mtu": "", "dns-resolver.config.server[192.0.2.53]": "", "interfaces[eth2].802.1x.password": "(hidden)"} {
		if got, known := back.Before(state.ParsePath(path)); !known || got != want {
			t.Errorf("%s was %q, %v, want %q", path, got, known, want)
		}
	}
}
