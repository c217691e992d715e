package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// enough nodes have to agree before one of them is the odd one out.
const enough = 3

// Cable is an interface and the neighbour that LLDP has heard on it.
type Cable struct {
	Node      string  `json:"node"`
	Interface string  `json:"interface"`
	Neighbour string  `json:"neighbour,omitempty"`
	Chassis   string  `json:"chassis,omitempty"`
	Port      string  `json:"port,omitempty"`
	VLANs     []int64 `json:"vlans"`
	// Findings are what does not fit, one line each.
	Findings []string `json:"findings"`
}

// Cabling is what the neighbours of all nodes announce, beside what the nodes have and
// shall have.
func Cabling(states []v1.NodeNetworkState) ([]Cable, error) {
	all := []Cable{}
	for i := range states {
		cables, err := cablesOf(&states[i])
		if err != nil {
			return nil, err
		}
		all = append(all, cables...)
	}
	oddOnes(all)
	slices.SortFunc(all, func(a, b Cable) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Interface, b.Interface), cmp.Compare(a.Chassis, b.Chassis))
	})
	return all, nil
}

func cablesOf(nns *v1.NodeNetworkState) ([]Cable, error) {
	current, err := state.Parse(nns.Status.CurrentState.Raw)
	if err != nil {
		return nil, fmt.Errorf("reading what node %s reports: %w", nns.Name, err)
	}
	desired, err := state.Parse(nns.Spec.DesiredState.Raw)
	if err != nil {
		return nil, fmt.Errorf("reading the desired state of node %s: %w", nns.Name, err)
	}
	var cables []Cable
	for _, one := range current.Interfaces() {
		for _, n := range one.Neighbours() {
			cables = append(cables, Cable{
				Node: nns.Name, Interface: one.Name, Neighbour: cmp.Or(n.SystemName, n.ChassisID), Chassis: cmp.Or(n.ChassisID, n.SystemName), Port: n.PortID,
				VLANs: append([]int64{}, n.VLANs...), Findings: []string{},
			})
		}
	}
	// What is wanted comes first: it says more than what is there.
	interfaces := map[string]state.Interface{}
	var names []string
	for _, one := range slices.Concat(desired.Interfaces(), current.Interfaces()) {
		if _, is := interfaces[one.Name]; !is && !one.IsAbsent() {
			interfaces[one.Name] = one
			names = append(names, one.Name)
		}
	}
	owners := ownersOf(nns)
	for _, name := range names {
		vlans(cables, interfaces, interfaces[name], owners[name])
		legs(cables, interfaces[name])
	}
	return cables, nil
}

// vlans finds switch ports that do not carry a VLAN of the node. A neighbour that
// announces none at all says nothing.
func vlans(cables []Cable, interfaces map[string]state.Interface, one state.Interface, owners []string) {
	id, is := one.VLANID()
	if !is {
		return
	}
	by := ""
	if len(owners) > 0 {
		by = " (policy " + strings.Join(owners, ", ") + ")"
	}
	nics := below(interfaces, one.BaseInterface(), map[string]bool{})
	for i := range cables {
		if c := &cables[i]; nics[c.Interface] && len(c.VLANs) > 0 && !slices.Contains(c.VLANs, id) {
			c.Findings = append(c.Findings, fmt.Sprintf("VLAN %d of %s is not carried%s", id, one.Name, by))
		}
	}
}

// below are the interfaces that one stands on, itself among them.
func below(interfaces map[string]state.Interface, name string, found map[string]bool) map[string]bool {
	if found[name] {
		return found
	}
	found[name] = true
	for _, port := range interfaces[name].Ports() {
		below(interfaces, port, found)
	}
	for _, one := range interfaces {
		if controller, _ := one.Controller(); controller == name && name != "" {
			below(interfaces, one.Name, found)
		}
	}
	return found
}

// legs finds bonds that depend on one switch.
func legs(cables []Cable, bond state.Interface) {
	ports := bond.Ports()
	if bond.Type != "bond" || len(ports) < 2 {
		return
	}
	heard, chassis := map[string]bool{}, map[string]bool{}
	for _, c := range cables {
		if slices.Contains(ports, c.Interface) {
			heard[c.Interface], chassis[c.Chassis] = true, true
		}
	}
	if len(heard) < len(ports) || len(chassis) != 1 {
		return
	}
	for i := range cables {
		if c := &cables[i]; slices.Contains(ports, c.Interface) {
			c.Findings = append(c.Findings, fmt.Sprintf("all legs of %s end at %s", bond.Name, c.Neighbour))
		}
	}
}

// oddOnes finds nodes whose switch port carries other VLANs than that of most nodes, or
// whose cables are swapped.
func oddOnes(cables []Cable) {
	type key struct{ name, value string }
	carried, ended, nodes := map[key]int{}, map[key]int{}, map[string]int{}
	for _, c := range cables {
		carried[key{c.Interface, written(c.VLANs)}]++
		ended[key{c.Interface, c.Chassis}]++
		nodes[c.Interface]++
	}
	for i := range cables {
		c := &cables[i]
		for other, count := range carried {
			if other.name == c.Interface && other.value != written(c.VLANs) && count >= enough && 3*count >= 2*nodes[c.Interface] {
				c.Findings = append(c.Findings, fmt.Sprintf("carries VLANs %s, and %s of %d other nodes carries %s", cmp.Or(written(c.VLANs), "none"), c.Interface, count, cmp.Or(other.value, "none")))
			}
		}
		own := ended[key{c.Interface, c.Chassis}]
		for other, count := range ended {
			if other.value == c.Chassis && other.name != c.Interface && count >= enough && count > own && 3*count >= 2*nodes[other.name] {
				c.Findings = append(c.Findings, fmt.Sprintf("on the other nodes %s ends at %s: are the cables swapped?", other.name, c.Neighbour))
			}
		}
		slices.Sort(c.Findings)
	}
}

func written(vlans []int64) string {
	var all []string
	for _, id := range vlans {
		all = append(all, strconv.FormatInt(id, 10))
	}
	return strings.Join(all, ",")
}

// CablingTable is one line for each cable, and one below it for each finding.
func CablingTable(cables []Cable, paint Paint) []string {
	rows := [][]string{{"NODE", "INTERFACE", "NEIGHBOUR", "PORT", "VLANS"}}
	for _, c := range cables {
		rows = append(rows, []string{c.Node, c.Interface, cmp.Or(c.Neighbour, "-"), cmp.Or(c.Port, "-"), cmp.Or(written(c.VLANs), "-")})
	}
	table := columns(rows, func(_, _ int, text string) string { return text })
	lines := []string{table[0]}
	for i, c := range cables {
		lines = append(lines, table[i+1])
		for _, finding := range c.Findings {
			lines = append(lines, "  "+paint(Bad, finding))
		}
	}
	return lines
}
