package state

// STP tells whether the document lets a Linux bridge run the spanning tree
// protocol.
func (i Interface) STP() (enabled, said bool) {
	return truth(object(object(object(i.tree["bridge"])["options"])["stp"])["enabled"])
}

// AccessVLAN is the VLAN of a bridge's access port.
func (i Interface) AccessVLAN(port string) (id int64, is bool) {
	for _, one := range objects(object(i.tree["bridge"])["port"]) {
		vlan := object(one["vlan"])
		if text(one["name"]) == port && text(vlan["mode"]) == "access" {
			return integer(vlan["tag"])
		}
	}
	return 0, false
}
