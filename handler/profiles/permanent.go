package profiles

import (
	"cmp"
	"maps"
	"path"
	"slices"
)

// Change is what a desired state asks of profiles, beside what nmstate has done
// in the trial.
type Change struct {
	// Absent are the interfaces that are to have no profile any more.
	Absent []Interface
	// Hostname for the next boot; empty leaves it.
	Hostname string
}

// Interface is one by its name and nmstate's type, which is empty where the
// desired state does not say it.
type Interface struct{ Name, Type string }

// is tells whether a profile is the interface's. An OVS bridge and its internal
// interface have the same name.
func (i Interface) is(p profile) bool {
	const bridge = "ovs-bridge"
	return i.Name == p.device() && (i.Type == "" || (i.Type == bridge) == (p.kind() == bridge))
}

// Permanent makes a proven trial permanent, in an order in which a power cut
// between any two actions leaves a node that can be reached: what gains its
// addresses is on disk for certain before what loses them, controllers before
// ports. It is done while the checkpoint is still alive, so that it can go back.
// The Sync at its end is there where nothing else is left to do, too: whoever
// began may have died before it.
func Permanent(before, now Snapshot, held Files, change Change) []Action {
	var actions []Action
	certain := false
	for _, p := range inOrder(before, unsaved(before, now)) {
		if (p.controller() != "" || loses(before, p)) && !certain {
			// NetworkManager flushes only files that were there before, so a
			// power cut could leave the port and not its controller.
			actions, certain = append(actions, Action{Verb: Sync}), true
		}
		actions = append(actions, Action{Verb: Save, UUID: p.uuid(), Name: p.name()})
		certain = certain && !p.isController() && !p.hasIP()
	}
	for _, at := range slices.Sorted(maps.Keys(held)) {
		actions = append(actions, Action{Verb: Write, Path: at, File: held[at]})
	}
	if change.Hostname != "" && change.Hostname != now.Hostname {
		actions = append(actions, Action{Verb: SetHostname, Name: change.Hostname})
	}
	return append(actions, Action{Verb: Sync})
}

// Tidy deletes the profiles that the change makes void: those of interfaces
// that are to be absent, and others for the interface of a profile that was
// made permanent, which the next boot might prefer. It comes after the
// checkpoint was given up: a rollback does not bring inactive profiles back.
func Tidy(before, now Snapshot, change Change) []Action {
	saved := map[string]profile{}
	for uuid, p := range now.profiles(DiskDir) {
		if old, there := before.profiles(DiskDir)[uuid]; !there || !before.Files[old.path].equal(now.Files[p.path]) {
			saved[uuid] = p
		}
	}
	void := func(uuid string, p profile) bool {
		if p.device() == "" {
			return false
		}
		if slices.ContainsFunc(change.Absent, func(i Interface) bool { return i.is(p) }) {
			return true
		}
		if _, is := saved[uuid]; is {
			return false
		}
		for _, s := range saved {
			if s.device() == p.device() && s.kind() == p.kind() {
				return true
			}
		}
		return false
	}
	var actions []Action
	current := now.current()
	for _, uuid := range slices.Sorted(maps.Keys(current)) {
		if p := current[uuid]; void(uuid, p) {
			actions = append(actions, Action{Verb: Delete, UUID: uuid, Name: p.name()})
		}
	}
	if len(actions) == 0 && len(change.Absent) == 0 {
		return nil
	}
	return append(actions, Action{Verb: Sync}) // Maybe of what was deleted before a crash.
}

// unsaved are the profiles that the trial has in memory only. One that was
// there before, and is the same, is somebody else's: it stays where it is.
func unsaved(before, now Snapshot) []profile {
	var found []profile
	for uuid, p := range now.current() {
		inMemory := path.Dir(p.path) == RunDir || slices.Contains(now.Unsaved, uuid)
		if inMemory && !before.Files.same(p.path, now.Files) {
			found = append(found, p)
		}
	}
	return found
}

// inOrder: those that lose their addresses come last; controllers before what
// else there is, and that before ports.
func inOrder(before Snapshot, all []profile) []profile {
	rank := func(p profile) int {
		switch {
		case loses(before, p):
			return 4
		case p.isPort():
			return 3
		case p.isController() && p.controller() == "":
			return 0
		case p.isController():
			return 1
		}
		return 2
	}
	slices.SortFunc(all, func(a, b profile) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.uuid(), b.uuid())) })
	return all
}

// loses tells whether the profile gave its device addresses and does not any more.
func loses(before Snapshot, p profile) bool {
	return before.current()[p.uuid()].hasIP() && !p.hasIP()
}
