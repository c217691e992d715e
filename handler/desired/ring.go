package desired

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// ringWarnings tells of bridges without STP that may close a ring, in which
// frames go round for ever. rendered names the bridges, target is what all
// policies of the node come to, current is what the node reports.
//
//	bridge br1 ── eth1 ── switch tor1
//	         └─── eth2 ──────┘
//
// Two ports are warned of where the node knows it: they hear the same switch by
// LLDP, or are the two ends of one veth pair. What it cannot know, such as
// cables behind switches that announce nothing, it does not guess.
func ringWarnings(rendered, target, current state.State) []string {
	var warnings []string
	for _, one := range rendered.Interfaces() {
		bridge, wanted := target.Interface(one.Name)
		if !wanted || bridge.IsAbsent() || !withoutSTP(bridge, current) {
			continue
		}
		ports := bridge.Ports()
		for i, first := range ports {
			for _, second := range ports[i+1:] {
				if why := joined(first, second, current); why != "" && !apart(bridge, first, second) {
					warnings = append(warnings, fmt.Sprintf(
						"%s has no STP, and its ports %s and %s %s: frames may go round for ever; enable bridge.options.stp, or take one of the ports out",
						bridge.Name, first, second, why))
				}
			}
		}
	}
	return warnings
}

// mayRing tells whether a rendering has a bridge that ringWarnings looks at.
func mayRing(rendered state.State) bool {
	return slices.ContainsFunc(rendered.Interfaces(), func(one state.Interface) bool {
		return one.Type == "linux-bridge" && len(one.Ports()) > 0
	})
}

// withoutSTP tells whether a Linux bridge is said to run no STP, or, where the
// policies do not say, reported to run none.
func withoutSTP(bridge state.Interface, current state.State) bool {
	if bridge.Type != "linux-bridge" {
		return false
	}
	enabled, said := bridge.STP()
	if is, there := current.Interface(bridge.Name); !said && there {
		enabled, said = is.STP()
	}
	return said && !enabled
}

// joined is why the node knows that two interfaces lead to one another.
func joined(first, second string, current state.State) string {
	one, known := current.Interface(first)
	other, knownToo := current.Interface(second)
	if !known || !knownToo {
		return ""
	}
	if one.Peer() == second && other.Peer() == first {
		return "are the two ends of one veth pair"
	}
	for _, heard := range one.Neighbours() {
		for _, heardToo := range other.Neighbours() {
			if heard.ChassisID != "" && strings.EqualFold(heard.ChassisID, heardToo.ChassisID) && !noVLANInCommon(heard, heardToo) {
				return fmt.Sprintf("hear the same switch %s by LLDP", cmp.Or(heard.SystemName, heard.ChassisID))
			}
		}
	}
	return ""
}

// noVLANInCommon tells of two ports of a switch that announce different VLANs:
// nothing goes from one to the other.
func noVLANInCommon(one, other state.Neighbour) bool {
	return len(one.VLANs) > 0 && len(other.VLANs) > 0 &&
		!slices.ContainsFunc(one.VLANs, func(id int64) bool { return slices.Contains(other.VLANs, id) })
}

// apart tells of ports that the bridge itself keeps apart: an access port has its
// VLAN only.
func apart(bridge state.Interface, first, second string) bool {
	one, isOne := bridge.AccessVLAN(first)
	other, isOther := bridge.AccessVLAN(second)
	return (isOne || isOther) && one != other
}
