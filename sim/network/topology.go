package network

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Topology is what a lab file says (e2e/lab), by the same keys, so that a
// scenario is drawn once. It was checked before.
type Topology struct {
	Nodes    []NodeSpec    `json:"nodes"`
	Switches []SwitchSpec  `json:"switches"`
	Services []ServiceSpec `json:"services,omitempty"`
	// API is where the API server is, if not at each switch's gateway as in
	// the lab: a machine of its own behind the gateway.
	API netip.Addr `json:"-"`
}

// NodeSpec is one node, or Count nodes named name1, name2 and so on, whose
// static addresses count up.
type NodeSpec struct {
	Name  string    `json:"name"`
	Count int       `json:"count,omitempty"`
	NICs  []NICSpec `json:"nics"`
}

// NICSpec is one network card. The first one of a node is its way to the API server.
type NICSpec struct {
	Name   string `json:"name"`
	Switch string `json:"switch"`
	// Address is a CIDR, "dhcp", or "none" (default).
	Address string `json:"address,omitempty"`
	// Address6 is a CIDR, "auto", or "none".
	Address6 string `json:"address6,omitempty"`
}

// SwitchSpec is an Ethernet segment with a gateway on it.
type SwitchSpec struct {
	Name     string     `json:"name"`
	Gateway  string     `json:"gateway"`
	Gateway6 string     `json:"gateway6,omitempty"`
	DHCP     *DHCPSpec  `json:"dhcp,omitempty"`
	DNS      bool       `json:"dns,omitempty"`
	RA       bool       `json:"routerAdvertisements,omitempty"`
	Peers    []PeerSpec `json:"peers,omitempty"`
	LLDP     *LLDP      `json:"lldp,omitempty"`
}

// DHCPSpec is the range that is leased, both ends included.
type DHCPSpec struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// PeerSpec is another host: it answers to ping and has a DNS name.
type PeerSpec struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// ServiceSpec is a server at a switch's gateway: "http" answers 200, "echo" takes connections.
type ServiceSpec struct {
	Name   string `json:"name"`
	Switch string `json:"switch"`
	Type   string `json:"type"`
	Port   int    `json:"port"`
}

// Node is what a host is made from.
type Node struct {
	Name string
	NICs []NIC
	// API is where the node's processes find the API server.
	API netip.AddrPort
}

// NIC of a node with what its installer knows. Addresses that are not valid
// are not configured.
type NIC struct {
	Name, MAC         string
	Switch            *Switch
	Address, Address6 netip.Prefix
	// DHCP and Auto: it asks a DHCP server, or listens to a router.
	DHCP, Auto        bool
	Gateway, Gateway6 netip.Addr
	// NameServer of a static address.
	NameServer netip.Addr
}

// Cluster is a network that was built, with the plan of its nodes. What the hosts
// are is not its business: Plug each of them in.
type Cluster struct {
	*Network

	Nodes []Node
	// Gateway is on all switches; in the lab it is everything else, too.
	Gateway *Machine
	// Zone is what the name servers know.
	Zone *Zone
}

// Names of the default topology.
const (
	LAN         = "lan"
	Side        = "side"
	GatewayName = "gateway"
	apiName     = "api"
	domainName  = ".lab.example"
)

// rackSize is how many nodes a switch of the default topology has.
const rackSize = 200

// Nodes is a topology like the lab's for any number of nodes: eth0 static, at
// 192.0.2.11 and up, eth1 and further ones spare, on a switch with DHCP. More than
// 200 nodes get further switches, lan2 and so on, with networks of their own (RFC
// 2544).
func Nodes(count, spare int) Topology {
	t := Topology{Services: []ServiceSpec{{"web", LAN, "http", 80}, {"status", LAN, "http", 8080}, {"echo", LAN, "echo", 7}}}
	for rack := 0; rack*rackSize < count; rack++ {
		name, net, net6 := LAN, "192.0.2.", "2001:db8::"
		if rack > 0 {
			name, net, net6 = fmt.Sprint(LAN, rack+1), fmt.Sprintf("198.18.%d.", rack), fmt.Sprintf("2001:db8:%x::", rack)
		}
		t.Switches = append(t.Switches, SwitchSpec{
			Name: name, Gateway: net + "1/24", Gateway6: net6 + "1/64", DNS: true, DHCP: &DHCPSpec{net + "220", net + "250"},
			LLDP: &LLDP{ChassisID: fmt.Sprintf("02:00:00:00:%02x:%02x", (rack+1)/256, (rack+1)%256), SystemName: fmt.Sprint("tor", rack+1), VLANs: []int64{100, 200}},
		})
		for i := range min(rackSize, count-rack*rackSize) {
			node := NodeSpec{Name: fmt.Sprint("node", rack*rackSize+i+1), NICs: []NICSpec{
				{Name: "eth0", Switch: name, Address: fmt.Sprintf("%s%d/24", net, 11+i), Address6: fmt.Sprintf("%s%x/64", net6, 0x11+i)},
			}}
			for k := range spare {
				node.NICs = append(node.NICs, NICSpec{Name: fmt.Sprint("eth", k+1), Switch: Side})
			}
			t.Nodes = append(t.Nodes, node)
		}
	}
	t.Switches = append(t.Switches, SwitchSpec{
		Name: Side, Gateway: "10.0.0.1/16", DHCP: &DHCPSpec{"10.0.100.0", "10.0.199.255"},
		LLDP: &LLDP{ChassisID: "02:00:00:00:ff:01", SystemName: "side", VLANs: []int64{100, 200}},
	})
	return t
}

// Build makes the network of a topology.
func Build(w *world.World, t Topology) *Cluster {
	c := &Cluster{Network: New(w), Zone: &Zone{Hosts: map[string][]netip.Addr{}}}
	c.Gateway = c.AddMachine(GatewayName, true)
	for _, s := range t.Switches {
		c.addSwitch(s)
	}
	api := c.Gateway
	if t.API.IsValid() {
		api = c.behind(t.API)
	}
	api.Serve(Service{Name: APIServer, Port: APIPort, Status: "200 OK"})
	c.Gateway.Serve(Service{Name: DNS, Port: dnsPort, Zone: c.Zone})
	for _, s := range t.Services {
		service := Service{Name: s.Name, Port: uint16(s.Port)}
		if s.Type == "http" {
			service.Status = "200 OK"
		}
		c.Gateway.Serve(service)
	}
	for _, n := range unfold(t.Nodes) {
		c.Nodes = append(c.Nodes, c.plan(t, n))
	}
	return c
}

// Hook plugs a node's host in, by the plan.
func (c *Cluster) Hook(node Node, s Station) {
	for _, nic := range node.NICs {
		c.Plug(s, nic.Name, nic.Switch)
	}
}

func (c *Cluster) addSwitch(spec SwitchSpec) {
	s := c.AddSwitch(spec.Name)
	s.LLDP = spec.LLDP
	gateway := netip.MustParsePrefix(spec.Gateway)
	prefixes := []netip.Prefix{gateway}
	if spec.Gateway6 != "" {
		prefixes = append(prefixes, netip.MustParsePrefix(spec.Gateway6), netip.MustParsePrefix("fe80::1/64"))
	}
	c.Gateway.Attach(s, prefixes...)
	lease := Lease{Address: gateway.Masked(), Gateway: gateway.Addr()}
	if spec.DNS {
		lease.NameServers = []netip.Addr{gateway.Addr()}
		for _, name := range []string{GatewayName, GatewayName + domainName, "root-servers.net", "a.root-servers.net"} {
			c.Zone.add(name, gateway.Addr())
		}
	}
	if spec.DHCP != nil {
		s.AddDHCP(netip.MustParseAddr(spec.DHCP.From), netip.MustParseAddr(spec.DHCP.To), lease)
	}
	if spec.RA {
		said := &Advertisement{Prefix: prefixes[1].Masked(), Router: prefixes[2].Addr(), For: time.Hour}
		if spec.DNS { // With its link-local address, as dnsmasq in the lab does.
			said.NameServers = []netip.Addr{said.Router}
		}
		s.SetAdvertisement(said)
	}
	for _, p := range spec.Peers {
		address := netip.MustParseAddr(p.Address)
		peer := c.AddMachine(p.Name, false)
		peer.Attach(s, netip.PrefixFrom(address, gateway.Bits()))
		peer.AddRoute(netip.PrefixFrom(netip.IPv4Unspecified(), 0), gateway.Addr())
		c.Zone.add(p.Name, address)
		c.Zone.add(p.Name+domainName, address)
	}
}

// behind puts a machine behind the gateway.
func (c *Cluster) behind(address netip.Addr) *Machine {
	upstream := c.AddSwitch("upstream")
	net := netip.PrefixFrom(address, address.BitLen()-1) // A pair of addresses for two.
	router := address.Next()
	if !net.Contains(router) {
		router = address.Prev()
	}
	c.Gateway.Attach(upstream, netip.PrefixFrom(router, net.Bits()))
	api := c.AddMachine(apiName, false)
	api.Attach(upstream, net)
	api.AddRoute(netip.PrefixFrom(netip.IPv4Unspecified(), 0), router)
	return api
}

func (c *Cluster) plan(t Topology, spec NodeSpec) Node {
	node := Node{Name: spec.Name}
	for i, n := range spec.NICs {
		s := t.Switches[slices.IndexFunc(t.Switches, func(s SwitchSpec) bool { return s.Name == n.Switch })]
		nic := NIC{Name: n.Name, MAC: MACOf(spec.Name, n.Name), Switch: c.Switch(n.Switch), DHCP: n.Address == "dhcp", Auto: n.Address6 == "auto"}
		gateway := netip.MustParsePrefix(s.Gateway).Addr()
		if p, err := netip.ParsePrefix(n.Address); err == nil {
			nic.Address, nic.Gateway = p, gateway
			if s.DNS {
				nic.NameServer = gateway
			}
		}
		if p, err := netip.ParsePrefix(n.Address6); err == nil {
			nic.Address6, nic.Gateway6 = p, netip.MustParsePrefix(s.Gateway6).Addr()
		}
		if i == 0 {
			node.API = netip.AddrPortFrom(gateway, APIPort)
			if nic.Address.IsValid() {
				c.Zone.add(spec.Name, nic.Address.Addr())
				c.Zone.add(spec.Name+domainName, nic.Address.Addr())
			}
		}
		node.NICs = append(node.NICs, nic)
	}
	if t.API.IsValid() {
		node.API = netip.AddrPortFrom(t.API, APIPort)
	}
	return node
}

func (z *Zone) add(name string, a netip.Addr) { z.Hosts[name] = append(z.Hosts[name], a) }

// unfold replaces a node with a count by that many nodes.
func unfold(specs []NodeSpec) []NodeSpec {
	var nodes []NodeSpec
	for _, spec := range specs {
		if spec.Count == 0 {
			nodes = append(nodes, spec)
			continue
		}
		for k := range spec.Count {
			one := NodeSpec{Name: fmt.Sprint(spec.Name, k+1)}
			for _, nic := range spec.NICs {
				nic.Address, nic.Address6 = countUp(nic.Address, k), countUp(nic.Address6, k)
				one.NICs = append(one.NICs, nic)
			}
			nodes = append(nodes, one)
		}
	}
	return nodes
}

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

// MACOf makes a locally administered address, the one that the lab gives to the same NIC.
func MACOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "/")))
	return fmt.Sprintf("02:%02x:%02x:%02x:%02x:%02x", sum[0], sum[1], sum[2], sum[3], sum[4])
}
