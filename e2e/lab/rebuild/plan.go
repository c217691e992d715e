package rebuild

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Node is a node that is rebuilt.
type Node struct {
	// Name in the lab.
	Name string
	// Wanted is what its profiles are generated from.
	Wanted state.State
	// Left is what of its report is not rebuilt, one line each.
	Left []string
}

// Plan is a topology whose nodes have no profiles yet.
type Plan struct {
	Nodes    []Node
	Topology *lab.Topology
}

// node is a report in the making.
type node struct {
	name    string
	kept    *reduced
	servers []netip.Addr
}

// New plans the lab in which all the reports come true.
func New(reports []Report) (*Plan, error) {
	var nodes []*node
	called := map[string]string{}
	for _, r := range reports {
		n, err := newNode(r)
		if err != nil {
			return nil, err
		}
		if other, taken := called[n.name]; taken {
			return nil, fmt.Errorf("two nodes would be called %s in the lab: %s and %s", n.name, other, r.Name)
		}
		called[n.name] = r.Name
		nodes = append(nodes, n)
	}
	p := &Plan{Topology: &lab.Topology{Switches: []lab.SwitchSpec{}}}
	s, plugged := survey(nodes), map[port]string{}
	var vlans []lab.SwitchSpec
	for _, g := range segments(nodes) {
		made := s.switches(g)
		p.Topology.Switches = append(p.Topology.Switches, made[0])
		vlans = append(vlans, made[1:]...)
		for _, each := range g.ports {
			plugged[each] = made[0].Name
		}
	}
	p.Topology.Switches = append(p.Topology.Switches, vlans...)
	for i, n := range nodes {
		spec, err := n.spec(p.Topology, func(nic string) string { return plugged[port{i, nic}] })
		if err != nil {
			return nil, err
		}
		p.Topology.Nodes = append(p.Topology.Nodes, spec)
		n.unanswered(p.Topology)
		p.Nodes = append(p.Nodes, Node{Name: n.name, Wanted: n.wanted(), Left: n.kept.left.lines()})
	}
	return p, nil
}

// onlyNode is what a node is called whose report does not say.
const onlyNode = "node1"

func newNode(r Report) (*node, error) {
	name := r.Name
	if name == "" {
		name = onlyNode
	}
	// A host name with its domain is too much for a lab.
	short, _, _ := strings.Cut(strings.ToLower(name), ".")
	n := &node{name: short, kept: reduce(r.State, nil)}
	if len(r.State.Interfaces()) == 0 {
		return nil, fmt.Errorf("%s: the report has no interfaces", name)
	}
	if short != name {
		n.kept.left.add("the node is called "+short+" in the lab", name)
	}
	if host := hostName(r.State); host != "" && host != short && host != name {
		n.kept.left.add("the host name in the lab is the node's name", host)
	}
	for _, part := range r.Omitted {
		n.kept.left.add("not in the report, which is cut at its largest size", part)
	}
	for _, one := range n.kept.state.Interfaces() {
		if !regexp.MustCompile(`^[^\s/:]{1,15}$`).MatchString(one.Name) || one.Name == "." || one.Name == ".." {
			return nil, fmt.Errorf("%s: no kernel has an interface called %q", name, one.Name)
		}
	}
	resolver := object(r.State.Tree()["dns-resolver"])
	for _, section := range []string{"config", "running"} {
		for _, written := range texts(object(resolver[section])["server"]) {
			if a, err := netip.ParseAddr(written); err == nil && !slices.Contains(n.servers, a) {
				n.servers = append(n.servers, a)
			}
		}
	}
	return n, nil
}

// unanswered are name servers that no switch of the lab has.
func (n *node) unanswered(t *lab.Topology) {
	for _, a := range n.servers {
		there := slices.ContainsFunc(t.Switches, func(s lab.SwitchSpec) bool {
			return prefixOf(s.Gateway).Addr() == a || prefixOf(s.Gateway6).Addr() == a ||
				slices.ContainsFunc(s.Peers, func(p lab.PeerSpec) bool { return p.Address == a.String() })
		})
		if !there {
			n.kept.left.add("no name server of the lab has this address", a.String())
		}
	}
}

// wanted is what is up, for libnmstate: a desired state.
func (n *node) wanted() state.State {
	tree := n.kept.state.Tree()
	delete(object(tree["routes"]), "running")
	var up []any
	for _, one := range n.kept.state.Interfaces() {
		if one.WantedUp() {
			entry := one.Tree()
			// libnmstate writes it in a form that NetworkManager refuses, with the profile.
			delete(object(object(entry["bridge"])["options"]), "group-addr")
			up = append(up, entry)
		}
	}
	tree["interfaces"] = up
	return state.FromTree(tree)
}

// Fill gives a node its profiles: libnmstate's files by name. In the lab each is
// called after its interface, so that it takes the place of the lab's own.
func (p *Plan) Fill(name string, files map[string]string) error {
	i := slices.IndexFunc(p.Topology.Nodes, func(n lab.NodeSpec) bool { return n.Name == name })
	if i < 0 {
		return fmt.Errorf("there is no node %s", name)
	}
	profiles := map[string]string{}
	for file, text := range files {
		found := regexp.MustCompile(`(?m)^interface-name=(.+)$`).FindStringSubmatch(text)
		if found == nil {
			return errors.New(file + " names no interface")
		}
		one, _ := p.Nodes[i].Wanted.Interface(found[1])
		profiles[found[1]+".nmconnection"] = withMetric6(text, one)
	}
	p.Topology.Nodes[i].Profiles = profiles
	return nil
}

// withMetric6 adds what libnmstate leaves out: the metric of automatic routes, which
// it writes for IPv4 and, unless addresses come by themselves, not for IPv6.
func withMetric6(profile string, one state.Interface) string {
	metric := text(object(one.Tree()["ipv6"])["auto-route-metric"])
	before, after, found := strings.Cut(profile, "[ipv6]\n")
	section, _, _ := strings.Cut(after, "[")
	if !found || number(metric) <= 0 || strings.Contains(section, "route-metric=") {
		return profile
	}
	return before + "[ipv6]\nroute-metric=" + metric + "\n" + after
}

func prefixOf(written string) netip.Prefix {
	p, _ := netip.ParsePrefix(written)
	return p
}
