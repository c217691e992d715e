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
	if err != nil {
		return profiles.Snapshot{}, fmt.Errorf("reading the profiles: %w", err)
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

// snapshot asks NetworkManager once for all it has, so that its answer is of
// one moment; then for the UUIDs of those profiles that are not saved.
func (m *systemBus) snapshot(ctx context.Context) (profiles.Snapshot, error) {
	var all objects
	if err := m.call(ctx, answerWithin, objectsPath, objectsName+".GetManagedObjects").Store(&all); err != nil {
		return profiles.Snapshot{}, err
	}
	found := profiles.Snapshot{Hostname: property[string](all, settingsPath, settingsName, "Hostname")}
	for path, interfaces := range all {
		if _, is := interfaces[deviceName]; is {
			if one, named := device(all, path); named {
				found.Devices = append(found.Devices, one)
			}
		}
		if _, is := interfaces[connectionName]; !is || !property[bool](all, path, connectionName, "Unsaved") ||
			property[uint32](all, path, connectionName, "Flags")&flagsMadeUp != 0 {
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
	slices.SortFunc(found.Devices, func(a, b profiles.Device) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
}

// device is one of NetworkManager's devices; one that only a profile speaks of
// is not there yet.
func device(all objects, path dbus.ObjectPath) (profiles.Device, bool) {
	one := profiles.Device{
		Name:     property[string](all, path, deviceName, "Interface"),
		Software: property[uint32](all, path, deviceName, "Capabilities")&capabilitySoftware != 0,
		MTU:      int(property[uint32](all, path, deviceName, "Mtu")),
	}
	if one.Name == "" || !property[bool](all, path, deviceName, "Real") {
		return profiles.Device{}, false
	}
	active := property[dbus.ObjectPath](all, path, deviceName, "ActiveConnection")
	switch property[uint32](all, active, activeName, "State") {
	case activating, activated:
		one.Profile = property[string](all, active, activeName, "Uuid")
		connection := property[dbus.ObjectPath](all, active, activeName, "Connection")
		one.External = property[uint32](all, connection, connectionName, "Flags")&flagExternal != 0
	}
	return one, true
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
