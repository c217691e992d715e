package state

import "strings"

// Makes tells what interfaces a desired state makes, by name. Where it makes virtual
// functions it tells so instead: what these are called nobody knows before.
func Makes(desired State) (names map[string]bool, functions bool) {
	names = map[string]bool{}
	for _, one := range desired.Interfaces() {
		if one.IsAbsent() {
			continue
		}
		functions = functions || one.MakesVirtualFunctions()
		if one.Type != "" && !strings.EqualFold(one.Type, "ethernet") {
			names[one.Name] = true
		}
		if peer := one.Peer(); peer != "" {
			names[peer] = true
		}
	}
	return names, functions
}
