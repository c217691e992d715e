package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Made are the interfaces of a desired state that its node does not have, and that
// are to be made: in the document's order.
func Made(wanted, current State) []Interface {
	there := names(current)
	var made []Interface
	for _, one := range wanted.Interfaces() {
		if one.isUp() && !there[one.Name] && isNamed(one) {
			made = append(made, one)
		}
	}
	return made
}

// Unknown are the references of a desired state to interfaces that are not there
// and that it does not make: neither nmstate nor NetworkManager can do anything with
// them, and NetworkManager tries for two minutes. What a virtual function is called
// is known only once it is there, so where there are to be any nothing is said.
func Unknown(wanted, current State) []Reference {
	all := wanted.Interfaces()
	there := names(current)
	peers := map[string]bool{}
	for _, one := range all {
		if one.MakesVirtualFunctions() {
			return nil
		}
		peers[one.Peer()] = true
	}
	for _, one := range all {
		if !one.isUp() {
			continue
		}
		if !isNamed(one) || isMade(one) || peers[one.Name] || strings.HasPrefix(one.Name, "sriov:") {
			there[one.Name], there[one.ProfileName] = true, true
		}
	}
	var found []Reference
	add := func(what, name string) {
		if name != "" && !there[name] {
			found = append(found, Reference{What: what, Name: name})
		}
	}
	for _, one := range all {
		if !one.isUp() {
			continue
		}
		add("", one.Name)
		one.refers(add)
		if identifier, address := hardwareOf(one); identifier != "" {
			add("interfaces["+one.Name+"]: "+identifier, normalMAC(address))
		}
	}
	for _, route := range objects(object(wanted.tree["routes"])["config"]) {
		if text(route["state"]) == "" {
			add(fmt.Sprintf("routes[%s]: next-hop-interface", text(route["destination"])), text(route["next-hop-interface"]))
		}
	}
	return found
}

// Reference is to an interface by its name.
type Reference struct {
	// What refers to it; empty for an entry of interfaces itself.
	What string
	Name string
}

func (r Reference) String() string {
	if r.What == "" {
		return "interfaces[" + r.Name + "]"
	}
	return r.What + " " + r.Name
}

// refers names what an interface stands on.
func (i Interface) refers(add func(what, name string)) {
	path := "interfaces[" + i.Name + "]: "
	switch i.Type {
	case "bond", "linux-bridge", "vrf":
		for _, port := range i.Ports() {
			add(path+"port", port)
		}
	}
	add(path+"base-iface", i.BaseInterface())
	add(path+"copy-mac-from", text(i.tree["copy-mac-from"]))
}

// isUp: nothing is said of the state where it is to be up.
func (i Interface) isUp() bool { return i.Name != "" && (i.State == "" || i.State == "up") }

// isNamed tells whether the interface is identified by its name.
func isNamed(i Interface) bool {
	by := text(i.tree["identifier"])
	return by == "" || by == "name"
}

// isMade tells whether nmstate makes an interface of this type where there is none.
func isMade(i Interface) bool {
	switch i.Type {
	case "", "ethernet", "veth":
		return i.Peer() != ""
	case "infiniband":
		return i.BaseInterface() != ""
	}
	return true
}

// MakesVirtualFunctions tells whether the interface says anything of the virtual
// functions of a NIC (SR-IOV).
func (i Interface) MakesVirtualFunctions() bool {
	return object(object(i.tree["ethernet"])["sr-iov"]) != nil
}

// names are all that a node's interfaces are called, and the addresses that identify NICs.
func names(current State) map[string]bool {
	found := map[string]bool{}
	for _, one := range current.Interfaces() {
		found[one.Name] = true
		if one.ProfileName != "" {
			found[one.ProfileName] = true
		}
		if !isVirtual(one.Type) {
			for _, key := range []string{"permanent-mac-address", "mac-address", "pci-address"} {
				if address := text(one.tree[key]); address != "" {
					found[normalMAC(address)] = true
				}
			}
		}
		for _, alias := range list(one.tree["alt-names"]) {
			if tree := object(alias); tree != nil {
				alias = tree["name"]
			}
			found[text(alias)] = true
		}
	}
	return found
}

// NamesOf are the interfaces that a report shows, but for the loopback, as a message
// lists them.
func NamesOf(current State) string {
	const most = 20
	shown := map[string]bool{}
	for _, one := range Report(current).Interfaces() {
		shown[one.Name] = one.Type != "loopback"
	}
	maps.DeleteFunc(shown, func(_ string, is bool) bool { return !is })
	all := slices.Sorted(maps.Keys(shown))
	if len(all) == 0 {
		return "none"
	}
	if len(all) > most {
		return strings.Join(all[:most], ", ") + fmt.Sprintf(" and %d more", len(all)-most)
	}
	return strings.Join(all, ", ")
}

// Has tells whether the node has an interface of each of these names.
func Has(current State, wanted []string) bool {
	there := names(current)
	return !slices.ContainsFunc(wanted, func(name string) bool { return !there[name] })
}

// Unmade is the message of an interface that the kernel cannot make.
func Unmade(i Interface) string {
	return fmt.Sprintf("interfaces[%s]: the kernel of this node cannot make interfaces of type %s (operation not supported); "+
		"give the node a kernel or module that can, or leave it out of the policy", i.Name, i.Type)
}
