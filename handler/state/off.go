package state

// Off is a family of addresses that a state switches off on an interface.
type Off struct {
	Interface string
	Family    Family
}

// Off are the families that the state switches off on interfaces that keep a profile, be they
// down. One that is on and has neither addresses nor asks for any is off, too.
func (s State) Off() []Off {
	var found []Off
	for _, one := range s.Interfaces() {
		if one.State != "up" && one.State != "down" && one.State != "" {
			continue
		}
		for _, family := range []Family{IPv4, IPv6} {
			enabled, said := one.Enabled(family)
			addresses, listed := object(one.tree[string(family)])["address"].([]any)
			if said && (!enabled || listed && len(addresses) == 0 && !one.Dynamic(family)) {
				found = append(found, Off{one.Name, family})
			}
		}
	}
	return found
}
