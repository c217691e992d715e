package host

import (
	"maps"
	"path"
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// What NetworkManager does with files of profiles.

// stored is where a profile is: its path on disk and in /run, empty for none.
type stored struct{ disk, run string }

// storage of the profiles by their UUIDs. Of two files of one UUID in a folder the last counts.
func (h *Host) storage() map[string]stored {
	found := map[string]stored{}
	for _, at := range slices.Sorted(maps.Keys(h.files.disk)) {
		if uuid := fileUUID(h.files.disk[at]); path.Dir(at) == profiles.DiskDir && uuid != "" {
			found[uuid] = stored{disk: at}
		}
	}
	for _, at := range slices.Sorted(maps.Keys(h.files.run)) {
		if uuid := fileUUID(h.files.run[at]); uuid != "" {
			found[uuid] = stored{disk: found[uuid].disk, run: at}
		}
	}
	return found
}

// readProfiles are the profiles of the files, one in /run before one on disk.
func (h *Host) readProfiles() []*profile {
	var found []*profile
	storage := h.storage()
	for _, uuid := range sortedKeys(storage) {
		at := storage[uuid]
		p := h.known.read(h.files.run[at.run])
		if p == nil {
			p = h.known.read(h.files.disk[at.disk])
		}
		if p != nil {
			found = append(found, p)
		}
	}
	return found
}

// unused is where a profile that has no file in a folder yet gets one: by its id, or where
// another profile of that id has it, by its UUID too, as NetworkManager's writer does it.
func unused(folder string, p *profile, files profiles.Files) string {
	at := folder + "/" + p.id() + ".nmconnection"
	if _, taken := files[at]; taken {
		at = folder + "/" + p.id() + "-" + p.uuid + ".nmconnection"
	}
	return at
}

// shadow puts a profile into /run only: what is on disk of it is hidden.
func (h *Host) shadow(p *profile) {
	h.known.add(p)
	at := h.storage()[p.uuid]
	if at.run == "" {
		at.run = unused(profiles.RunDir, p, h.files.run)
	}
	h.write(at.run, p.file(own, at.disk))
}

// save puts a profile on disk, in NetworkManager's format, and out of /run.
func (h *Host) save(p *profile) {
	at := h.storage()[p.uuid]
	made := at.disk == ""
	if made {
		at.disk = unused(profiles.DiskDir, p, h.files.disk)
	}
	h.write(at.disk, p.file(own, ""))
	if made {
		h.files.torn[at.disk] = true
	}
	if at.run != "" {
		h.remove(at.run)
	}
}

// erase takes a profile's files away: of a shadow the one on disk too.
func (h *Host) erase(uuid string) {
	at := h.storage()[uuid]
	if at.run != "" {
		h.remove(at.run)
	}
	if at.disk != "" {
		h.remove(at.disk)
	}
}

// readSettings is what a NetworkManager that starts knows: all profiles come
// up, those too that were down before.
func (h *Host) readSettings() settings {
	s := settings{hostname: h.hostname(), dns: h.readDNS()}
	for _, p := range h.readProfiles() {
		switch p.kind {
		case rulesKind:
			s.routing = p
		case ovsPortKind:
			s.ports = append(s.ports, p)
		default:
			s = s.with(p)
		}
	}
	return s
}

// reload has NetworkManager read its files again. What is active stays as it
// is, also where its profile is another one now; where it has none any more it ends.
func (h *Host) reload() {
	now, s := h.settings, h.settings
	s.profiles, s.down, s.routing, s.ports = nil, nil, nil, nil
	var came []*profile
	for _, p := range h.readProfiles() {
		was := now.byUUID(p.uuid)
		switch {
		case p.kind == rulesKind:
			s.routing = p
		case p.kind == ovsPortKind:
			s.ports = append(s.ports, p)
		case was != nil && slices.Contains(now.down, was):
			s.down = append(s.down, p)
		default:
			s = s.with(p)
			if was == nil {
				came = append(came, p)
			}
		}
	}
	for _, p := range now.profiles {
		if p.bare && s.profile(p.name, p.userspace()) == nil {
			s = s.with(p)
		}
	}
	h.settings = s
	for _, p := range now.profiles {
		if s.byUUID(p.uuid) == nil {
			h.end(p)
		}
	}
	h.routeByRules()
	h.changed()
	for _, p := range h.inOrder(came) {
		if a := h.activations[p.key()]; a == nil && p.up() {
			h.autoconnect(p)
		}
	}
}

// end is a profile's end while it is active: what stood on it is not up any more.
func (h *Host) end(p *profile) {
	a := h.activations[p.key()]
	if a == nil || a.profile.uuid != p.uuid {
		return
	}
	if isController(p.kind) {
		for _, port := range h.kernel.ports(p.name) {
			delete(h.activations, keyOf(port.Name, port.Type))
		}
	}
	if l := h.kernel.link(p.name, p.userspace()); l != nil {
		h.release(l)
	}
}

func isController(kind string) bool {
	switch kind {
	case "linux-bridge", "bond", "vrf", "ovs-bridge":
		return true
	}
	return false
}

// routeByRules has the kernel's policy routing follow the settings.
func (h *Host) routeByRules() {
	if same(h.kernel.rules, h.settings.rules()) {
		return
	}
	e := h.kernel.edit()
	e.rules = slices.Clone(h.settings.rules())
	h.put(e)
}

// disconnect ends what is active on a device, as a person asks for; its profile
// stays and does not come up by itself.
func (h *Host) disconnect(l *Link) {
	if p := h.settings.profile(l.Name, l.userspace()); p != nil {
		h.settings = h.settings.ended(p)
	}
	h.release(l)
}

// release ends what is active on a device; a NIC stays up, for its carrier.
func (h *Host) release(l *Link) {
	up := l.Up
	h.deactivate(l.Name, l.userspace(), l.Type)
	if is := h.kernel.link(l.Name, l.userspace()); is != nil && up {
		e := h.kernel.edit()
		e.change(is, func(l *Link) { l.Up = true })
		h.put(e)
	}
}

// readDNS is the global configuration that DNSFile says; nil for none.
func (h *Host) readDNS() tree {
	return h.dnsKnown[lineOf(h.files.disk[profiles.DNSFile], meaningKey)]
}

// writeDNS has NetworkManager write its global configuration down.
func (h *Host) writeDNS() {
	if h.settings.dns == nil {
		if _, there := h.files.disk[profiles.DNSFile]; there {
			h.write(profiles.DNSFile, profiles.File{Mode: 0o644, Content: []byte("# Internal configuration file.\n")})
		}
		return
	}
	raw := compact(h.settings.dns)
	h.dnsKnown[raw] = h.settings.dns
	content := "[.intern.global-dns]\nsearches=" + join(h.settings.dns["search"]) + "\n\n[.intern.global-dns-domain-*]\nservers=" +
		join(h.settings.dns["server"]) + "\n\n[sim]\n" + meaningKey + raw + "\n"
	h.write(profiles.DNSFile, profiles.File{Mode: 0o644, Content: []byte(content)})
}

func (h *Host) hostname() string { return string(h.files.disk[hostnameFile].Content) }
