package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/graph"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const (
	// fewVeths are so many veths with the same controller that are still drawn one by one.
	fewVeths = 3
	// shownAddresses of an interface are drawn.
	shownAddresses = 3
)

// Topology is a node's network as a drawing: neighbours, NICs, and what stands on them,
// each with its addresses, the policies that set it, and its drift. Veths that nobody
// manages, as pods have them, are one box for each bridge. link leads to what there is
// to read of an interface; nil for nowhere.
func Topology(nns *v1.NodeNetworkState, link func(name string) string) (graph.Graph, error) {
	current, err := state.Parse(nns.Status.CurrentState.Raw)
	if err != nil {
		return graph.Graph{}, fmt.Errorf("reading what node %s reports: %w", nns.Name, err)
	}
	desired, err := state.Parse(nns.Spec.DesiredState.Raw)
	if err != nil {
		return graph.Graph{}, fmt.Errorf("reading the desired state of node %s: %w", nns.Name, err)
	}
	t := topology{nns: nns, owners: ownersOf(nns), routes: current.RunningRoutes(), link: link, g: graph.Graph{Title: titleOf(nns)}}
	folded := t.fold(current.Interfaces())
	t.neighbours(current.Interfaces())
	for _, one := range current.Interfaces() {
		if t.hides(one) || folded[one.Name] != "" {
			continue
		}
		t.add(one, "")
	}
	for _, one := range desired.Interfaces() {
		if one.WantedUp() && !t.has(one) {
			t.add(one, "is not there")
		}
	}
	t.cut()
	t.foldedNodes(folded)
	for _, one := range slices.Concat(current.Interfaces(), desired.Interfaces()) {
		t.connect(one)
	}
	return t.g, nil
}

type topology struct {
	nns    *v1.NodeNetworkState
	owners map[string][]string
	routes []state.Route
	link   func(string) string
	g      graph.Graph
}

func titleOf(nns *v1.NodeNetworkState) string {
	title := nns.Name
	if t := nns.Status.Transaction; t.IsUnderWay() {
		title += "  " + join(t.Phase, t.Policy)
	}
	for _, drift := range nns.Status.Drift {
		if state.ParsePath(drift.Path).Section != "interfaces" {
			title += fmt.Sprintf("  drift: %s is %s, not %s", drift.Path, cmp.Or(drift.Found, "gone"), cmp.Or(drift.Expected, "there"))
		}
	}
	return title
}

// idOf tells an Open vSwitch bridge from the interface of the same name.
func idOf(one state.Interface) string {
	if one.Type == "ovs-bridge" {
		return one.Name + " ovs-bridge"
	}
	return one.Name
}

func (t *topology) at(id string) int {
	return slices.IndexFunc(t.g.Nodes, func(n graph.Node) bool { return n.ID == id })
}

func (t *topology) has(one state.Interface) bool { return t.at(idOf(one)) >= 0 }

// hides tells a loopback that nobody has set.
func (t *topology) hides(one state.Interface) bool {
	return one.Type == "loopback" && len(t.owners[one.Name]) == 0
}

// fold tells the veths that are drawn together, by their controller.
func (t *topology) fold(all []state.Interface) map[string]string {
	count, of := map[string]int{}, map[string]string{}
	for _, one := range all {
		controller, _ := one.Controller()
		own := len(one.Addresses(state.IPv4)) > 0 || len(t.owners[one.Name]) > 0 || len(one.Neighbours()) > 0
		if one.Type == "veth" && !own {
			controller = cmp.Or(controller, "-")
			count[controller]++
			of[one.Name] = controller
		}
	}
	for name, controller := range of {
		if count[controller] <= fewVeths {
			delete(of, name)
		}
	}
	return of
}

func (t *topology) foldedNodes(folded map[string]string) {
	count := map[string]int{}
	for _, controller := range folded {
		count[controller]++
	}
	var controllers []string
	for controller := range count {
		controllers = append(controllers, controller)
	}
	slices.Sort(controllers)
	for _, controller := range controllers {
		id := "veths of " + controller
		t.g.Nodes = append(t.g.Nodes, graph.Node{ID: id, Kind: graph.Folded, Tone: graph.Faint, Lines: []string{fmt.Sprintf("%d veths", count[controller]), "of pods and the like"}})
		if to := t.controllerAt(controller); to >= 0 {
			t.g.Edges = append(t.g.Edges, graph.Edge{From: id, To: t.g.Nodes[to].ID})
		}
	}
}

// controllerAt finds a controller by its name.
func (t *topology) controllerAt(name string) int {
	if at := t.at(name + " ovs-bridge"); at >= 0 {
		return at
	}
	return t.at(name)
}

// neighbours adds what LLDP has heard: each chassis once.
func (t *topology) neighbours(all []state.Interface) {
	for _, one := range all {
		for _, n := range one.Neighbours() {
			id := neighbourID(n)
			if t.at(id) < 0 {
				lines := []string{cmp.Or(n.SystemName, n.ChassisID, "a neighbour")}
				if n.ChassisID != "" && n.ChassisID != lines[0] {
					lines = append(lines, n.ChassisID)
				}
				t.g.Nodes = append(t.g.Nodes, graph.Node{ID: id, Kind: graph.Switch, Lines: lines})
			}
		}
	}
}

func neighbourID(n state.Neighbour) string { return "lldp " + cmp.Or(n.ChassisID, n.SystemName) }

// add adds an interface.
func (t *topology) add(one state.Interface, wrong string) {
	node := graph.Node{ID: idOf(one), Kind: kindOf(one.Type), Lines: append([]string{one.Name}, t.lines(one)...)}
	if t.link != nil {
		node.Link = t.link(one.Name)
	}
	if one.State != "" && one.State != "up" && wrong == "" {
		node.Tone = graph.Faint
	}
	if wrong != "" {
		node.Tone = graph.Bad
		node.Lines = append(node.Lines, wrong)
	}
	for _, drift := range t.nns.Status.Drift {
		if at := state.ParsePath(drift.Path); at.Section == "interfaces" && at.Interface == one.Name {
			node.Tone = graph.Bad
			node.Lines = append(node.Lines, fmt.Sprintf("drift: %s is %s, not %s", cmp.Or(at.Leaf, "it"), cmp.Or(drift.Found, "gone"), cmp.Or(drift.Expected, "there")))
		}
	}
	t.g.Nodes = append(t.g.Nodes, node)
}

// lines say what an interface is.
func (t *topology) lines(one state.Interface) []string {
	what := []string{one.Type}
	if id, is := one.VLANID(); is {
		what = append(what, fmt.Sprint(id))
	}
	if mode := bondMode(one); mode != "" {
		what = append(what, mode)
	}
	if mtu, is := one.MTU(); is {
		what = append(what, fmt.Sprintf("mtu %d", mtu))
	}
	if one.State != "" && one.State != "up" {
		what = append(what, one.State)
	}
	lines := []string{strings.Join(what, " ")}
	addresses := slices.Concat(one.Addresses(state.IPv4), one.Addresses(state.IPv6))
	addresses = slices.DeleteFunc(addresses, func(a string) bool { return strings.HasPrefix(a, "fe80:") })
	if more := len(addresses) - shownAddresses; more > 0 {
		addresses = append(addresses[:shownAddresses:shownAddresses], fmt.Sprintf("and %d more addresses", more))
	}
	lines = append(lines, addresses...)
	for _, route := range t.routes {
		if route.IsDefault() && route.NextHopInterface == one.Name && route.TableID == state.MainTable {
			lines = append(lines, "default via "+cmp.Or(route.NextHopAddress, "the link"))
		}
	}
	if owners := t.owners[one.Name]; len(owners) > 0 {
		lines = append(lines, "policy "+strings.Join(owners, ", "))
	}
	return lines
}

func bondMode(one state.Interface) string {
	bond, _ := one.Tree()["link-aggregation"].(map[string]any)
	mode, _ := bond["mode"].(string)
	return mode
}

func kindOf(interfaceType string) graph.Kind {
	switch interfaceType {
	case "ethernet", "infiniband", "veth":
		return graph.NIC
	case "bond", "team":
		return graph.Bond
	case "linux-bridge", "ovs-bridge", "vrf":
		return graph.Bridge
	case "vlan", "vxlan", "mac-vlan", "mac-vtap", "ipvlan", "macsec":
		return graph.VLAN
	}
	return graph.Other
}

// connect draws the lines that lead to an interface.
func (t *topology) connect(one state.Interface) {
	if one.IsAbsent() {
		return
	}
	own := idOf(one)
	for _, n := range one.Neighbours() {
		t.edge(neighbourID(n), own, n.PortID)
	}
	if base := one.BaseInterface(); base != "" {
		t.edge(base, own, "")
	}
	if controller, _ := one.Controller(); controller != "" {
		if at := t.controllerAt(controller); at >= 0 {
			t.port(one, t.g.Nodes[at].ID)
		}
	}
	for _, port := range one.Ports() {
		if port == one.Name { // Open vSwitch's own interface of a bridge.
			t.edge(own, port, "")
			continue
		}
		t.edge(port, own, "")
	}
}

// port leads to its controller; an internal interface of Open vSwitch stands on its own.
func (t *topology) port(one state.Interface, controller string) {
	if one.Type == "ovs-interface" {
		t.edge(controller, idOf(one), "")
		return
	}
	t.edge(idOf(one), controller, "")
}

// edge adds one between nodes that there are, once.
func (t *topology) edge(from, to, label string) {
	same := func(e graph.Edge) bool { return e.From == from && e.To == to || e.From == to && e.To == from }
	if from == to || t.at(from) < 0 || t.at(to) < 0 || slices.ContainsFunc(t.g.Edges, same) {
		return
	}
	t.g.Edges = append(t.g.Edges, graph.Edge{From: from, To: to, Label: label})
}

// cut tells what a report that would be too large leaves out.
func (t *topology) cut() {
	if t.nns.Status.Truncated == nil {
		return
	}
	for i, left := range t.nns.Status.Truncated.Omitted {
		if left.Section == "interfaces" {
			t.g.Nodes = append(t.g.Nodes, graph.Node{
				ID: fmt.Sprintf("omitted %d", i), Kind: graph.Folded, Tone: graph.Faint,
				Lines: []string{fmt.Sprintf("%d more of type %s", left.Count, cmp.Or(left.Type, "any")), "the report leaves them out"},
			})
		}
	}
}
