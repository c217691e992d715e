package nmstate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/godbus/dbus/v5"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// What NetworkManager says of a device (NMDeviceState, NMDeviceStateReason).
const (
	deviceFailed           = 120
	reasonNoIPConfig       = 5
	reasonDuplicateAddress = 64
)

// failedDevice reads a signal: that a device failed, and NetworkManager's reason.
func failedDevice(signal *dbus.Signal) (device dbus.ObjectPath, reason uint32, is bool) {
	if signal == nil || signal.Name != deviceName+".StateChanged" {
		return "", 0, false
	}
	var now, before uint32
	if err := dbus.Store(signal.Body, &now, &before, &reason); err != nil || now != deviceFailed {
		return "", 0, false
	}
	return signal.Path, reason, true
}

// explained adds what NetworkManager knows better than nmstate, which only sees that
// an interface is not up.
func (t *trial) explained(ctx context.Context, desired state.State, err error) error {
	reasons := map[string]uint32{}
	for device, reason := range t.failedFor {
		reasons[t.manager.deviceName(context.WithoutCancel(ctx), string(device))] = reason
	}
	if told := duplicates(desired, reasons); told != "" {
		return fmt.Errorf("%s (%w)", told, err)
	}
	return err
}

// duplicates tells of static addresses that NetworkManager did not configure. It
// asks the network for each before it takes it (from 1.46 on by default), and says
// on D-Bus no more than that there is no IP configuration; which host answered is in
// its log.
func duplicates(desired state.State, reasons map[string]uint32) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		one, is := desired.Interface(name)
		reason := reasons[name]
		if !is || reason != reasonNoIPConfig && reason != reasonDuplicateAddress || one.Dynamic(state.IPv4) {
			continue
		}
		if addresses := one.Addresses(state.IPv4); len(addresses) > 0 {
			all = append(all, fmt.Sprintf("%s does not come up with %s: most likely another host on its network has the address already; take one that is free",
				name, strings.Join(addresses, ", ")))
		}
	}
	return strings.Join(all, "; ")
}
