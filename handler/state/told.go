package state

import (
	"slices"
	"strings"
)

// told is what of an interface the kernel or NetworkManager tell when it changes, whoever
// changes it, and whichever driver it has: there is an event for it (package observe).
var (
	toldSections = []string{"interfaces", "routes", "route-rules"}
	toldTypes    = []string{"ethernet", "linux-bridge", "bond", "vlan", "vxlan", "vrf", "dummy", "mac-vlan", "ipvlan"}
	toldKeys     = []string{"name", "type", "state", "mtu", "mac-address", "ipv4", "ipv6", "bridge", "link-aggregation", "vlan", "vxlan", "vrf", "mac-vlan", "ipvlan"}
	toldOfFamily = []string{"enabled", "dhcp", "autoconf", "address", "auto-dns", "auto-gateway", "auto-routes"}
)

// IsTold tells whether nothing that a change is about can have changed since a node was
// read without anybody having told of it. Of a database, of what a card's driver is asked
// (ethtool, SR-IOV), and of files nobody may tell; a node with Open vSwitch has one.
func IsTold(change, node State) bool {
	if len(object(node.tree["ovs-db"])) > 0 {
		return false
	}
	for _, one := range objects(node.tree["interfaces"]) {
		if strings.HasPrefix(text(one["type"]), "ovs-") {
			return false
		}
	}
	if !saysOnly(change.tree, toldSections) {
		return false
	}
	for _, one := range objects(change.tree["interfaces"]) {
		if !slices.Contains(toldTypes, text(one["type"])) || !saysOnly(one, toldKeys) {
			return false
		}
		if !saysOnly(object(one["ipv4"]), toldOfFamily) || !saysOnly(object(one["ipv6"]), toldOfFamily) {
			return false
		}
	}
	return true
}

func saysOnly(tree map[string]any, keys []string) bool {
	for key := range tree {
		if !slices.Contains(keys, key) {
			return false
		}
	}
	return true
}
