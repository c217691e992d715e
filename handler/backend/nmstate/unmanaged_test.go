package nmstate

import (
	"fmt"
	"testing"

	"github.com/godbus/dbus/v5"

	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

const bridgeOverEth1 = `{"interfaces":[{"name":"br1","type":"linux-bridge","bridge":{"port":[{"name":"eth1"}]}}]}`

func TestRefuseLeftAlone(t *testing.T) {
	const eth1Refused = "interfaces[eth1]: NetworkManager is configured to leave it alone on this node, and no profile changes that; " +
		"take it out of unmanaged-devices below /etc/NetworkManager and out of /etc/network/interfaces, whichever has it"
	strict := known{Device: profiles.Device{State: profiles.Unmanaged}, reason: reasonUserSettings}
	for sentence, test := range map[string]struct {
		desired string
		eth1    known
		want    string
	}{
		"an interface that is to be up": {`{"interfaces":[{"name":"eth1","type":"ethernet"}]}`, strict, eth1Refused},
		"a port":                        {bridgeOverEth1, strict, eth1Refused},
		"one that is to be absent needs no profile":                     {`{"interfaces":[{"name":"eth1","state":"absent"}]}`, strict, ""},
		"another interface":                                             {`{"interfaces":[{"name":"eth2","type":"ethernet"}]}`, strict, ""},
		"an activation manages what somebody has set unmanaged for now": {bridgeOverEth1, known{Device: strict.Device, reason: 75}, ""},
		"an older NetworkManager gives no reason":                       {bridgeOverEth1, known{Device: strict.Device}, ""},
		"it is managed again":                                           {bridgeOverEth1, known{Device: profiles.Device{State: profiles.Disconnected}, reason: reasonUserSettings}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := refuseLeftAlone(parsed(t, test.desired), map[string]known{"eth1": test.eth1})
			if got := fmt.Sprint(err); got != test.want && (err != nil || test.want != "") {
				t.Errorf("refuseLeftAlone() = %v, want %q", err, test.want)
			}
		})
	}
}

func TestRefuseReadOnly(t *testing.T) {
	devices := map[string]known{"eth1": {readOnly: true}, "eth2": {}}
	for desired, want := range map[string]bool{
		bridgeOverEth1: true,
		`{"interfaces":[{"name":"eth1","mtu":1400}]}`:       true,
		`{"interfaces":[{"name":"eth1","state":"absent"}]}`: false,
		`{"interfaces":[{"name":"eth2","mtu":1400}]}`:       false,
		`{"routes":{"config":[{"destination":"198.51.100.0/24","next-hop-interface":"eth1","next-hop-address":"192.0.2.9"}]}}`: true,
	} {
		if err := refuseReadOnly(parsed(t, desired), devices); (err != nil) != want {
			t.Errorf("%s: %v", desired, err)
		}
	}
}

func TestWaitsInVain(t *testing.T) {
	all := func(profileCount int, states map[string]profiles.DeviceState) objects {
		made := objects{}
		for i := range profileCount {
			made[dbus.ObjectPath(fmt.Sprintf("/settings/%d", i))] = map[string]map[string]dbus.Variant{connectionName: {}}
		}
		for name, at := range states {
			made[dbus.ObjectPath("/devices/"+name)] = map[string]map[string]dbus.Variant{deviceName: {
				"Interface": dbus.MakeVariant(name), "Real": dbus.MakeVariant(true), "State": dbus.MakeVariant(uint32(at)),
			}}
		}
		return made
	}
	unmanaged := map[string]profiles.DeviceState{"eth1": profiles.Unmanaged, "br1": profiles.Disconnected}
	for sentence, test := range map[string]struct {
		first, second objects
		want          bool
	}{
		"nothing moves, and a port is unmanaged":             {all(2, unmanaged), all(2, unmanaged), true},
		"profiles are still being made":                      {all(1, unmanaged), all(2, unmanaged), false},
		"one of them is being activated":                     {all(2, unmanaged), all(2, map[string]profiles.DeviceState{"eth1": profiles.Unmanaged, "br1": profiles.GettingIP}), false},
		"all of them are managed":                            {all(2, nil), all(2, map[string]profiles.DeviceState{"eth1": profiles.Active, "br1": profiles.Active}), false},
		"an interface that is none of the change's may wait": {all(2, nil), all(2, map[string]profiles.DeviceState{"eth1": profiles.Active, "veth1": profiles.Unmanaged}), false},
		"NetworkManager says that somebody's hand is why":    {withReason(all(2, unmanaged), 75), withReason(all(2, unmanaged), 75), false},
		"NetworkManager says that its configuration is why":  {withReason(all(2, unmanaged), reasonUserSettings), withReason(all(2, unmanaged), reasonUserSettings), true},
		"no device is there":                                 {all(2, nil), all(2, nil), false},
	} {
		t.Run(sentence, func(t *testing.T) {
			names := toActivate(parsed(t, bridgeOverEth1))
			var w waiting
			if err := w.inVain(names, test.first); err != nil {
				t.Errorf("the first look: %v", err)
			}
			if err := w.inVain(names, test.second); (err != nil) != test.want {
				t.Errorf("the second look: %v, want an error: %v", err, test.want)
			}
		})
	}
}

// withReason has all devices tell the reason for their state.
func withReason(all objects, reason uint32) objects {
	for path := range all {
		if device := all[path][deviceName]; device != nil {
			device["StateReason"] = dbus.MakeVariant([]any{uint32(0), reason})
		}
	}
	return all
}
