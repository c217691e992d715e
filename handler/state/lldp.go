package state

import (
	"cmp"
	"slices"
)

// Neighbour is what one LLDP neighbour of an interface announces; fields that
// it leaves out are empty.
type Neighbour struct {
	ChassisID  string
	PortID     string
	SystemName string
	// VLANs are the announced ids, sorted, each once.
	VLANs []int64
}

// Neighbours are the LLDP neighbours that the report knows, in its order.
// nmstate reports each as a list of TLVs, told apart by their keys.
func (i Interface) Neighbours() []Neighbour {
	var found []Neighbour
	for _, tlvs := range list(object(i.tree["lldp"])["neighbors"]) {
		var one Neighbour
		for _, tlv := range objects(tlvs) {
			one.ChassisID = cmp.Or(one.ChassisID, text(tlv["chassis-id"]))
			one.PortID = cmp.Or(one.PortID, text(tlv["port-id"]))
			one.SystemName = cmp.Or(one.SystemName, text(tlv["system-name"]))
			for _, vlan := range objects(tlv["ieee-802-1-vlans"]) {
				if id, ok := integer(vlan["vid"]); ok {
					one.VLANs = append(one.VLANs, id)
				}
			}
		}
		slices.Sort(one.VLANs)
		one.VLANs = slices.Compact(one.VLANs)
		found = append(found, one)
	}
	return found
}

// Driver is the device's driver as the kernel names it.
func (i Interface) Driver() string { return text(i.tree["driver"]) }

// PermanentMACAddress is the address that the device came with, empty where
// it has none.
func (i Interface) PermanentMACAddress() string { return text(i.tree["permanent-mac-address"]) }

// sortNeighbours brings them into an order that does not depend on when each
// was last heard.
func sortNeighbours(one map[string]any) {
	if neighbours := list(object(one["lldp"])["neighbors"]); len(neighbours) > 1 {
		slices.SortStableFunc(neighbours, func(a, b any) int { return cmp.Compare(encoded(a), encoded(b)) })
	}
}
