package nmstate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/godbus/dbus/v5"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

const (
	objectsPath    = dbus.ObjectPath("/org/freedesktop")
	objectsName    = "org.freedesktop.DBus.ObjectManager"
	settingsPath   = dbus.ObjectPath("/org/freedesktop/NetworkManager/Settings")
	settingsName   = nmName + ".Settings"
	connectionName = settingsName + ".Connection"
	activeName     = nmName + ".Connection.Active"

	// Of NMSettingsConnectionFlags: NetworkManager made it up (generated,
	// volatile, external).
	flagsMadeUp  = 0x2 | 0x4 | 0x8
	flagExternal = 0x8
	// Of NMDeviceCapabilities.
	capabilitySoftware = 0x4
	// Of NMDeviceInterfaceFlags.
	flagUp, flagCarrier = 0x1, 0x10000
	// Of NMDeviceType.
	typeVeth, typeOVSPort, typeOVSBridge = 20, 25, 26
	// Of NMActiveConnectionState: activating and activated.
	activating, activated = 1, 2
)

// Profiles implements backend.Backend.
func (b *Backend) Profiles(ctx context.Context) (found profiles.Snapshot, err error) {
	err = b.with(ctx, func(m *systemBus) error {
		found, err = m.snapshot(ctx)
		return err
	})
	if err == nil {
		found.Files, err = b.disk.files()
	}
	if err == nil && b.options.Commands {
		found.Scripts, err = b.disk.scripts()
	}
	if err != nil {
		return profiles.Snapshot{}, fmt.Errorf("reading the profiles: %w", err)
	}
	found.OpenVSwitch = b.disk.openVSwitchIfKnown(ctx)
	return found, nil
}

// Devices implements backend.Backend.
func (b *Backend) Devices(ctx context.Context) (found []profiles.Device, err error) {
	err = b.with(ctx, func(m *systemBus) error {
		all, err := m.objects(ctx)
		found = all.listed()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("asking NetworkManager for its devices: %w", err)
	}
	return found, nil
}

// objects are all of NetworkManager's objects, with their properties by interface.
type objects map[dbus.ObjectPath]map[string]map[string]dbus.Variant

// property of an object; the zero value where there is none.
func property[T any](all objects, path dbus.ObjectPath, of, name string) T {
	value, _ := all[path][of][name].Value().(T)
	return value
}

func (m *systemBus) objects(ctx context.Context) (all objects, err error) {
	err = m.call(ctx, answerWithin, objectsPath, objectsName+".GetManagedObjects").Store(&all)
	return all, err
}

// snapshot asks NetworkManager once for all it has, so that its answer is of
// one moment; then for the UUIDs of those profiles that are not saved.
func (m *systemBus) snapshot(ctx context.Context) (profiles.Snapshot, error) {
	all, err := m.objects(ctx)
	if err != nil {
		return profiles.Snapshot{}, err
	}
	found := profiles.Snapshot{Hostname: property[string](all, settingsPath, settingsName, "Hostname")}
	found.Devices = all.listed()
	for path := range all {
		if !property[bool](all, path, connectionName, "Unsaved") || property[uint32](all, path, connectionName, "Flags")&flagsMadeUp != 0 {
			continue
		}
		uuid, err := m.uuid(ctx, path)
		if errors.Is(err, backend.ErrGone) {
			continue // It went since it was listed.
		}
		if err != nil {
			return profiles.Snapshot{}, err
		}
		found.Unsaved = append(found.Unsaved, uuid)
	}
	slices.Sort(found.Unsaved)
	return found, nil
}

// known is a device with what only this package wants to know.
type known struct {
	profiles.Device
	kind uint32
	// reason is why it is in its state (NMDeviceStateReason); 0 where that is not said.
	reason uint32
	// readOnly: its profile is in no file of NetworkManager's own, which tells so of one
	// that Debian's plugin for /etc/network/interfaces reads.
	readOnly bool
}

// foreign tells a software interface that no profile made. A veth is none:
// nmstate takes it for a NIC, which stays when it has no profile any more.
func (k known) foreign() bool {
	return k.Software && k.kind != typeVeth && (k.External || k.Profile == "")
}

// userspace tells what has no interface in the kernel.
func (k known) userspace() bool { return k.kind == typeOVSPort || k.kind == typeOVSBridge }

func (m *systemBus) devices(ctx context.Context) (map[string]known, error) {
	all, err := m.objects(ctx)
	return all.devices(), err
}

// listed are the devices in the order of their names.
func (o objects) listed() []profiles.Device {
	var found []profiles.Device
	for _, one := range o.devices() {
		found = append(found, one.Device)
	}
	slices.SortFunc(found, func(a, b profiles.Device) int { return cmp.Compare(a.Name, b.Name) })
	return found
}

// devices by their names, without those that only a profile speaks of. A port of an
// Open vSwitch bridge has the name of the interface in it, which is the one that counts.
func (o objects) devices() map[string]known {
	found := map[string]known{}
	for path := range o {
		name := property[string](o, path, deviceName, "Interface")
		if name == "" || !property[bool](o, path, deviceName, "Real") {
			continue
		}
		one := known{kind: property[uint32](o, path, deviceName, "DeviceType"), reason: o.stateReason(path), Device: profiles.Device{
			Name:     name,
			Software: property[uint32](o, path, deviceName, "Capabilities")&capabilitySoftware != 0,
			MTU:      int(property[uint32](o, path, deviceName, "Mtu")),
			State:    profiles.DeviceState(property[uint32](o, path, deviceName, "State")),
			// A link that the kernel calls up says whether it has a carrier.
			NoCarrier: property[uint32](o, path, deviceName, "InterfaceFlags")&(flagUp|flagCarrier) == flagUp,
		}}
		if before, is := found[name]; is && one.userspace() && !before.userspace() {
			continue
		}
		active := property[dbus.ObjectPath](o, path, deviceName, "ActiveConnection")
		switch property[uint32](o, active, activeName, "State") {
		case activating, activated:
			one.Profile = property[string](o, active, activeName, "Uuid")
			connection := property[dbus.ObjectPath](o, active, activeName, "Connection")
			one.External = property[uint32](o, connection, connectionName, "Flags")&flagExternal != 0
			file, told := o[connection][connectionName]["Filename"].Value().(string)
			one.readOnly = told && file == "" && !property[bool](o, connection, connectionName, "Unsaved")
		}
		found[name] = one
	}
	return found
}

// stateReason is the second half of a device's state and reason.
func (o objects) stateReason(path dbus.ObjectPath) uint32 {
	both := property[[]any](o, path, deviceName, "StateReason")
	if len(both) != 2 {
		return 0
	}
	reason, _ := both[1].(uint32)
	return reason
}

// uuid of a profile. No property tells it.
func (m *systemBus) uuid(ctx context.Context, path dbus.ObjectPath) (string, error) {
	var settings map[string]map[string]dbus.Variant
	if err := m.call(ctx, answerWithin, path, connectionName+".GetSettings").Store(&settings); err != nil {
		return "", err
	}
	uuid, _ := settings["connection"]["uuid"].Value().(string)
	return uuid, nil
}
