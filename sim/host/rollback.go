package host

import (
	"slices"
)

// restore brings settings and links back to those of the checkpoint: what
// NetworkManager did not touch since stays as it is.
func (h *Host) restore(c *trial) {
	now := h.settings
	h.settings = h.restoreProfiles(c)
	if !same(now.dns, h.settings.dns) {
		h.writeDNS()
	}
	e := h.kernel.edit()
	if !same(now.rules(), h.settings.rules()) {
		e.rules = c.kernel.rules
	}
	var again []*profile
	for _, was := range c.kernel.links {
		if !was.Foreign && was.Type != "loopback" && h.touched(e, c, now, was) {
			if p := h.bringBack(e, c, was); p != nil {
				again = append(again, p)
			}
		}
	}
	for _, l := range slices.Clone(e.links) {
		if l.Foreign || c.kernel.link(l.Name, l.userspace()) != nil || now.profile(l.Name, l.userspace()) == nil && l.Said == nil {
			continue
		}
		if l.software() {
			e.remove(l)
		}
	}
	h.put(e)
	for _, p := range h.inOrder(again) {
		h.configure(p)
	}
}

// restoreProfiles brings profiles and their files back: those that are as they
// were stay, byte for byte; others NetworkManager writes in its own format. It
// brings none back that was not active.
func (h *Host) restoreProfiles(c *trial) settings {
	now, s := h.settings, c.settings
	s.hostname = now.hostname
	at := h.storage()
	for _, was := range c.settings.all() {
		if was.bare {
			continue
		}
		is, had := now.byUUID(was.uuid), c.storage[was.uuid]
		switch {
		case is == nil && slices.Contains(c.settings.down, was):
			s = s.forgotten(was.uuid)
		case is == was && (at[was.uuid].run == "") == (had.run == ""):
		case had.run != "", had == (stored{}): // With no file: it was removed, and NetworkManager has not read that; to it the profile is in RunDir.
			h.shadow(was)
		case h.diskFails():
			h.forget(at[was.uuid].run)
		default:
			h.save(was)
		}
	}
	for _, is := range now.all() {
		if had := c.storage[is.uuid]; !is.bare && c.settings.byUUID(is.uuid) == nil && had == (stored{}) {
			h.erase(is.uuid) // One that has a file since before is none of the trial's.
		}
	}
	return s
}

// forget takes the file of a profile in /run away, if there is one.
func (h *Host) forget(run string) {
	if run != "" {
		h.remove(run)
	}
}

func (h *Host) diskFails() bool { return h.Faults.Disk != nil && h.Faults.Disk() != nil }

// touched tells whether NetworkManager has changed the link since.
func (h *Host) touched(e *edit, c *trial, now settings, was *Link) bool {
	is := e.link(was.Name, was.userspace())
	then, current := c.settings.profile(was.Name, was.userspace()), now.profile(was.Name, was.userspace())
	return then != current || is != nil && (is.touches != was.touches || !samePointer(is.Said, was.Said)) || is == nil && then != nil
}

// bringBack is the link as it was, without addresses where a profile gives
// them; that profile is returned, to be configured.
func (h *Host) bringBack(e *edit, c *trial, was *Link) *profile {
	then := c.settings.profile(was.Name, was.userspace())
	is := e.link(was.Name, was.userspace())
	if is == nil {
		if !was.software() || then == nil {
			return nil // Unplugged, or made by somebody who is not asked to make it again.
		}
		made := *was
		made.Addresses = nil
		is = e.add(made)
	}
	observed := then == nil
	e.change(is, func(l *Link) {
		l.MTU, l.MAC, l.Up, l.Controller = was.MTU, was.MAC, was.Up, was.Controller
		l.Base, l.VLAN, l.Table, l.Peer, l.Alone = was.Base, was.VLAN, was.Table, was.Peer, was.Alone
		l.Addresses, l.Said = nil, was.Said
		l.number, l.aspired, l.given = 0, 0, [2]int{}
		if observed {
			l.Addresses = firstIPv4(was.Addresses)
			l.IPv6Off = true
		}
	})
	// Whatever is not NetworkManager's goes (hack/adr/0007).
	e.dropRoutes(func(r Route) bool { return r.Dev == was.Name })
	if !observed {
		return then
	}
	delete(h.activations, keyOf(was.Name, was.Type)) // That of the trial's profile is over.
	if was.software() {
		return nil
	}
	bare := &profile{name: was.Name, kind: was.Type, said: tree{}, bare: true, uuid: h.newUUID()}
	h.settings = h.settings.with(bare)
	e.change(e.link(was.Name, was.userspace()), func(l *Link) { l.Said = bare.said })
	return nil
}

// firstIPv4 is all that NetworkManager brings back of a link that it had only
// observed.
func firstIPv4(addresses []Address) []Address {
	for _, a := range addresses {
		if a.Prefix.Addr().Is4() {
			return []Address{{Prefix: a.Prefix, Managed: true}}
		}
	}
	return nil
}
