package view

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Interface is an interface of a node as the node last reported it.
type Interface struct {
	Node       string   `json:"node"`
	Name       string   `json:"name"`
	Type       string   `json:"type,omitempty"`
	State      string   `json:"state,omitempty"`
	MTU        int64    `json:"mtu,omitempty"`
	MAC        string   `json:"mac,omitempty"`
	Controller string   `json:"controller,omitempty"`
	Addresses  []string `json:"addresses"`
	// Policies that set anything of it.
	Policies []string `json:"policies"`
	// Neighbours that LLDP has heard, such as "tor-a port swp7".
	Neighbours []string `json:"neighbours,omitempty"`
}

// Interfaces are those of the report, in its order.
func Interfaces(nns *v1.NodeNetworkState) ([]Interface, error) {
	current, err := state.Parse(nns.Status.CurrentState.Raw)
	if err != nil {
		return nil, fmt.Errorf("reading what node %s reports: %w", nns.Name, err)
	}
	owners := ownersOf(nns)
	var all []Interface
	for _, one := range current.Interfaces() {
		mtu, _ := one.MTU()
		controller, _ := one.Controller()
		shown := Interface{
			Node: nns.Name, Name: one.Name, Type: one.Type, State: one.State, MTU: mtu, MAC: one.MACAddress(), Controller: controller,
			Addresses: []string{}, Policies: []string{},
		}
		shown.Addresses = append(append(shown.Addresses, one.Addresses(state.IPv4)...), one.Addresses(state.IPv6)...)
		shown.Policies = append(shown.Policies, owners[one.Name]...)
		for _, n := range one.Neighbours() {
			shown.Neighbours = append(shown.Neighbours, strings.TrimSuffix(cmp.Or(n.SystemName, n.ChassisID)+" port "+n.PortID, " port "))
		}
		all = append(all, shown)
	}
	return all, nil
}

// ownersOf are the policies that set something of an interface, by its name, in their
// order.
func ownersOf(nns *v1.NodeNetworkState) map[string][]string {
	owners := map[string][]string{}
	for _, source := range nns.Spec.Sources {
		before := ""
		for _, path := range source.Paths {
			if name := state.ParsePath(path).Interface; name != "" && name != before {
				before = name
				if have := owners[name]; len(have) == 0 || have[len(have)-1] != source.Policy {
					owners[name] = append(have, source.Policy)
				}
			}
		}
	}
	return owners
}

// InterfaceTable is one line for each.
func InterfaceTable(found []Interface) []string {
	rows := [][]string{{"NODE", "INTERFACE", "TYPE", "STATE", "MTU", "MAC", "ADDRESSES", "POLICIES"}}
	for _, one := range found {
		mtu := ""
		if one.MTU > 0 {
			mtu = strconv.FormatInt(one.MTU, 10)
		}
		row := []string{one.Node, one.Name, one.Type, one.State, mtu, one.MAC, strings.Join(one.Addresses, ","), strings.Join(one.Policies, ",")}
		for i := range row {
			row[i] = cmp.Or(row[i], "-")
		}
		rows = append(rows, row)
	}
	return columns(rows, func(_, _ int, text string) string { return text })
}
