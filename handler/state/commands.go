package state

import (
	"fmt"
	"reflect"
	"strings"
)

// What of nmstate's schema has a node run something as root that the document brings
// along, and what becomes of it. Everything else configures what is on the node.
//
//	dispatch                    a script; refused unless allowed
//	ovs-db, dpdk-extra          may load a library (-d FILE) into ovs-vswitchd; refused unless allowed
//	libreswan                   a line break in a value would begin another setting of ipsec.conf,
//	                            such as leftupdown, which is a command; always refused
//
// Looked at and harmless: certificates of 802.1X and IPsec are paths and names of what is
// on the node; a driver is a hint to which interface is meant; the kernel loads its own
// modules for the types of interfaces; NetworkManager checks host names.

// dpdkExtra of other_config are arguments of DPDK's start.
const dpdkExtra = "dpdk-extra"

// CheckCommands refuses what the node would run as root, unless the installation
// allows it. The error names the place and the setting. What is committed already, from
// a time when it was allowed, is no reason to refuse everything else.
func CheckCommands(committed, desired State, allowed bool) error {
	refused := func(path Path, would string) error {
		return fmt.Errorf("%s is refused: %s; an administrator can allow it with --allow-commands of the handler and the controllers", path, would)
	}
	asked := func(s State) any { return object(object(s.tree["ovs-db"])[otherConfig])[dpdkExtra] }
	if extra := asked(desired); extra != nil && extra != asked(committed) && !allowed {
		return refused(Path{Section: "ovs-db", Leaf: otherConfig}.At(dpdkExtra), "Open vSwitch would load what it names, as root")
	}
	for _, one := range desired.Interfaces() {
		path := pathOf(one)
		if err := checkLibreswan(object(one.tree["libreswan"])); err != nil {
			return fmt.Errorf("%s.libreswan.%w", path, err)
		}
		if one.tree[dispatchKey] == nil {
			continue
		}
		before, _ := committed.Interface(one.Name)
		if !allowed && reflect.DeepEqual(before.tree[dispatchKey], one.tree[dispatchKey]) {
			continue
		}
		if !allowed {
			return refused(path.At(dispatchKey), "the node would run it as root")
		}
		if err := checkScripts(one); err != nil {
			return fmt.Errorf("%s: %w", path.At(dispatchKey), err)
		}
	}
	return nil
}

func checkLibreswan(settings map[string]any) error {
	for _, key := range sortedKeys(settings) {
		if strings.ContainsAny(text(settings[key]), "\r\n") {
			return fmt.Errorf("%s has a line break, which would begin another setting of Libreswan: write one line", key)
		}
	}
	return nil
}
