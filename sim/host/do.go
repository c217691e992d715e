package host

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// Profiles implements backend.Backend.
func (b *backendPort) Profiles(ctx context.Context) (found profiles.Snapshot, err error) {
	err = b.call(ctx, "reading the profiles", "profiles", b.host.Name, func() error {
		if err := b.host.answers(ctx, b.process, answerWithin); err != nil {
			return err
		}
		found = b.host.Profiles()
		return nil
	})
	return found, err
}

// Devices implements backend.Backend.
func (b *backendPort) Devices(ctx context.Context) (found []profiles.Device, err error) {
	err = b.call(ctx, "asking NetworkManager for its devices", "devices", b.host.Name, func() error {
		if err := b.host.answers(ctx, b.process, answerWithin); err != nil {
			return err
		}
		found = b.host.devices()
		return nil
	})
	return found, err
}

// Profiles is what NetworkManager knows now, for oracles.
func (h *Host) Profiles() profiles.Snapshot {
	s := profiles.Snapshot{Hostname: h.hostname(), OpenVSwitch: h.openVSwitch()}
	s.Files, s.Scripts = h.divided()
	delete(s.Files, hostnameFile)
	delete(s.Files, openVSwitchFile)
	storage := h.storage()
	for _, p := range h.settings.all() {
		at := storage[p.uuid]
		if !p.bare && (at.run != "" || h.known.read(h.files.disk[at.disk]) != p) {
			s.Unsaved = append(s.Unsaved, p.uuid)
		}
	}
	slices.Sort(s.Unsaved)
	s.Devices = h.devices()
	return s
}

func (h *Host) devices() []profiles.Device {
	var found []profiles.Device
	for _, l := range h.kernel.links {
		if l.userspace() && h.kernel.link(l.Name, false) != nil {
			continue // It has the name of an interface.
		}
		d := profiles.Device{Name: l.Name, Software: l.software(), MTU: l.MTU}
		a := h.activations[keyOf(l.Name, l.Type)]
		d.State, d.NoCarrier = h.stands(l, a), l.Up && !h.Carrier(l.Name)
		switch {
		case a != nil && a.stays:
		case l.Foreign:
		case a != nil && !a.profile.bare && h.settings.byUUID(a.profile.uuid) != nil:
			d.Profile = a.profile.uuid
		case l.Up && (a != nil || len(l.Addresses) > 0 || l.Controller != ""):
			d.Profile, d.External = fmt.Sprintf("made-up-%d-%s", h.nm.starts, l.Name), true
		}
		found = append(found, d)
	}
	return found
}

// stands is where a device stands with NetworkManager.
func (h *Host) stands(l *Link, a *activation) profiles.DeviceState {
	switch {
	case l.Foreign || a == nil && l.Up && (l.software() || len(l.Addresses) > 0 || l.Controller != ""):
		return profiles.Active // As what somebody else has made.
	case a == nil || !a.profile.up() || a.stays:
		return profiles.Disconnected
	case a.idle:
		return profiles.Unavailable
	case len(a.leases) == 0 && (a.profile.dynamic("ipv4") || a.profile.dynamic("ipv6")):
		return profiles.GettingIP
	}
	return profiles.Active
}

// Stays tells which devices NetworkManager has left disconnected, whether it failed to
// activate them or somebody let them go, for oracles. One without a carrier would wait
// in any case (profiles.Activated).
func (h *Host) Stays() []string {
	var names []string
	for _, d := range h.devices() {
		if d.State == profiles.Disconnected && !d.NoCarrier {
			names = append(names, d.Name)
		}
	}
	return names
}

// Do implements backend.Backend.
func (b *backendPort) Do(ctx context.Context, action profiles.Action) error {
	about := action.Path
	for _, one := range []string{action.Name, action.Device} {
		if about == "" {
			about = one
		}
	}
	return b.call(ctx, action.String(), string(action.Verb), about, func() error {
		switch action.Verb {
		case profiles.Write, profiles.Remove, profiles.Sync, profiles.SetMTU, profiles.SetOpenVSwitch:
			return b.host.doByHand(action)
		}
		if err := b.host.answers(ctx, b.process, answerWithin); err != nil {
			return err
		}
		return b.host.doByNetworkManager(action)
	})
}

// doByHand is what needs no NetworkManager.
func (h *Host) doByHand(action profiles.Action) error {
	switch action.Verb {
	case profiles.Write:
		if path.Dir(action.Path) != profiles.RunDir {
			if err := h.full(); err != nil {
				return err
			}
		}
		h.write(action.Path, action.File)
		h.seeScript(action.Path)
	case profiles.Remove:
		h.remove(action.Path)
		h.seeScript(action.Path)
	case profiles.Sync:
		h.sync()
	case profiles.SetOpenVSwitch:
		if err := h.full(); err != nil {
			return err
		}
		h.writeOpenVSwitch(action.Keys)
	case profiles.SetMTU:
		if !h.SetMTU(action.Device, action.MTU) {
			return gone("device %s", action.Device)
		}
	}
	return nil
}

func gone(format string, args ...any) error {
	return fmt.Errorf("%w: there is no %s", backend.ErrGone, fmt.Sprintf(format, args...))
}

func (h *Host) doByNetworkManager(action profiles.Action) error {
	switch action.Verb {
	case profiles.Save, profiles.Delete:
		return h.saveOrDelete(action)
	case profiles.Reload:
		h.reload()
	case profiles.ReloadDNS:
		h.settings.dns = h.readDNS()
		h.changed()
	case profiles.SetHostname:
		if err := h.full(); err != nil {
			return err
		}
		h.write(hostnameFile, profiles.File{Mode: 0o644, Content: []byte(action.Name)})
		h.settings.hostname = action.Name
		e := h.kernel.edit()
		e.hostname = action.Name
		h.put(e)
	case profiles.Activate:
		return h.doActivate(action)
	case profiles.Reapply:
		if h.kernel.named(action.Device) == nil {
			return gone("device %s", action.Device)
		}
	case profiles.SetMetric:
		return h.setMetric(action)
	case profiles.Disconnect, profiles.DeleteDevice:
		l := h.kernel.named(action.Device)
		if l == nil || action.Verb == profiles.DeleteDevice && !l.software() {
			return gone("device %s", action.Device)
		}
		h.disconnect(l)
	default:
		return fmt.Errorf("the simulator has no %s", action.Verb)
	}
	return nil
}

func (h *Host) saveOrDelete(action profiles.Action) error {
	p := h.settings.byUUID(action.UUID)
	if p == nil || p.bare {
		return gone("profile %s", action.UUID)
	}
	if action.Verb == profiles.Save {
		if err := h.full(); err != nil {
			return err
		}
		h.save(p)
		return nil
	}
	h.erase(p.uuid)
	h.settings = h.settings.forgotten(p.uuid)
	h.end(p)
	h.changed()
	return nil
}

func (h *Host) doActivate(action profiles.Action) error {
	p := h.settings.byUUID(action.UUID)
	if p == nil || p.bare {
		return gone("profile %s", action.UUID)
	}
	if p.name != action.Device {
		return fmt.Errorf("profile %s is not for %s", p.id(), action.Device)
	}
	if !isSoftware(p.kind) && h.kernel.link(p.name, false) == nil {
		return gone("device %s", action.Device)
	}
	h.settings = h.settings.with(p)
	h.changed()
	h.autoconnect(p) // Whether it comes up is seen later.
	return nil
}

// full tells why nothing can be written to the disk; nil: it can.
func (h *Host) full() error {
	if h.Faults.Disk == nil {
		return nil
	}
	return h.Faults.Disk()
}
