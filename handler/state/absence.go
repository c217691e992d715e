package state

// SpellOutAbsence says what the absence of interfaces means for others: their
// ports are let go, and what stands on them goes with them. nmstate adds this
// by itself when it writes profiles to disk, but not in its memory-only mode,
// in which absent interfaces are merely down.
func SpellOutAbsence(desired, current State) State {
	interfaces := desired.Interfaces()
	added := false
	at, gone, taken := map[string]int{}, map[string]bool{}, map[string]bool{}
	for i, one := range interfaces {
		at[one.Name] = i
		gone[one.Name] = one.IsAbsent()
		if !one.IsAbsent() {
			for _, port := range one.Ports() {
				taken[port] = true
			}
		}
	}
	add := func(one Interface, tree map[string]any) {
		tree["name"], tree["type"] = one.Name, one.Type
		at[one.Name] = len(interfaces)
		interfaces = append(interfaces, interfaceOf(tree))
		added = true
	}
	// What stands on an interface may carry others, so until nothing is new.
	for again := true; again; {
		again = false
		for _, one := range current.Interfaces() {
			if _, named := at[one.Name]; named || !one.falls(gone, current) {
				continue
			}
			add(one, map[string]any{"state": "absent"})
			gone[one.Name], again = true, true
		}
	}
	for _, one := range current.Interfaces() {
		controller, _ := one.Controller()
		if controller == "" || !gone[controller] || gone[one.Name] || taken[one.Name] {
			continue
		}
		i, named := at[one.Name]
		if !named {
			add(one, map[string]any{"state": "up", "controller": ""})
			continue
		}
		if _, said := interfaces[i].Controller(); !said {
			tree := interfaces[i].Tree()
			tree["controller"] = ""
			interfaces[i], added = interfaceOf(tree), true
		}
	}
	if !added {
		return desired
	}
	tree := desired.Tree()
	list := make([]any, 0, len(interfaces))
	for _, one := range interfaces {
		list = append(list, one.Tree())
	}
	tree["interfaces"] = list
	return FromTree(tree)
}

// falls tells an interface that cannot be without one that goes. A VLAN stays
// on an Ethernet interface that has no profile any more.
func (i Interface) falls(gone map[string]bool, current State) bool {
	if controller, _ := i.Controller(); i.Type == "ovs-interface" && gone[controller] {
		return true
	}
	if peer, there := current.Interface(i.Peer()); there && gone[peer.Name] && peer.Peer() == i.Name {
		return true // Of a veth pair; its profile would make both again at the next boot.
	}
	base, there := current.Interface(i.BaseInterface())
	return there && gone[base.Name] && base.Type != "ethernet"
}
