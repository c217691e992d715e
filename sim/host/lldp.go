package host

import "github.com/nmstate/kubernetes-nmstate/handler/state"

// showNeighbours are LLDP neighbours as nmstate shows them: each a list of the
// TLVs that it announced, by their types (IEEE 802.1AB).
func showNeighbours(neighbours []state.Neighbour) []any {
	found := []any{}
	for _, n := range neighbours {
		tlvs := []any{tree{"type": 1, "chassis-id": n.ChassisID, "chassis-id-type": 4, "_description": "MAC address"}}
		if n.PortID != "" {
			tlvs = append(tlvs, tree{"type": 2, "port-id": n.PortID, "port-id-type": 5, "_description": "Interface name"})
		}
		if n.SystemName != "" {
			tlvs = append(tlvs, tree{"type": 5, "system-name": n.SystemName})
		}
		if len(n.VLANs) > 0 {
			vlans := []any{}
			for _, id := range n.VLANs {
				vlans = append(vlans, tree{"name": "", "vid": id})
			}
			tlvs = append(tlvs, tree{"type": 127, "ieee-802-1-vlans": vlans, "oui": "00:80:c2", "subtype": 3})
		}
		found = append(found, tlvs)
	}
	return found
}
