package profiles

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func parsedState(t *testing.T, document string) state.State {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	s, err := state.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatAChangeWantsUpIsActivated(t *testing.T) {
	const (
		plain  = "interfaces: [{name: eth2, type: ethernet, state: up}]"
		dhcp   = "interfaces: [{name: eth2, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}]"
		secure = "interfaces: [{name: eth2, type: ethernet, state: up, 802.1x: {identity: node1, eap-methods: [tls]}}]"
	)
	at := func(s DeviceState) Device { return Device{Name: "eth2", State: s} }
	for name, c := range map[string]struct {
		desired, current             string
		device                       Device
		lacking, waiting, unverified string
	}{
		"it is activated":                               {desired: plain, device: at(Active)},
		"it is disconnected":                            {desired: plain, device: at(Disconnected), lacking: "interfaces[eth2]: NetworkManager has it disconnected, not activated"},
		"it has failed":                                 {desired: plain, device: at(Failed), lacking: "interfaces[eth2]: NetworkManager has it failed, not activated"},
		"it is being activated":                         {desired: plain, device: at(50), lacking: "interfaces[eth2]: NetworkManager has it activating, not activated"},
		"it waits for secrets":                          {desired: plain, device: at(NeedsAuth), lacking: "interfaces[eth2]: NetworkManager has it waiting for secrets, not activated"},
		"it is unavailable for another reason":          {desired: plain, device: at(Unavailable), lacking: "interfaces[eth2]: NetworkManager has it unavailable, not activated"},
		"it waits for a lease":                          {desired: dhcp, device: at(GettingIP), waiting: "interfaces[eth2]: it waits for a lease or a router advertisement"},
		"it waits for an address that nobody leases":    {desired: plain, device: at(GettingIP), lacking: "interfaces[eth2]: NetworkManager has it waiting for an address, not activated"},
		"it has no carrier":                             {desired: plain, device: Device{Name: "eth2", State: Unavailable, NoCarrier: true}, unverified: "interfaces[eth2]: it has no carrier, so that it works is not verified"},
		"it is activated without a carrier":             {desired: plain, device: Device{Name: "eth2", State: Active, NoCarrier: true}},
		"NetworkManager does not manage it":             {desired: plain, device: at(Unmanaged), unverified: "interfaces[eth2]: NetworkManager does not manage it, so that it works is not verified"},
		"NetworkManager does not have it":               {desired: plain, device: Device{Name: "eth1"}, unverified: "interfaces[eth2]: NetworkManager has no such device, so that it works is not verified"},
		"802.1X ends without a supplicant":              {desired: secure, device: at(Disconnected), lacking: "interfaces[eth2]: NetworkManager has it disconnected, not activated (802.1X: look whether wpa_supplicant runs on the node, and whether the switch lets it in)"},
		"nothing is said of its state":                  {desired: "interfaces: [{name: eth2, type: ethernet}]", device: at(Disconnected), lacking: "interfaces[eth2]: NetworkManager has it disconnected, not activated"},
		"it is to be down":                              {desired: "interfaces: [{name: eth2, type: ethernet, state: down}]", device: at(Disconnected)},
		"it is to go":                                   {desired: "interfaces: [{name: eth2, type: bond, state: absent}]", device: at(Disconnected)},
		"it is ignored":                                 {desired: "interfaces: [{name: eth2, type: ethernet, state: ignore}]", device: at(Disconnected)},
		"it is of Open vSwitch, whose database is read": {desired: "interfaces: [{name: eth2, type: ovs-bridge, state: up}]", device: at(Disconnected)},
		"it is identified by its MAC address": {
			desired: "interfaces: [{name: uplink, type: ethernet, state: up}]", current: "interfaces: [{name: eth2, profile-name: uplink}]",
			device: at(Disconnected), lacking: "interfaces[uplink]: NetworkManager has it disconnected, not activated"},
	} {
		t.Run(name, func(t *testing.T) {
			current := c.current
			if current == "" {
				current = "interfaces: [{name: eth2}]"
			}
			got := Activated(parsedState(t, c.desired), parsedState(t, current), []Device{c.device})
			lines := []string{strings.Join(got.Lacking, "; "), strings.Join(got.Waiting, "; "), strings.Join(got.Unverified, "; ")}
			if diff := cmp.Diff([]string{c.lacking, c.waiting, c.unverified}, lines); diff != "" {
				t.Errorf("what is lacking, waits, or is not verified differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsInactiveAndWhatWaitsForACable(t *testing.T) {
	const (
		plain = "interfaces: [{name: eth2, type: ethernet, state: up}]"
		on    = "interfaces: [{name: eth2, type: ethernet, state: up}, {name: v3, type: vlan, vlan: {base-iface: v2}}, {name: v2, type: vlan, vlan: {base-iface: eth2}}]"
		out   = "eth2 v2 v3"
	)
	at := func(s DeviceState) Device { return Device{Name: "eth2", State: s} }
	without := func(s DeviceState) Device { return Device{Name: "eth2", State: s, NoCarrier: true} }
	for name, c := range map[string]struct {
		desired, current    string
		device              Device
		inactive, unplugged string
	}{
		"it is activated":                         {desired: plain, device: at(Active)},
		"somebody has disconnected it":            {desired: plain, device: at(Disconnected), inactive: "interfaces[eth2].state: is disconnected in NetworkManager, should be up"},
		"it has failed":                           {desired: plain, device: at(Failed), inactive: "interfaces[eth2].state: is failed in NetworkManager, should be up"},
		"it is unavailable, and not for a cable":  {desired: plain, device: at(Unavailable), inactive: "interfaces[eth2].state: is unavailable in NetworkManager, should be up"},
		"it is being activated":                   {desired: plain, device: at(50)},
		"it waits for secrets":                    {desired: plain, device: at(NeedsAuth)},
		"it waits for an address":                 {desired: plain, device: at(GettingIP)},
		"it is being deactivated":                 {desired: plain, device: at(110)},
		"NetworkManager does not manage it":       {desired: plain, device: at(Unmanaged)},
		"NetworkManager does not have it":         {desired: plain, device: Device{Name: "eth1", State: Disconnected}},
		"its cable is out":                        {desired: on, device: without(Unavailable), unplugged: out},
		"its cable is out, and it was let go":     {desired: on, device: without(Disconnected), unplugged: out},
		"its cable is out, and it is still held":  {desired: on, device: without(Active)},
		"its cable was never in, and it is tried": {desired: on, device: without(GettingIP)},
		"the cable is out of what only a VLAN of the state stands on": {
			desired: "interfaces: [{name: v2, type: vlan, vlan: {base-iface: eth2}}]", device: without(Unavailable), unplugged: "eth2 v2"},
		"it is to be down":                      {desired: "interfaces: [{name: eth2, type: ethernet, state: down}]", device: at(Disconnected)},
		"it is to be down, without a cable":     {desired: "interfaces: [{name: eth2, type: ethernet, state: down}]", device: without(Unavailable)},
		"it is to go":                           {desired: "interfaces: [{name: eth2, type: bond, state: absent}]", device: at(Disconnected)},
		"a bridge of Open vSwitch has its name": {desired: "interfaces: [{name: eth2, type: ovs-bridge, state: up}]", device: at(Disconnected)},
		"it is identified by its MAC address": {
			desired: "interfaces: [{name: uplink, type: ethernet, state: up}]", current: "interfaces: [{name: eth2, profile-name: uplink}]",
			device: at(Disconnected), inactive: "interfaces[uplink].state: is disconnected in NetworkManager, should be up"},
		"it is identified by its MAC address, without a cable": {
			desired: "interfaces: [{name: uplink, type: ethernet, state: up}]", current: "interfaces: [{name: eth2, profile-name: uplink}]",
			device: without(Unavailable), unplugged: "eth2 uplink"},
	} {
		t.Run(name, func(t *testing.T) {
			current := c.current
			if current == "" {
				current = "interfaces: [{name: eth2}]"
			}
			desired, is := parsedState(t, c.desired), parsedState(t, current)
			var lines []string
			for _, d := range Inactive(desired, is, []Device{c.device}) {
				lines = append(lines, d.String())
			}
			unplugged := strings.Join(slices.Sorted(maps.Keys(Unplugged(desired, is, []Device{c.device}))), " ")
			if diff := cmp.Diff([]string{c.inactive, c.unplugged}, []string{strings.Join(lines, "; "), unplugged}); diff != "" {
				t.Errorf("what is inactive, or waits for a cable, differs (-want +got):\n%s", diff)
			}
		})
	}
}
