package network

import (
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// LLDP is what a switch announces of itself on each of its ports. The port's id
// is STATION.NIC, as in the lab.
type LLDP struct {
	ChassisID  string `json:"chassisID"`
	SystemName string `json:"systemName,omitempty"`
	// VLANs by id.
	VLANs []int64 `json:"vlans,omitempty"`
}

// Neighbours are what a NIC hears over LLDP.
func (n *Network) Neighbours(s Station, nic string) []state.Neighbour {
	p := n.member(s).ports[nic]
	if p == nil || !p.carrier() || p.on.LLDP == nil {
		return nil
	}
	said := p.on.LLDP
	vlans := slices.Clone(said.VLANs)
	slices.Sort(vlans)
	return []state.Neighbour{{
		ChassisID: said.ChassisID, PortID: s.Name() + "." + nic, SystemName: said.SystemName, VLANs: slices.Compact(vlans),
	}}
}
