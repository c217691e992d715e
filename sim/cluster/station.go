package cluster

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/host"
	"github.com/nmstate/kubernetes-nmstate/sim/network"
)

// station is a host as the network sees it.
type station struct {
	host    *host.Host
	changed []func()
}

// Name implements network.Station.
func (s *station) Name() string { return s.host.Name }

// OnChange implements network.Station.
func (s *station) OnChange(f func()) { s.changed = append(s.changed, f) }

// touch tells that the kernel may have changed.
func (s *station) touch() {
	for _, f := range s.changed {
		f()
	}
}

// SetCarrier implements network.Station.
func (s *station) SetCarrier(nic string, carrier bool) { s.host.SetCable(nic, carrier) }

// AskAgain implements network.Station.
func (s *station) AskAgain() { s.host.AskDHCP() }

// Stack implements network.Station: the kernel as it stands, nothing while the
// host is off.
func (s *station) Stack() *network.Stack {
	stack := &network.Stack{}
	if !s.host.On() {
		return stack
	}
	for _, l := range s.host.Links() {
		stack.Links = append(stack.Links, s.link(l))
	}
	for _, r := range s.host.Routes() {
		if r.Protocol == host.Kernel {
			continue // Addresses bring them.
		}
		stack.Routes = append(stack.Routes, network.Route{
			Destination: r.To, Gateway: r.Via, Link: r.Dev, Metric: r.Metric, Table: r.Table, Rejects: r.Dev == "",
		})
	}
	for _, server := range s.host.NameServers() {
		if address, err := netip.ParseAddr(server); err == nil {
			stack.NameServers = append(stack.NameServers, address)
		}
	}
	return stack
}

func (s *station) link(l *host.Link) network.Link {
	link := network.Link{
		Name: l.Name, Kind: network.Kind(l.Type), MAC: l.MAC, Up: l.Up, Carrier: s.host.Carrier(l.Name), MTU: l.MTU,
		Controller: l.Controller, Base: l.Base, Tag: uint16(l.VLAN), Table: l.Table,
	}
	link.Backup = l.Type == "bond" && backup(l.Said)
	for _, a := range l.Addresses {
		link.Addresses = append(link.Addresses, network.Address{Prefix: a.Prefix})
	}
	return link
}

// backup tells whether a bond uses one of its ports at a time.
func backup(said map[string]any) bool {
	aggregation, _ := said["link-aggregation"].(map[string]any)
	mode, _ := aggregation["mode"].(string)
	return mode == "active-backup" || mode == "1"
}

// leases answers a host's DHCP and router solicitations from the network.
type leases struct{ cluster *Cluster }

// Lease implements host.DHCPServer.
func (l leases) Lease(h *host.Host, link, family string) (host.Lease, time.Duration, bool) {
	return l.cluster.lease(h, link, family)
}

// interfaceID makes the address of a prefix that belongs to a MAC (RFC 4291,
// appendix A).
func interfaceID(prefix netip.Prefix, mac string) netip.Addr {
	address := prefix.Masked().Addr().As16()
	hardware, err := net48(mac)
	if err != nil {
		return prefix.Masked().Addr().Next()
	}
	copy(address[8:], []byte{hardware[0] ^ 2, hardware[1], hardware[2], 0xff, 0xfe, hardware[3], hardware[4], hardware[5]})
	return netip.AddrFrom16(address)
}

func net48(mac string) (bytes [6]byte, err error) {
	_, err = fmt.Sscanf(strings.ToLower(mac), "%02x:%02x:%02x:%02x:%02x:%02x", &bytes[0], &bytes[1], &bytes[2], &bytes[3], &bytes[4], &bytes[5])
	return bytes, err
}
