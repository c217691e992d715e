package state

import (
	"fmt"
	"slices"
	"strings"
)

// hardwareKeys are where a NIC shows the address that identifies it, the strongest first.
func hardwareKeys(identifier string) []string {
	switch identifier {
	case "mac-address":
		return []string{"permanent-mac-address", "mac-address"}
	case "pci-address":
		return []string{"pci-address"}
	}
	return nil
}

// hardwareOf is the address that identifies the interface; empty where its name does.
func hardwareOf(one Interface) (identifier, address string) {
	identifier = text(one.tree["identifier"])
	if len(hardwareKeys(identifier)) == 0 {
		return "", ""
	}
	return identifier, text(one.tree[identifier])
}

// byHardware finds the current interface with the address that identifies want. The exact
// name wins among several with that address.
func (c *comparison) byHardware(want Interface) (Interface, bool) {
	found := c.withAddress(want)
	if i := slices.IndexFunc(found, want.isCalled); i >= 0 {
		return found[i], true
	}
	if len(found) == 0 {
		return Interface{}, false
	}
	return found[0], true
}

// withAddress are the current interfaces with the address that identifies want. A NIC
// whose permanent address it is comes first: the others may only have been given it.
func (c *comparison) withAddress(want Interface) []Interface {
	identifier, address := hardwareOf(want)
	address = normalMAC(address)
	var found []Interface
	for _, key := range hardwareKeys(identifier) {
		for _, got := range c.all {
			if address != "" && !isVirtual(got.Type) && normalMAC(text(got.tree[key])) == address && !slices.ContainsFunc(found, got.isSame) {
				found = append(found, got)
			}
		}
	}
	return found
}

// mistakable are the current interfaces that want may mean, where that is more than one.
// A NIC that shows another permanent address was given this one (by its bond), and is none
// of them if one shows it as its own.
func (c *comparison) mistakable(want Interface) []Interface {
	found := c.withAddress(want)
	if slices.ContainsFunc(found, want.isCalled) {
		return nil
	}
	_, address := hardwareOf(want)
	own := func(i Interface) bool { return normalMAC(i.PermanentMACAddress()) == normalMAC(address) }
	if slices.ContainsFunc(found, own) {
		found = slices.DeleteFunc(found, func(i Interface) bool { return !own(i) && i.PermanentMACAddress() != "" })
	}
	if len(found) < 2 {
		return nil
	}
	return found
}

// isCalled tells whether a current interface has the interface's name, or its profile does.
func (i Interface) isCalled(got Interface) bool {
	return got.Name == i.Name || got.ProfileName == i.Name
}

func (i Interface) isSame(other Interface) bool { return i.Name == other.Name && i.Type == other.Type }

// Mistakable says why it is not clear which of the node's interfaces a change means, one line
// each. nmstate takes any NIC that has the address, and of two entries for one NIC it applies
// one and forgets the other. whole is the desired state with the change: what it has beside
// the change may call the same NIC otherwise, and is not the change's fault by itself.
func Mistakable(change, whole, current State) []string {
	c := newComparison(current)
	var lines []string
	changed := map[string]bool{}
	for _, one := range change.Interfaces() {
		changed[one.Name] = true
	}
	entries := map[string]string{}
	for _, want := range whole.Interfaces() {
		if !want.isUp() || isUserspace(want.Type) {
			continue
		}
		if found := c.mistakable(want); len(found) > 0 && changed[want.Name] {
			identifier, address := hardwareOf(want)
			lines = append(lines, fmt.Sprintf("interfaces[%s]: %s on this node all have the %s %s: name the one that is meant",
				want.Name, strings.Join(namesOf(found), " and "), identifier, address))
			continue
		}
		got, is := c.find(want)
		if !is || isVirtual(want.Type) && want.Type != got.Type {
			continue // It is to be made: only a profile has its name.
		}
		if other, twice := entries[got.Name]; twice && (changed[other] || changed[want.Name]) {
			lines = append(lines, fmt.Sprintf("interfaces[%s] and interfaces[%s] both mean %s of this node: use one name for it in all policies",
				min(other, want.Name), max(other, want.Name), got.Name)) // Whichever comes first in the document.
		}
		entries[got.Name] = want.Name
	}
	return lines
}

func namesOf(all []Interface) []string {
	var names []string
	for _, one := range all {
		names = append(names, one.Name)
	}
	slices.Sort(names)
	return names
}
