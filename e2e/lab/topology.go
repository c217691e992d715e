package lab

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed topologies/three-nodes.yaml
var threeNodes []byte

// Where a node's NetworkManager comes from.
const (
	// NM142 and NM152 are Debian 12's and Debian 13's, each from a root that is
	// made once and cached.
	NM142 = "1.42"
	NM152 = "1.52"
	// nmHost is the machine's own, nmAuto is 1.52 or, where that root cannot be
	// made, the machine's.
	nmHost = "host"
	nmAuto = "auto"
)

var networkManagers = []string{NM142, NM152, nmHost}

// apiPort is where a gateway offers the API server, as a cluster would.
const apiPort = 6443

// Topology is what a lab file says.
type Topology struct {
	Nodes    []NodeSpec    `yaml:"nodes" json:"nodes"`
	Switches []SwitchSpec  `yaml:"switches" json:"switches"`
	Services []ServiceSpec `yaml:"services,omitempty" json:"services,omitempty"`
}

// NodeSpec is one node, or Count nodes named name1, name2 and so on, whose static
// addresses count up. After ParseTopology, Count is always 0.
type NodeSpec struct {
	Name  string    `yaml:"name" json:"name"`
	Count int       `yaml:"count,omitempty" json:"count,omitempty"`
	NICs  []NICSpec `yaml:"nics" json:"nics"`
	// Links and Profiles are what is on the node before any policy. Profiles are
	// keyfiles of an administrator by file name, as they are.
	Links    []LinkSpec        `yaml:"links,omitempty" json:"links,omitempty"`
	Profiles map[string]string `yaml:"profiles,omitempty" json:"profiles,omitempty"`
	// NM is "1.42", "1.52" or "host"; empty is what the lab has.
	NM string `yaml:"networkManager,omitempty" json:"networkManager,omitempty"`
	// OpenVSwitch has its database and its switch run on the node. Only a lab in a VM has it.
	OpenVSwitch bool `yaml:"openvswitch,omitempty" json:"openvswitch,omitempty"`
}

// NICSpec is one network card of a node. The first one of a node is its way to
// the API server, unless a link has the address for that.
type NICSpec struct {
	Name   string `yaml:"name" json:"name"`
	Switch string `yaml:"switch,omitempty" json:"switch"`
	// Address is a CIDR, "dhcp", or "none" (default: no profile, link up).
	Address string `yaml:"address,omitempty" json:"address,omitempty"`
	// Address6 is a CIDR, "auto" (router advertisements, default where the switch
	// sends them), or "none".
	Address6 string `yaml:"address6,omitempty" json:"address6,omitempty"`
	// Numbered has its profile name no metric: NetworkManager numbers the NICs of the node,
	// as it does in the field, and does so anew whenever it activates one.
	Numbered bool `yaml:"numbered,omitempty" json:"numbered,omitempty"`
	// SRIOV makes it an emulated card with virtual functions. Only a lab in a VM has one.
	SRIOV bool `yaml:"sriov,omitempty" json:"sriov,omitempty"`
}

// SwitchSpec is an Ethernet segment with a gateway on it.
type SwitchSpec struct {
	Name string `yaml:"name" json:"name"`
	// Gateway and Gateway6 are the gateway's addresses with prefix length.
	Gateway  string     `yaml:"gateway" json:"gateway"`
	Gateway6 string     `yaml:"gateway6,omitempty" json:"gateway6,omitempty"`
	DHCP     *DHCPSpec  `yaml:"dhcp,omitempty" json:"dhcp,omitempty"`
	DNS      bool       `yaml:"dns,omitempty" json:"dns,omitempty"`
	RA       bool       `yaml:"routerAdvertisements,omitempty" json:"routerAdvertisements,omitempty"`
	Peers    []PeerSpec `yaml:"peers,omitempty" json:"peers,omitempty"`
	// LLDP makes the switch announce itself to every NIC in it.
	LLDP *LLDPSpec `yaml:"lldp,omitempty" json:"lldp,omitempty"`
	// Over makes it a VLAN of another switch. No NIC is in it: a vlan on a node
	// leads to it.
	Over string `yaml:"over,omitempty" json:"over,omitempty"`
	VLAN int    `yaml:"vlan,omitempty" json:"vlan,omitempty"`
	// LACP makes one aggregate (802.3ad) of all NICs that a node has in it.
	LACP bool `yaml:"lacp,omitempty" json:"lacp,omitempty"`
}

// LLDPSpec is what a switch says of itself on each of its ports (IEEE 802.1AB).
// The port's own id is the name of what is plugged into it, NODE.NIC.
type LLDPSpec struct {
	// ChassisID is a MAC address. Switches with the same one are one chassis.
	ChassisID string `yaml:"chassisID" json:"chassisID"`
	// SystemName may be empty: then none is announced.
	SystemName string `yaml:"systemName,omitempty" json:"systemName,omitempty"`
	// VLANs are announced with their names, vlan100 and so on.
	VLANs []int `yaml:"vlans,omitempty" json:"vlans,omitempty"`
}

// DHCPSpec is the range that the gateway leases, both ends included.
type DHCPSpec struct {
	From string `yaml:"from" json:"from"`
	To   string `yaml:"to" json:"to"`
}

// PeerSpec is another host on the segment: it answers to ping and has a DNS name.
type PeerSpec struct {
	Name    string `yaml:"name" json:"name"`
	Address string `yaml:"address" json:"address"`
}

// ServiceSpec is a server at a switch's gateway address: "http" answers 200 to
// everything, "echo" sends back what it receives.
type ServiceSpec struct {
	Name   string `yaml:"name" json:"name"`
	Switch string `yaml:"switch" json:"switch"`
	Type   string `yaml:"type" json:"type"`
	Port   int    `yaml:"port" json:"port"`
}

// ThreeNodes is the default topology.
func ThreeNodes() (*Topology, error) { return ParseTopology(threeNodes) }

// LoadTopology reads a topology file. The error has one line per mistake.
func LoadTopology(path string) (*Topology, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the topology: %w", err)
	}
	t, err := ParseTopology(raw)
	if err != nil {
		lines := strings.Split(err.Error(), "\n")
		return nil, errors.New(path + ": " + strings.Join(lines, "\n"+path+": "))
	}
	return t, nil
}

// ParseTopology reads and checks a topology and unfolds counts. The error has
// one line per mistake.
func ParseTopology(raw []byte) (*Topology, error) {
	t := &Topology{}
	dec := yaml.NewDecoder(strings.NewReader(string(raw)))
	dec.KnownFields(true)
	if err := dec.Decode(t); err != nil {
		return nil, plainYAML(err)
	}
	entries, err := t.unfold()
	if err != nil {
		return nil, err
	}
	if err := t.validate(entries); err != nil {
		return nil, err
	}
	return t, nil
}

// plainYAML says the decoder's mistakes without the names of Go types.
func plainYAML(err error) error {
	unknown := regexp.MustCompile(`field (\S+) not found in type \S+`)
	wrong := regexp.MustCompile("cannot unmarshal !!(\\S+) (`.*`)?.*into (\\S+)$")
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty")
	}
	typed := &yaml.TypeError{}
	if !errors.As(err, &typed) {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var all []error
	for _, line := range typed.Errors {
		line = unknown.ReplaceAllString(line, `unknown key "$1"`)
		line = wrong.ReplaceAllString(line, "wrong type $1 $2")
		all = append(all, errors.New(strings.TrimSpace(line)))
	}
	return errors.Join(all...)
}

// unfold replaces a node with a count by that many nodes, and tells of each node
// which entry of the file it is made from.
func (t *Topology) unfold() (entries []int, err error) {
	var nodes []NodeSpec
	for i, n := range t.Nodes {
		if n.Count == 0 {
			nodes, entries = append(nodes, n), append(entries, i)
			continue
		}
		if n.Count < 0 || n.Count > 100 {
			return nil, fmt.Errorf("nodes[%d].count: %d is not between 1 and 100", i, n.Count)
		}
		for k := range n.Count {
			nodes, entries = append(nodes, n.copyNumber(k)), append(entries, i)
		}
	}
	t.Nodes = nodes
	return entries, nil
}

func (n NodeSpec) copyNumber(k int) NodeSpec {
	c := NodeSpec{Name: fmt.Sprintf("%s%d", n.Name, k+1), NM: n.NM, Profiles: n.Profiles, OpenVSwitch: n.OpenVSwitch}
	for _, nic := range n.NICs {
		c.NICs = append(c.NICs, nic.counted(k))
	}
	for _, l := range n.Links {
		l.NICSpec = l.counted(k)
		c.Links = append(c.Links, l)
	}
	return c
}

// countUp adds k to a static address; what is no address is left to validate.
func countUp(cidr string, k int) string {
	p, err := netip.ParsePrefix(cidr)
	if err != nil {
		return cidr
	}
	a := p.Addr()
	for range k {
		a = a.Next()
	}
	return netip.PrefixFrom(a, p.Bits()).String()
}

// switchOf returns the switch that a checked topology has under that name.
func (t *Topology) switchOf(name string) SwitchSpec {
	for _, s := range t.Switches {
		if s.Name == name {
			return s
		}
	}
	return SwitchSpec{}
}
