package profiles

import (
	"fmt"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Verb is what is done.
type Verb string

// The verbs, with what of an Action each one uses.
const (
	// Save writes the profile UUID from memory to disk (NetworkManager's
	// Save); where it has a file in RunDir, that goes.
	Save Verb = "save"
	// Delete removes the profile UUID from memory and disk (NetworkManager's
	// Delete); what it is active on is deactivated.
	Delete Verb = "delete"
	// Write puts File at Path, whole or not at all.
	Write Verb = "write"
	// Remove takes the file at Path away; one that is not there is no error.
	Remove Verb = "remove"
	// Sync has everything on disk that was written before, by whomever, in
	// the folders and files that a Snapshot is of.
	Sync Verb = "sync"
	// Reload has NetworkManager read the profiles at Paths again, those that are
	// not there any more included; all profiles where there are none. What others
	// wrote and have not had read yet stays unread.
	Reload Verb = "reload"
	// ReloadDNS has NetworkManager read DNSFile again.
	ReloadDNS Verb = "reload-dns"
	// SetHostname writes the name Name for the next boot (NetworkManager's
	// SaveHostname).
	SetHostname Verb = "set-hostname"
	// SetOpenVSwitch writes Keys into Open vSwitch's database, all or none, and
	// to its disk for certain.
	SetOpenVSwitch Verb = "set-open-vswitch"
	// Activate activates the profile UUID on Device, which it makes if it must.
	// The answer does not wait until the device is up.
	Activate Verb = "activate"
	// Reapply gives Device the settings that it has, which leaves addresses and routes
	// of others alone, and has NetworkManager run its scripts.
	Reapply Verb = "reapply"
	// SetMetric has NetworkManager give the routes of Device, of the family IPv6 or
	// IPv4, the metric Metric, until it activates the device anew: its profile stays.
	SetMetric Verb = "set-metric"
	// Disconnect deactivates what is active on Device.
	Disconnect Verb = "disconnect"
	// DeleteDevice removes the software device Device.
	DeleteDevice Verb = "delete-device"
	// SetMTU sets the MTU of Device.
	SetMTU Verb = "set-mtu"
)

// Action is one step of making a trial permanent, or of the way back. Each is
// whole or not done; doing it again does no harm.
type Action struct {
	Verb   Verb
	UUID   string
	Path   string
	Paths  []string
	File   File
	Device string
	MTU    int
	Metric int
	IPv6   bool
	Name   string
	Keys   state.Keys
}

// RemovesFromDisk tells an action after which the next boot finds a file less.
func (a Action) RemovesFromDisk() bool {
	return a.Verb == Remove && onDisk(a.Path) != 0
}

// String names the action and its object, never the content of a file.
func (a Action) String() string {
	switch a.Verb {
	case Save, Delete:
		return fmt.Sprintf("%s profile %s (%s)", a.Verb, a.Name, a.UUID)
	case Write, Remove:
		return fmt.Sprintf("%s %s", a.Verb, a.Path)
	case Activate:
		return fmt.Sprintf("%s profile %s (%s) on %s", a.Verb, a.Name, a.UUID, a.Device)
	case Disconnect, DeleteDevice, Reapply:
		return fmt.Sprintf("%s %s", a.Verb, a.Device)
	case SetMTU:
		return fmt.Sprintf("%s %s to %d", a.Verb, a.Device, a.MTU)
	case SetMetric:
		family := "IPv4"
		if a.IPv6 {
			family = "IPv6"
		}
		return fmt.Sprintf("%s of %s for %s to %d", a.Verb, a.Device, family, a.Metric)
	case SetOpenVSwitch:
		return fmt.Sprintf("%s %s", a.Verb, strings.Join(a.Keys.Names(), ", "))
	case SetHostname:
		return fmt.Sprintf("%s to %q", a.Verb, a.Name)
	}
	return string(a.Verb)
}
