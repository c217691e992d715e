package nmstate

import (
	"testing"

	"github.com/godbus/dbus/v5"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestDuplicates(t *testing.T) {
	const static = `{"interfaces":[{"name":"eth2","type":"ethernet","ipv4":{"enabled":true,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}]}`
	const told = "eth2 does not come up with 192.0.2.1/24: most likely another host on its network has the address already; take one that is free"
	for sentence, test := range map[string]struct {
		desired string
		reasons map[string]uint32
		want    string
	}{
		"no device failed":                           {static, nil, ""},
		"a static address could not be configured":   {static, map[string]uint32{"eth2": reasonNoIPConfig}, told},
		"NetworkManager says duplicate":              {static, map[string]uint32{"eth2": reasonDuplicateAddress}, told},
		"it failed for another reason":               {static, map[string]uint32{"eth2": 4}, ""},
		"another interface failed":                   {static, map[string]uint32{"eth1": reasonNoIPConfig}, ""},
		"a DHCP server may be why":                   {`{"interfaces":[{"name":"eth2","ipv4":{"enabled":true,"dhcp":true}}]}`, map[string]uint32{"eth2": reasonNoIPConfig}, ""},
		"there is no address that could be a double": {`{"interfaces":[{"name":"eth2"}]}`, map[string]uint32{"eth2": reasonNoIPConfig}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			desired, err := state.Parse([]byte(test.desired))
			if err != nil {
				t.Fatal(err)
			}
			if got := duplicates(desired, test.reasons); got != test.want {
				t.Errorf("duplicates() = %q, want %q", got, test.want)
			}
		})
	}
}

func TestFailedDevice(t *testing.T) {
	signal := func(name string, body ...any) *dbus.Signal {
		return &dbus.Signal{Path: "/device/2", Name: name, Body: body}
	}
	for sentence, test := range map[string]struct {
		signal *dbus.Signal
		want   bool
	}{
		"a device failed":       {signal(deviceName+".StateChanged", uint32(deviceFailed), uint32(70), uint32(5)), true},
		"a device is activated": {signal(deviceName+".StateChanged", uint32(100), uint32(90), uint32(0)), false},
		"something else":        {signal(propertiesName+".PropertiesChanged", deviceName, map[string]dbus.Variant{}, []string{}), false},
		"not what it should be": {signal(deviceName+".StateChanged", "failed"), false},
		"no signal":             {nil, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if device, reason, is := failedDevice(test.signal); is != test.want || is && (device != "/device/2" || reason != 5) {
				t.Errorf("failedDevice() = %v, %v, %v", device, reason, is)
			}
		})
	}
}
