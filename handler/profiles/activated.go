package profiles

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// DeviceState is where a device stands with NetworkManager (NMDeviceState).
type DeviceState uint32

// The states that decide something here.
const (
	Unmanaged    DeviceState = 10
	Unavailable  DeviceState = 20
	Disconnected DeviceState = 30
	NeedsAuth    DeviceState = 60
	GettingIP    DeviceState = 70
	Active       DeviceState = 100
	Failed       DeviceState = 120
)

// String is what people are told.
func (s DeviceState) String() string {
	switch {
	case s == Unmanaged:
		return "unmanaged"
	case s == Unavailable:
		return "unavailable"
	case s == Disconnected:
		return "disconnected"
	case s == NeedsAuth:
		return "waiting for secrets"
	case s == GettingIP:
		return "waiting for an address"
	case s == Active:
		return "activated"
	case s > Disconnected && s < Active:
		return "activating"
	case s == Failed:
		return "failed"
	}
	return "in an unknown state"
}

// Activation is how far NetworkManager has what a change wants up, one line each.
type Activation struct {
	// Lacking is what is not activated.
	Lacking []string
	// Waiting is what is activated but for an address, which somebody else may give.
	Waiting []string
	// Unverified is what cannot be told.
	Unverified []string
}

// Activated compares what a change wants up with where NetworkManager's devices stand.
//
// Not failures, since NetworkManager goes on with what the profile says as soon as
// somebody else does something: a device without a carrier, and one that waits for
// a lease or an advertisement that it was told to wait for. Nor is one that
// NetworkManager does not have: nmstate has made the kernel, or Open vSwitch's
// database, as was said, which the read-back compares.
func Activated(desired, current state.State, devices []Device) (a Activation) {
	for one, device := range wantedUp(desired, current, devices) {
		at := "interfaces[" + one.Name + "]"
		switch {
		case device == nil:
			a.Unverified = append(a.Unverified, at+": NetworkManager has no such device, so that it works is not verified")
		case device.State == Active:
		case device.State == Unmanaged:
			a.Unverified = append(a.Unverified, at+": NetworkManager does not manage it, so that it works is not verified")
		case device.NoCarrier:
			a.Unverified = append(a.Unverified, at+": it has no carrier, so that it works is not verified")
		case device.State == GettingIP && (one.Dynamic(state.IPv4) || one.Dynamic(state.IPv6)):
			a.Waiting = append(a.Waiting, at+": it waits for a lease or a router advertisement")
		default:
			a.Lacking = append(a.Lacking, fmt.Sprintf("%s: NetworkManager has it %s, not activated%s", at, device.State, advice(one)))
		}
	}
	return a
}

// Inactive is what a committed state wants up and NetworkManager does not hold up any
// more: its activation has ended, by somebody's hand or since 802.1X was lost. The
// kernel's link may be up all the same.
//
// One that is being activated, or deactivated, is not in it: NetworkManager is at it, ends
// by itself and tells how. Nor is one without a carrier (Unplugged). One that it does not
// manage the node's state shows.
func Inactive(desired, current state.State, devices []Device) []state.Difference {
	if !slices.ContainsFunc(devices, Device.isInactive) {
		return nil // Mostly, also among thousands.
	}
	var inactive []state.Difference
	for one, device := range wantedUp(desired, current, devices) {
		if device != nil && device.isInactive() {
			inactive = append(inactive, state.NotUp(one, device.State.String()+" in NetworkManager"))
		}
	}
	return inactive
}

func (d Device) isInactive() bool {
	return !d.NoCarrier && (d.State == Unavailable || d.State == Disconnected || d.State == Failed)
}

// Unplugged are the interfaces that wait for a cable, by their names: NetworkManager has
// taken their addresses and routes away, and brings them back by itself. What stands on
// such an interface waits with it. What is to be down, or to go, waits for nothing.
func Unplugged(desired, current state.State, devices []Device) map[string]bool {
	names := map[string]bool{}
	for _, d := range devices {
		if d.NoCarrier && (d.State == Unavailable || d.State == Disconnected) {
			names[d.Name] = true
		}
	}
	if len(names) == 0 {
		return nil
	}
	for one, device := range wantedUp(desired, current, devices) {
		if device != nil && names[device.Name] {
			names[one.Name] = true
		}
	}
	for more := true; more; {
		more = false
		for _, one := range desired.Interfaces() {
			if one.WantedUp() && names[one.BaseInterface()] && !names[one.Name] {
				names[one.Name], more = true, true
			}
		}
	}
	for _, one := range desired.Interfaces() {
		if !one.WantedUp() {
			delete(names, one.Name)
		}
	}
	return names
}

// wantedUp are the interfaces that are to be up, each with its device; nil where there
// is none.
func wantedUp(desired, current state.State, devices []Device) iter.Seq2[state.Interface, *Device] {
	return func(yield func(state.Interface, *Device) bool) {
		for _, one := range desired.Interfaces() {
			if !one.WantedUp() || strings.HasPrefix(one.Type, "ovs-") {
				continue
			}
			name := one.Name
			if shown, is := current.Interface(name); is {
				name = shown.Name // It may be identified by its MAC address.
			}
			var found *Device
			if device, known := (Snapshot{Devices: devices}).device(name); known {
				found = &device
			}
			if !yield(one, found) {
				return
			}
		}
	}
}

// advice is what to look at where the change says what an activation may end at.
func advice(one state.Interface) string {
	if one.Authenticates() {
		return " (802.1X: look whether wpa_supplicant runs on the node, and whether the switch lets it in)"
	}
	return ""
}
