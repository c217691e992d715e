package profiles

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Change is what a desired state asks of profiles, beside what nmstate has done
// in the trial.
type Change struct {
	// Absent are the interfaces that are to have no profile any more.
	Absent []Interface
	// Hostname for the next boot; empty leaves it.
	Hostname string
	// OpenVSwitch is what is asked of its database.
	OpenVSwitch state.OpenVSwitch
	// Scripts as they are to be.
	Scripts Scripts
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
// between any two actions leaves a node that can be reached (inStages). It is done while the checkpoint is still alive, so that it can go back.
// What others did during the trial is not the trial's, and stays as they left
// it. The Sync at its end is there where nothing else is left to do, too: whoever
// began may have died before it.
func Permanent(before Snapshot, trial *Trial, now Snapshot, change Change) []Action {
	actions := inStages(before.current(), unsaved(now, Touched(before, trial, now)), func(p profile) Action {
		return Action{Verb: Save, UUID: p.uuid(), Name: p.name()}
	})
	if trial != nil {
		for _, at := range slices.Sorted(maps.Keys(trial.Held)) {
			actions = append(actions, Action{Verb: Write, Path: at, File: trial.Held[at]})
		}
		// A way back that ended before it was noted had it forgotten.
		if _, held := trial.Held[DNSFile]; held {
			actions = append(actions, Action{Verb: ReloadDNS})
		}
	}
	if change.Hostname != "" && change.Hostname != now.Hostname {
		actions = append(actions, Action{Verb: SetHostname, Name: change.Hostname})
	}
	if keys := change.OpenVSwitch.Forth(now.OpenVSwitch); len(keys) > 0 {
		actions = append(actions, Action{Verb: SetOpenVSwitch, Keys: keys})
	}
	actions = append(actions, change.Scripts.forth(now)...)
	return append(actions, Action{Verb: Sync})
}

// NotSaved names the trial's profiles that are in memory only. After Permanent there
// are none; that NetworkManager says so is not enough to give a checkpoint up.
func NotSaved(before Snapshot, trial *Trial, now Snapshot) []string {
	var names []string
	for _, p := range unsaved(now, Touched(before, trial, now)) {
		names = append(names, p.label())
	}
	slices.Sort(names)
	return names
}

// Undone names the trial's profiles that are not there any more, or as before it: a way
// back that was begun, and could not be noted on a full disk. What is left of the trial is
// not to be made permanent.
func Undone(before Snapshot, trial *Trial, now Snapshot) []string {
	if trial == nil {
		return nil
	}
	had, tried, has := before.current(), trial.current(), now.current()
	var names []string
	for _, uuid := range Touched(before, trial, now) {
		p, is := tried[uuid]
		if !is {
			continue
		}
		left, there := has[uuid]
		was, existed := had[uuid]
		isBefore := existed && there && now.Files[left.path].equal(before.Files[was.path]) && !trial.Files[p.path].equal(before.Files[was.path])
		if !there || isBefore {
			names = append(names, p.label())
		}
	}
	slices.Sort(names)
	return names
}

// unsaved are those of the profiles that are in memory only.
func unsaved(now Snapshot, uuids []string) []profile {
	var found []profile
	for uuid, p := range now.current() {
		inMemory := path.Dir(p.path) == RunDir || slices.Contains(now.Unsaved, uuid)
		if inMemory && slices.Contains(uuids, uuid) {
			found = append(found, p)
		}
	}
	return found
}

// Tidy deletes the profiles that the change makes void, and has the next boot prefer those
// that it has made. It comes after the checkpoint was given up: a rollback does not bring
// inactive profiles back.
func Tidy(before Snapshot, trial *Trial, now Snapshot, change Change) []Action {
	void := voidOf(before, trial, now, change)
	var actions []Action
	for _, uuid := range slices.Sorted(maps.Keys(void)) {
		actions = append(actions, Action{Verb: Delete, UUID: uuid, Name: void[uuid].name()})
	}
	stays := slices.DeleteFunc(Touched(before, trial, now), func(uuid string) bool { _, goes := void[uuid]; return goes })
	actions = append(actions, preferred(before, stays, now)...)
	if len(actions) == 0 && len(change.Absent) == 0 && !lacksPort(before.current(), now.current()) {
		return nil
	}
	return append(actions, Action{Verb: Sync}) // Maybe of what was deleted before a crash.
}

// Void are the UUIDs of the profiles that Tidy is going to delete, as the trial shows it.
func Void(before Snapshot, trial *Trial, change Change) []string {
	return slices.Sorted(maps.Keys(voidOf(before, trial, trial.Snapshot, change)))
}

// voidOf are the profiles that the change makes void: those of interfaces
// that are to be absent, others for the interface of a profile that was
// made permanent, which the next boot might prefer, and those of Open vSwitch's ports
// that the change has left without an interface.
func voidOf(before Snapshot, trial *Trial, now Snapshot, change Change) map[string]profile {
	current, touched := now.current(), Touched(before, trial, now)
	replaced := func(p profile) bool {
		for _, uuid := range touched {
			if saved, there := current[uuid]; there && saved.device() == p.device() && saved.kind() == p.kind() {
				stands := p.isStandInOf(touched) || slices.Contains(touched, standInOf(p.uuid()))
				return !slices.Contains(touched, p.uuid()) && !stands
			}
		}
		return false
	}
	void := map[string]profile{}
	for uuid, p := range current {
		absent := slices.ContainsFunc(change.Absent, func(i Interface) bool { return i.is(p) })
		if p.device() != "" && (absent || replaced(p)) {
			void[uuid] = p
		}
	}
	maps.Copy(void, portless(before.current(), without(current, void)))
	return void
}

// portless are the profiles of Open vSwitch's ports that had an interface, and have none
// of what is left. nmstate makes such a profile beside each interface of a bridge, no
// state names it, and in memory-only mode nmstate leaves it.
func portless(had, left map[string]profile) map[string]profile {
	found := map[string]profile{}
	for uuid, p := range left {
		if p.kind() == ovsPort && hasInterface(p, had) && !hasInterface(p, left) {
			found[uuid] = p
		}
	}
	return found
}

// lacksPort tells whether an Open vSwitch port's profile from before is gone.
func lacksPort(had, left map[string]profile) bool {
	for uuid, p := range had {
		if _, there := left[uuid]; !there && p.kind() == ovsPort {
			return true
		}
	}
	return false
}

// ovsPort is NetworkManager's type of a profile that stands between an Open vSwitch
// bridge and its interfaces.
const ovsPort = "ovs-port"

// hasInterface tells whether one of the profiles is of an interface of the port.
func hasInterface(port profile, among map[string]profile) bool {
	for _, p := range among {
		if on := p.controller(); on != "" && p.portOf() == ovsPort && (on == port.uuid() || on == port.device()) {
			return true
		}
	}
	return false
}

// inStages puts profiles on disk in an order in which a power cut leaves a node that
// can be reached: what gains its addresses is there for certain before what loses
// them, controllers before ports. had are the profiles that they take the place of.
func inStages(had map[string]profile, all []profile, put func(profile) Action) []Action {
	var actions []Action
	certain := false
	for _, p := range inOrder(had, all) {
		if (p.controller() != "" || loses(had, p)) && !certain {
			// NetworkManager flushes only files that were there before, so a
			// power cut could leave the port and not its controller.
			actions, certain = append(actions, Action{Verb: Sync}), true
		}
		actions = append(actions, put(p))
		certain = certain && !p.isController() && !p.hasIP()
	}
	return actions
}

// inOrder: those that lose their addresses come last; controllers before what
// else there is, and that before ports.
func inOrder(had map[string]profile, all []profile) []profile {
	rank := func(p profile) int {
		switch {
		case loses(had, p):
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
func loses(had map[string]profile, p profile) bool {
	return had[p.uuid()].hasIP() && !p.hasIP()
}
