package profiles

import (
	"bytes"
	"fmt"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// ZonesLeft tells of controllers that have taken the place of an interface in a zone of
// firewalld, one line each: theirs is another one, since no state can say it. Then other
// nodes may not reach this one any more (the kubelet, tunnels), while all that the node begins
// itself passes, and with it every probe.
func ZonesLeft(current state.State, before, trial Snapshot, devices []Device) []string {
	if !before.saysZones() { // So it mostly is, and nothing is parsed.
		return nil
	}
	var lines []string
	had, has := before.current(), trial.current()
	profileOf := map[string]string{}
	for _, d := range devices {
		profileOf[d.Name] = d.Profile
	}
	for _, d := range before.Devices {
		was := had[d.Profile]
		zone, wasPort := was.zone(), was.controller() != ""
		now, _ := current.Interface(d.Name)
		controller, _ := now.Controller()
		top, there := current.Interface(controller)
		if zone == "" || wasPort || !there || top.Type == "ovs-bridge" { // That one's addresses are on its internal port.
			continue
		}
		if is := has[profileOf[controller]].zone(); is != zone {
			lines = append(lines, fmt.Sprintf("interfaces[%s]: %s, whose place it takes, is in zone %q of firewalld, and it is not: that other nodes reach this one is not verified "+
				"(nmcli connection modify %[1]s connection.zone %[3]s)", controller, d.Name, zone))
		}
	}
	return lines
}

// saysZones is false where no file can say one.
func (s Snapshot) saysZones() bool {
	for _, file := range s.Files {
		if bytes.Contains(file.Content, []byte("zone")) {
			return true
		}
	}
	return false
}

// zone of firewalld that the profile puts its device in, empty for the default one.
func (k keyfile) zone() string { return k["connection"]["zone"] }
