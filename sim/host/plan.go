package host

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// plan is what nmstate makes of a desired state.
type plan struct {
	host *Host
	// settings as they are to be.
	settings settings
	// activate are the profiles to activate, end the interfaces that go.
	activate []*profile
	end      []*profile
	desired  state.State
	// rules are to be the kernel's.
	rulesChanged bool
	// running is the hostname that is to be; empty: as it is.
	running string
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", backend.ErrInvalid, fmt.Sprintf(format, args...))
}

// planned merges the desired state into the settings, or refuses it.
func (h *Host) planned(desired state.State) (*plan, error) {
	typed, err := h.words.read(desired)
	if err != nil {
		return nil, err
	}
	d := &plan{host: h, settings: h.settings, desired: typed}
	wanted := map[string]*wish{}
	for _, one := range d.desired.Interfaces() {
		if err := d.wish(wanted, one); err != nil {
			return nil, err
		}
	}
	if err := d.routes(wanted); err != nil {
		return nil, err
	}
	if err := d.portsOf(wanted); err != nil {
		return nil, err
	}
	d.withParents(wanted)
	if err := d.check(wanted); err != nil {
		return nil, err
	}
	for _, key := range sortedKeys(wanted) {
		d.take(wanted[key])
	}
	d.ovsPorts()
	d.node()
	for i, p := range d.activate {
		d.activate[i] = d.settings.profile(p.name, p.userspace())
	}
	d.activate = h.inOrderOf(d.settings, d.activate)
	return d, nil
}

// wish is a profile in the making.
type wish struct {
	name, kind string
	was        *profile
	link       *Link
	said       tree
	routes     []Route
	absent     bool
	// explicit is what the desired state itself says of it.
	explicit tree
	// taken is the controller that lists it among its ports.
	taken string
	// port of a bridge or bond, where it can have no addresses.
	port bool
	// implied: it is only there because something else names it.
	implied bool
}

func (w *wish) key() string { return keyOf(w.name, w.kind) }

// wish starts with what there is and adds what is desired.
func (d *plan) wish(wanted map[string]*wish, one state.Interface) error {
	if one.State == "ignore" || one.State == "unknown" {
		return nil
	}
	link := d.find(one)
	kind := one.Type
	if kind == "" || kind == "unknown" {
		if link == nil {
			if one.IsAbsent() {
				return nil
			}
			return invalid("interface %s: it is not there and has no type", one.Name)
		}
		kind = link.Type
	}
	name := one.Name
	if link != nil {
		name = link.Name
		if kind == "ethernet" || kind == "veth" && link.Type == "ethernet" {
			kind = link.Type
		}
	}
	if !modelled(kind) {
		return invalid("NotImplementedError: the simulator has no interfaces of type %s (%s)", kind, name)
	}
	w := d.wishFor(wanted, name, kind, link)
	w.implied = false
	if one.IsAbsent() {
		w.absent = true
		return nil
	}
	said := without(one.Tree(), "name", "identifier", "copy-mac-from", "profile-name", "permanent-mac-address", "driver")
	if from := text(one.Tree()["copy-mac-from"]); from != "" {
		if l := d.host.kernel.link(from, false); l != nil {
			said["mac-address"] = l.MAC
		}
	}
	w.explicit = said
	before := w.said
	w.said = mergedInterface(w.said, said)
	w.said["name"], w.said["type"] = name, kind
	w.keepLease(before)
	return nil
}

// find is the link that a desired interface means.
func (d *plan) find(one state.Interface) *Link {
	t := one.Tree()
	if t["identifier"] == "mac-address" {
		mac := capitals(one.MACAddress())
		for _, l := range d.host.kernel.links {
			if mac != "" && !isSoftware(l.Type) && (l.Permanent == mac || l.MAC == mac) {
				return l
			}
		}
	}
	if one.Type == "" {
		return d.host.kernel.named(one.Name)
	}
	return d.host.kernel.link(one.Name, one.Type == "ovs-bridge")
}

// wishFor is the wish for an interface, as it is now if it is a new wish.
func (d *plan) wishFor(wanted map[string]*wish, name, kind string, link *Link) *wish {
	if w := wanted[keyOf(name, kind)]; w != nil {
		return w
	}
	w := &wish{name: name, kind: kind, link: link, was: d.host.settings.profile(name, kind == "ovs-bridge"), implied: true}
	switch {
	case w.was != nil && !w.was.bare:
		w.said, w.routes = w.was.said, w.was.routes
		if !w.was.up() { // It is in no bridge or bond any more, as the lab showed.
			w.said = without(w.said, "controller")
		}
	case link != nil:
		w.said, w.routes = d.host.observed(link)
	default:
		w.said = tree{"ipv4": tree{"enabled": false}, "ipv6": tree{"enabled": false}}
	}
	w.said = merged(w.said, tree{"name": name, "type": kind, "state": "up"})
	wanted[w.key()] = w
	return w
}

// keepLease: where DHCP is switched off and no address is given, the leased
// one becomes the configured one.
func (w *wish) keepLease(before tree) {
	for _, family := range []string{"ipv4", "ipv6"} {
		was, now := &profile{said: before}, &profile{said: w.said}
		if w.link == nil || !was.dynamic(family) || !now.enabled(family) || now.dynamic(family) || now.family(family)["address"] != nil {
			continue
		}
		var addresses []any
		for _, a := range w.link.Addresses {
			if familyOf(a.Prefix.Addr()) == family {
				addresses = append(addresses, tree{"ip": a.Prefix.Addr().String(), "prefix-length": a.Prefix.Bits()})
			}
		}
		w.said[family] = merged(now.family(family), tree{"address": addresses})
	}
}

// portsOf has the ports of the wished controllers follow.
func (d *plan) portsOf(wanted map[string]*wish) error {
	for _, key := range sortedKeys(wanted) {
		w := wanted[key]
		if !d.host.kernel.controls(&Link{Type: w.kind}) {
			continue
		}
		listed, says := d.listed(w)
		for _, name := range listed {
			if err := d.seize(wanted, w, name); err != nil {
				return err
			}
		}
		if says || w.absent {
			d.release(wanted, w, listed)
		}
	}
	for _, key := range sortedKeys(wanted) {
		d.alone(wanted, wanted[key])
	}
	return nil
}

// seize makes an interface the controller's port.
func (d *plan) seize(wanted map[string]*wish, controller *wish, name string) error {
	port := wanted[name]
	if port == nil {
		link := d.host.kernel.link(name, false)
		kind := "ovs-interface" // nmstate makes such a port by itself.
		switch {
		case link != nil:
			kind = link.Type
		case controller.kind != "ovs-bridge":
			return invalid("Controller interface %s is holding unknown port %s", controller.name, name)
		}
		port = d.wishFor(wanted, name, kind, link)
	}
	if port.taken != "" && port.taken != controller.name {
		return invalid("Port %s is overbooked by two controller: %s, %s", name, port.taken, controller.name)
	}
	port.taken = controller.name
	if !port.absent {
		port.said = merged(port.said, tree{"controller": controller.name})
	}
	return nil
}

// release lets the controller's ports go that are not listed.
func (d *plan) release(wanted map[string]*wish, controller *wish, listed []string) {
	for _, l := range d.host.kernel.ports(controller.name) {
		if slices.Contains(listed, l.Name) || l.Foreign {
			continue
		}
		port := d.wishFor(wanted, l.Name, l.Type, l)
		if text(port.said["controller"]) == controller.name {
			port.said = without(port.said, "controller")
			port.absent = port.absent || l.Type == "ovs-interface" && port.implied
		}
	}
}

// listed are the ports that the desired state lists for a controller.
func (d *plan) listed(w *wish) ([]string, bool) {
	if w.absent {
		return nil, false
	}
	for _, one := range d.desired.Interfaces() {
		if one.Name == w.name && keyOf(one.Name, one.Type) == w.key() && one.SaysPorts() {
			return one.Ports(), true
		}
	}
	return nil, false
}

// alone: a port of a bridge or bond has no IP configuration; that of a VRF has.
func (d *plan) alone(wanted map[string]*wish, w *wish) {
	controller := text(w.said["controller"])
	if controller == "" || w.kind == "ovs-interface" || w.absent {
		return
	}
	if vrf := wanted[controller]; vrf != nil && vrf.kind == "vrf" {
		return
	}
	if l := d.host.kernel.link(controller, false); l != nil && l.Type == "vrf" {
		return
	}
	w.said = merged(w.said, nil)
	w.said["ipv4"], w.said["ipv6"] = tree{"enabled": false}, tree{"enabled": false}
	w.port = true
}

// take puts a wish into the plan, if it changes anything.
func (d *plan) take(w *wish) {
	if w.absent {
		if w.was != nil {
			d.settings = d.settings.ended(w.was) // Nothing is deleted before it is proven.
		}
		if w.was != nil || w.link != nil && w.link.software() && !w.link.Foreign {
			d.end = append(d.end, &profile{name: w.name, kind: w.kind})
		}
		return
	}
	p := &profile{name: w.name, kind: w.kind, said: w.said, routes: w.routes}
	for _, like := range []*profile{w.was, d.settings.past(w.key())} {
		if like != nil && !like.bare && p.uuid == "" {
			p.uuid = like.uuid
		}
	}
	if w.link == nil && !p.up() {
		return // What is not there is down.
	}
	if w.was != nil {
		p.dns, p.search = w.was.dns, w.was.search
		if !w.was.bare && same(w.was.said, p.said) && slices.EqualFunc(w.was.routes, p.routes, Route.same) && d.host.holds(w.was) {
			return
		}
	}
	if !truth(object(p.said["ipv4"])["enabled"]) && !truth(object(p.said["ipv6"])["enabled"]) {
		p.routes = nil
	}
	p.portType = d.portType(p)
	p.ovsPort = d.ovsPort(p)
	d.settings = d.settings.with(p)
	d.activate = append(d.activate, p)
}

// portType is what the profile is a port of, in NetworkManager's words.
func (d *plan) portType(p *profile) string {
	on := p.controller()
	if on == "" {
		return ""
	}
	for _, one := range d.desired.Interfaces() {
		if one.Name == on && isController(one.Type) {
			return (&profile{kind: one.Type}).connectionType()
		}
	}
	if l := d.host.kernel.named(on); l != nil {
		return (&profile{kind: l.Type}).connectionType()
	}
	return ""
}

func (r Route) same(other Route) bool { return r.is(other) && same(r.Said, other.Said) }

// holds tells whether the kernel is as the profile says, and NetworkManager has the profile
// active: nmstate activates what a state names and no device has.
func (h *Host) holds(p *profile) bool {
	if a := h.activations[p.key()]; a != nil && a.stays {
		return false
	}
	l := h.kernel.link(p.name, p.userspace())
	if l == nil || !samePointer(l.Said, p.said) || h.isUp(l) != p.up() || l.Controller != p.within() {
		return false
	}
	if mtu, ok := integer(p.said["mtu"]); ok && mtu != l.MTU {
		return false
	}
	if mac := text(p.said["mac-address"]); mac != "" && capitals(mac) != l.MAC {
		return false
	}
	var want []netip.Prefix
	for _, family := range []string{"ipv4", "ipv6"} {
		for _, a := range addressesOf(p, family) {
			want = append(want, a.Prefix)
		}
	}
	for _, a := range l.Addresses {
		if i := slices.Index(want, a.Prefix); i >= 0 {
			want = slices.Delete(want, i, i+1)
		} else if !a.Dynamic {
			return false
		}
	}
	for _, r := range p.routes {
		if !slices.ContainsFunc(h.kernel.routes, r.is) {
			return false
		}
	}
	return len(want) == 0
}
