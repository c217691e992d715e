package profiles

import (
	"path"
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Unkept is what the next boot would not bring of a desired state that the node has, one
// line each: what would be done to make it permanent, and interfaces whose profile is not
// on disk as it is in memory. A node that has all of it, for good, has none.
func Unkept(desired, current state.State, now Snapshot, change Change) []string {
	var lines []string
	for _, one := range desired.Interfaces() {
		if one.State == "down" {
			lines = append(lines, "interfaces["+one.Name+"]: no profile says that it is to be down")
		}
	}
	profiles := now.current()
	for _, name := range needed(desired, current) {
		switch p, found := now.profileOf(name, profiles); {
		case !found:
			lines = append(lines, "interfaces["+name+"]: NetworkManager has no profile for it")
		case path.Dir(p.path) != DiskDir || slices.Contains(now.Unsaved, p.uuid()):
			lines = append(lines, "interfaces["+name+"]: its profile is not on disk as NetworkManager has it")
		}
	}
	for _, action := range slices.Concat(Permanent(now, nil, now, change), Tidy(now, nil, now, change)) {
		if action.Verb != Sync {
			lines = append(lines, "to be done: "+action.String())
		}
	}
	return lines
}

// needed are the interfaces that a desired state needs profiles for: those that are to be up,
// their ports, and those that routes lead out of.
func needed(desired, current state.State) []string {
	var names []string
	add := func(name string) {
		if shown, is := current.Interface(name); is {
			name = shown.Name // It may be identified by its MAC address.
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, one := range desired.Interfaces() {
		if !one.WantedUp() {
			continue
		}
		add(one.Name)
		for _, port := range one.Ports() {
			add(port)
		}
	}
	for _, route := range desired.Routes() {
		if !route.Absent {
			add(route.NextHopInterface)
		}
	}
	slices.Sort(names)
	return names
}

// profileOf is the profile that is active on a device, or the first one that is for it.
func (s Snapshot) profileOf(device string, among map[string]profile) (profile, bool) {
	if d, known := s.device(device); known && d.Profile != "" {
		p, there := among[d.Profile]
		return p, there
	}
	found := profile{}
	for _, p := range among {
		if p.device() == device && (found.path == "" || p.path < found.path) {
			found = p
		}
	}
	return found, found.path != ""
}
