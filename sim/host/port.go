package host

// ovsPortKind is the kind of the profile that NetworkManager needs between an Open
// vSwitch bridge and each of its interfaces: a port, which has one interface, or those of
// a bond. nmstate makes it, and no state names it. In memory-only mode nmstate deletes
// none, also where the port has no interface any more (seen on the lab's VM, with 2.2.62).
const ovsPortKind = "ovs-port"

// port is the profile of an Open vSwitch port; nil for none.
func (s settings) port(name string) *profile {
	for _, p := range s.ports {
		if p.name == name {
			return p
		}
	}
	return nil
}

// ovsPort is the port of an Open vSwitch bridge that the profile's interface is in: a bond
// of the bridge, or one of its own name.
func (d *plan) ovsPort(p *profile) string {
	if p.portType != "ovs-bridge" {
		return ""
	}
	bridge := d.settings.profile(p.controller(), true)
	for _, one := range d.desired.Interfaces() {
		if one.Name == p.controller() && one.Type == "ovs-bridge" {
			bridge = &profile{said: one.Tree()}
		}
	}
	if bridge == nil {
		return p.name
	}
	ports := object(bridge.said["bridge"])
	for _, port := range append(objects(ports["port"]), objects(ports["ports"])...) {
		bond := object(port["link-aggregation"])
		for _, list := range []string{"port", "ports", "slaves"} {
			for _, one := range objects(bond[list]) {
				if text(one["name"]) == p.name {
					return text(port["name"])
				}
			}
		}
	}
	return p.name
}

// ovsPorts makes the profiles that the ports of Open vSwitch's bridges need.
func (d *plan) ovsPorts() {
	for _, p := range d.settings.profiles {
		if p.ovsPort == "" {
			continue
		}
		was := d.settings.port(p.ovsPort)
		if was != nil && was.controller() == p.controller() {
			continue
		}
		made := &profile{
			name: p.ovsPort, kind: ovsPortKind, portType: "ovs-bridge",
			said: tree{"name": p.ovsPort, "type": ovsPortKind, "controller": p.controller()},
		}
		ports := []*profile{made}
		for _, other := range d.settings.ports {
			if other == was {
				made.uuid = was.uuid
			} else {
				ports = append(ports, other)
			}
		}
		d.settings.ports = ports
	}
}
