package profiles

import (
	"maps"
	"path"
	"slices"
)

// FilesBack puts the files back that the trial has touched, byte for byte, and
// has NetworkManager read them. What somebody else did to other files since then stays.
// trial is the snapshot with the change in place, nil where none was taken.
func FilesBack(before Snapshot, trial *Trial, now Snapshot) []Action {
	want := target(before, trial, now)
	var actions []Action
	profiles := false
	// First what hides a profile on disk, then the disk: read in between,
	// neither shows more of the trial than before.
	for _, at := range paths(want, now.Files) {
		if want.same(at, now.Files) {
			continue
		}
		if file, stays := want[at]; stays {
			actions = append(actions, Action{Verb: Write, Path: at, File: file})
		} else {
			actions = append(actions, Action{Verb: Remove, Path: at})
		}
		profiles = profiles || isProfile(at)
	}
	if profiles {
		actions = append(actions, Action{Verb: Sync}, Action{Verb: Reload})
	}
	if now.Hostname != before.Hostname {
		actions = append(actions, Action{Verb: SetHostname, Name: before.Hostname})
	}
	return actions
}

// DNSBack has NetworkManager forget a trial's global DNS. The file has its old
// bytes again by then; NetworkManager may not have read it, and before 1.47 its
// checkpoints leave global DNS alone.
func DNSBack(trial *Trial) []Action {
	if trial == nil || len(trial.Held) == 0 {
		return nil
	}
	return []Action{{Verb: ReloadDNS}}
}

// DevicesBack brings the profiles back to the devices that they were active
// on, for a trial whose checkpoint is lost. touched are the UUIDs that the way
// back has written or removed (Touched), since NetworkManager may still have
// the trial's settings on their devices.
func DevicesBack(before, now Snapshot, touched []string) []Action {
	had := before.current()
	var actions, mtus []Action
	for _, d := range now.Devices {
		was, existed := before.device(d.Name)
		switch {
		case !existed && d.Software && !d.External && d.Profile != "":
			actions = append(actions, Action{Verb: DeleteDevice, Device: d.Name})
		case existed && (was.Profile == "" || was.External) && d.Profile != "" && !d.External:
			actions = append(actions, Action{Verb: Disconnect, Device: d.Name})
		}
	}
	var again []Device
	for _, was := range before.Devices {
		if was.Profile == "" || was.External {
			continue
		}
		d, _ := now.device(was.Name)
		if d.Profile != was.Profile || slices.Contains(touched, was.Profile) {
			again = append(again, was)
		}
	}
	slices.SortStableFunc(again, func(a, b Device) int { return order(had[a.Profile]) - order(had[b.Profile]) })
	for _, d := range again {
		actions = append(actions, Action{Verb: Activate, UUID: d.Profile, Name: had[d.Profile].name(), Device: d.Name})
	}
	for _, was := range before.Devices {
		// Activating a profile that names no MTU leaves the trial's.
		if d, there := now.device(was.Name); there && was.MTU != 0 && d.MTU != was.MTU {
			mtus = append(mtus, Action{Verb: SetMTU, Device: was.Name, MTU: was.MTU})
		}
	}
	return append(actions, mtus...)
}

func order(p profile) int {
	if p.isController() {
		return 0
	}
	return 1
}

// Touched are the UUIDs of the profiles that differ from before in now, on
// disk or in RunDir.
func Touched(before, now Snapshot) []string {
	var found []string
	for _, at := range paths(before.Files, now.Files) {
		if !isProfile(at) || before.Files.same(at, now.Files) {
			continue
		}
		for _, files := range []Files{before.Files, now.Files} {
			k := parse(files[at].Content)
			if uuid := k.uuid(); uuid != "" && !k.madeUp() && !slices.Contains(found, uuid) {
				found = append(found, uuid)
			}
		}
	}
	slices.Sort(found)
	return found
}

// target is what the files are to be after the way back: as before where the
// trial has touched them, otherwise as they are now. Without a picture of the
// trial everything that differs counts as the trial's.
func target(before Snapshot, trial *Trial, now Snapshot) Files {
	with := now
	if trial != nil {
		with = trial.Snapshot
	}
	mine := Touched(before, with)
	want := Files{}
	for _, at := range paths(before.Files, now.Files) {
		from := now.Files
		if at == DNSFile || slices.Contains(mine, uuidAt(at, before.Files, now.Files)) {
			from = before.Files
		}
		if file, there := from[at]; there {
			want[at] = file
		}
	}
	return want
}

// uuidAt is the UUID of the profile at a path, in the first of the files that
// has one; a profile that NetworkManager made up has none.
func uuidAt(at string, all ...Files) string {
	if !isProfile(at) {
		return ""
	}
	for _, files := range all {
		if k := parse(files[at].Content); k.uuid() != "" && !k.madeUp() {
			return k.uuid()
		}
	}
	return ""
}

// paths of both, those of RunDir first.
func paths(a, b Files) []string {
	all := maps.Clone(a)
	if all == nil {
		all = Files{}
	}
	maps.Copy(all, b)
	sorted := slices.Sorted(maps.Keys(all))
	slices.SortStableFunc(sorted, func(x, y string) int { return onDisk(x) - onDisk(y) })
	return sorted
}

func onDisk(at string) int {
	if path.Dir(at) == RunDir {
		return 0
	}
	return 1
}
