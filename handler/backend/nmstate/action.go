package nmstate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/godbus/dbus/v5"
	"github.com/vishvananda/netlink"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// reloadConfiguration is NetworkManager's flag of Reload for its configuration.
const reloadConfiguration = uint32(0x1)

// Do implements backend.Backend. Objects are looked up anew each time, since
// their paths are those of one run of NetworkManager.
func (b *Backend) Do(ctx context.Context, action profiles.Action) error {
	err := b.with(ctx, func(m *systemBus) error {
		switch action.Verb {
		case profiles.Write:
			return b.disk.write(action.Path, action.File)
		case profiles.Remove:
			return b.disk.remove(action.Path)
		case profiles.Sync:
			return b.disk.sync()
		case profiles.SetOpenVSwitch:
			return b.disk.writeOpenVSwitch(ctx, action.Keys)
		case profiles.SetMTU:
			return setMTU(action.Device, action.MTU)
		}
		return m.do(ctx, action)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	return nil
}

// do carries out what NetworkManager does.
func (m *systemBus) do(ctx context.Context, action profiles.Action) error {
	switch action.Verb {
	case profiles.Save, profiles.Delete:
		path, err := m.connection(ctx, action.UUID)
		if err != nil {
			return err
		}
		method := map[profiles.Verb]string{profiles.Save: ".Save", profiles.Delete: ".Delete"}[action.Verb]
		return m.call(ctx, answerWithin, path, connectionName+method).Err
	case profiles.Reload:
		return m.reload(ctx, action.Paths)
	case profiles.ReloadDNS:
		return m.call(ctx, answerWithin, nmPath, nmName+".Reload", reloadConfiguration).Err
	case profiles.SetHostname:
		return m.call(ctx, answerWithin, settingsPath, settingsName+".SaveHostname", action.Name).Err
	case profiles.Activate:
		return m.activate(ctx, action.UUID, action.Device)
	case profiles.Disconnect, profiles.DeleteDevice, profiles.Reapply, profiles.SetMetric:
		path, err := m.device(ctx, action.Device)
		if err != nil {
			return err
		}
		switch action.Verb {
		case profiles.DeleteDevice:
			return m.call(ctx, answerWithin, path, deviceName+".Delete").Err
		case profiles.Reapply:
			return m.reapply(ctx, path)
		case profiles.SetMetric:
			return m.setMetric(ctx, path, action)
		}
		return m.disconnect(ctx, path)
	}
	return fmt.Errorf("nobody knows how to %s", action.Verb)
}

// reload has the profiles at paths read again, or all.
func (m *systemBus) reload(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return m.call(ctx, answerWithin, settingsPath, settingsName+".ReloadConnections").Err
	}
	var all bool
	var failed []string
	if err := m.call(ctx, answerWithin, settingsPath, settingsName+".LoadConnections", paths).Store(&all, &failed); err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("NetworkManager does not understand %s", strings.Join(failed, ", "))
	}
	return nil
}

// connection finds a profile. ErrGone: there is none.
func (m *systemBus) connection(ctx context.Context, uuid string) (path dbus.ObjectPath, err error) {
	err = m.call(ctx, answerWithin, settingsPath, settingsName+".GetConnectionByUuid", uuid).Store(&path)
	return path, err
}

// device finds a device that is there. ErrGone: there is none.
func (m *systemBus) device(ctx context.Context, name string) (path dbus.ObjectPath, err error) {
	err = m.call(ctx, answerWithin, nmPath, nmName+".GetDeviceByIpIface", name).Store(&path)
	return path, err
}

// activate starts a profile on a device. Without the device NetworkManager
// makes it, as the profile says.
func (m *systemBus) activate(ctx context.Context, uuid, name string) error {
	profile, err := m.connection(ctx, uuid)
	if err != nil {
		return err
	}
	const none = dbus.ObjectPath("/")
	on, err := m.device(ctx, name)
	if errors.Is(err, backend.ErrGone) {
		on, err = none, nil
	}
	if err != nil {
		return err
	}
	return m.call(ctx, answerWithin, nmPath, nmName+".ActivateConnection", profile, on, none).Err
}

// disconnect deactivates what is active on a device, if anything is.
func (m *systemBus) disconnect(ctx context.Context, path dbus.ObjectPath) error {
	var active dbus.ObjectPath
	if err := m.property(ctx, path, deviceName, "ActiveConnection", &active); err != nil {
		return err
	}
	if active == "/" {
		return nil
	}
	return m.call(ctx, answerWithin, path, deviceName+".Disconnect").Err
}

// setMetric gives a device the settings that it has, with another metric for its routes.
// They are those of the moment and in no file, as nmcli's "device modify" leaves them.
func (m *systemBus) setMetric(ctx context.Context, device dbus.ObjectPath, action profiles.Action) error {
	const noFlags = uint32(0)
	var settings map[string]map[string]dbus.Variant
	var version uint64
	if err := m.call(ctx, answerWithin, device, deviceName+".GetAppliedConnection", noFlags).Store(&settings, &version); err != nil {
		return err
	}
	family := "ipv4"
	if action.IPv6 {
		family = "ipv6"
	}
	if settings[family] == nil {
		return fmt.Errorf("%w: the device has no %s", backend.ErrGone, family)
	}
	for _, ip := range []string{"ipv4", "ipv6"} {
		// What address-data and route-data say as well, of a type that is lost in Go.
		delete(settings[ip], "addresses")
		delete(settings[ip], "routes")
	}
	settings[family]["route-metric"] = dbus.MakeVariant(int64(action.Metric))
	return m.call(ctx, answerWithin, device, deviceName+".Reapply", settings, version, keepExternal).Err
}

func setMTU(name string, mtu int) error {
	link, err := netlink.LinkByName(name)
	var missing netlink.LinkNotFoundError
	if errors.As(err, &missing) {
		return fmt.Errorf("%w: %v", backend.ErrGone, err)
	}
	if err != nil {
		return err
	}
	return netlink.LinkSetMTU(link, mtu)
}
