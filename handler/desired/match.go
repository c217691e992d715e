package desired

import (
	"fmt"
	"path"
	"slices"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Match selects the interfaces of a node's reported state for which all
// fields of any one rule hold: their names, sorted. What is protected belongs
// to somebody else and is never selected. The error names the rule whose
// pattern cannot be read.
func Match(rules []v1.InterfaceRule, current state.State, protected []string) ([]string, error) {
	for i, rule := range rules {
		if _, err := path.Match(rule.Name, ""); err != nil {
			return nil, fmt.Errorf("spec.match[%d].name: %q is no pattern; write it as in \"eth*\" or \"ens[1-4]f0\"", i, rule.Name)
		}
		if rule.LLDP == nil {
			continue
		}
		if _, err := path.Match(rule.LLDP.SystemName, ""); err != nil {
			return nil, fmt.Errorf("spec.match[%d].lldp.systemName: %q is no pattern; write it as in \"leaf-*\"", i, rule.LLDP.SystemName)
		}
	}
	var names []string
	for _, one := range current.Interfaces() {
		wanted := slices.ContainsFunc(rules, func(rule v1.InterfaceRule) bool { return selects(rule, one) })
		if wanted && one.Name != "" && protectedBy(one.Name, protected) == "" {
			names = append(names, one.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Joined are the interfaces that are selected now and were not when the policy was
// rendered: the NIC that was plugged in since, or whose neighbour is heard now. What a
// policy made is none, or a policy would select what it has made itself; nor is what
// others make all the time (taps, bridges of containers), unless a rule names its type.
// For what is made of neighbours only those count that have one.
func Joined(rules []v1.InterfaceRule, current, wanted state.State, before, protected []string, neighbours bool) ([]string, error) {
	names, err := Match(rules, current, protected)
	made, functions := state.Makes(wanted)
	if err != nil || functions {
		return nil, err
	}
	may := map[string]bool{}
	for _, one := range current.Interfaces() {
		may[one.Name] = may[one.Name] || mayJoin(rules, one) && (!neighbours || len(one.Neighbours()) > 0)
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.Contains(before, name) || made[name] || !may[name]
	}), nil
}

func mayJoin(rules []v1.InterfaceRule, one state.Interface) bool {
	if one.State == "ignore" {
		return false // NetworkManager leaves it alone: a container's, say.
	}
	switch strings.ToLower(one.Type) {
	case "ethernet", "veth", "infiniband":
		return true
	}
	return slices.ContainsFunc(rules, func(rule v1.InterfaceRule) bool { return rule.Type != "" && same(rule.Type, one.Type) })
}

func selects(rule v1.InterfaceRule, one state.Interface) bool {
	if !fits(rule.Name, one.Name) {
		return false
	}
	if rule.VLANID != nil {
		if id, is := one.VLANID(); !is || id != int64(*rule.VLANID) {
			return false
		}
	}
	if rule.LLDP != nil && !slices.ContainsFunc(one.Neighbours(), func(n state.Neighbour) bool { return announces(*rule.LLDP, n) }) {
		return false
	}
	address := one.PermanentMACAddress()
	if address == "" {
		address = one.MACAddress()
	}
	return same(rule.Type, one.Type) && same(rule.Driver, one.Driver()) &&
		same(rule.State, one.State) && same(hardware(rule.MACAddress), hardware(address))
}

func announces(rule v1.LLDPRule, neighbour state.Neighbour) bool {
	for _, id := range rule.VLANIDs {
		if !slices.Contains(neighbour.VLANs, int64(id)) {
			return false
		}
	}
	return same(rule.ChassisID, neighbour.ChassisID) && same(rule.PortID, neighbour.PortID) &&
		fits(rule.SystemName, neighbour.SystemName)
}

// fits and same hold for a field that the rule leaves out.
func fits(pattern, name string) bool {
	fit, err := path.Match(pattern, name)
	return pattern == "" || (err == nil && fit)
}

func same(wanted, found string) bool { return wanted == "" || strings.EqualFold(wanted, found) }

func hardware(address string) string { return strings.ReplaceAll(address, "-", ":") }
