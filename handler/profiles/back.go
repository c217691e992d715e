package profiles

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

// FilesBack puts the files back that the trial has touched, byte for byte, and
// has NetworkManager read those, and no others. trial is the snapshot with the change in place,
// nil where none was taken. What somebody else did to other files since then
// stays as it was seen before the way back began: NetworkManager's own rollback
// would undo that too.
func FilesBack(before Snapshot, trial *Trial, seen, now Snapshot) []Action {
	want, mine := target(before, trial, seen)
	var actions []Action
	var changed []string
	// First what hides a profile on disk, then the disk: read in between,
	// neither shows more of the trial than before.
	for _, at := range paths(want, now.Files) {
		file, stays := want[at]
		switch {
		case want.same(at, now.Files):
			continue
		case stays:
			actions = append(actions, Action{Verb: Write, Path: at, File: file})
		case isOurs(at, mine, trial, now.Files):
			actions = append(actions, Action{Verb: Remove, Path: at})
		default:
			continue // Somebody else's, since a moment ago.
		}
		if isProfile(at) {
			changed = append(changed, at)
		}
	}
	if len(actions) > 0 {
		actions = append(safely(actions, now), Action{Verb: Sync})
	}
	stale := unread(before, now)
	for _, uuid := range stale {
		for _, at := range pathsOf(uuid, before, trial, seen) {
			if !slices.Contains(changed, at) {
				changed = append(changed, at)
			}
		}
	}
	if len(changed)+len(stale) > 0 {
		actions = append(actions, Action{Verb: Reload, Paths: changed})
	}
	if now.Hostname != before.Hostname {
		actions = append(actions, Action{Verb: SetHostname, Name: before.Hostname})
	}
	return actions
}

// safely orders actions on files as Permanent does, so that a power cut between any
// two of them leaves a node that can be reached; what is removed from disk goes once
// all that is written there is certain.
func safely(actions []Action, now Snapshot) []Action {
	var first, others, removed []Action
	var written []profile
	for _, a := range actions {
		switch {
		case onDisk(a.Path) == 0:
			first = append(first, a)
		case a.Verb == Remove:
			removed = append(removed, a)
		case isProfile(a.Path):
			written = append(written, profile{keyfile: parse(a.File.Content), path: a.Path})
		default:
			others = append(others, a)
		}
	}
	put := func(p profile) Action {
		return actions[slices.IndexFunc(actions, func(a Action) bool { return a.Path == p.path })]
	}
	ordered := slices.Concat(first, inStages(now.profiles(DiskDir), written, put), others)
	if len(removed) > 0 && len(written)+len(others) > 0 {
		ordered = append(ordered, Action{Verb: Sync})
	}
	return append(ordered, removed...)
}

// unread are the profiles that NetworkManager has otherwise than their files, and
// had not before: whoever put those back may have died before the Reload.
func unread(before, now Snapshot) []string {
	inRun := now.profiles(RunDir)
	return slices.DeleteFunc(slices.Clone(now.Unsaved), func(uuid string) bool {
		_, shadow := inRun[uuid]
		return shadow || slices.Contains(before.Unsaved, uuid)
	})
}

// pathsOf are those at which a profile is, or was in the trial.
func pathsOf(uuid string, before Snapshot, trial *Trial, seen Snapshot) []string {
	all := []Files{before.Files, seen.Files}
	if trial != nil {
		all = append(all, trial.Files)
	}
	var found []string
	for _, files := range all {
		for at := range files {
			if uuidAt(at, files) == uuid {
				found = append(found, at)
			}
		}
	}
	slices.Sort(found)
	return found
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
// on, for a trial whose checkpoint is lost. trial is as for FilesBack; touched
// are the UUIDs that the way back has written or removed (Touched), since
// NetworkManager may still have the trial's settings on their devices. A device
// that a touched profile speaks of and that was not there goes, also where
// NetworkManager died between making it and giving it the profile.
//
// A device that somebody had configured without a profile gets the profile that
// NetworkManager had made up for it, where that is known: it is in memory only,
// and has the device's addresses from before.
func DevicesBack(before Snapshot, trial *Trial, seen, now Snapshot, touched []string) []Action {
	had, madeUp := before.current(), before.madeUp()
	made := madeFor(touched, trial, seen)
	var actions, mtus []Action
	for _, d := range now.Devices {
		was, existed := before.device(d.Name)
		switch {
		case !existed && d.Software && (d.managed() || trial.made(d.Name) || slices.Contains(made, d.Name)):
			actions = append(actions, Action{Verb: DeleteDevice, Device: d.Name})
		case existed && !was.managed() && d.managed() && !slices.Contains(madeUp, was.Profile):
			actions = append(actions, Action{Verb: Disconnect, Device: d.Name})
		}
	}
	var again []Device
	for _, was := range before.Devices {
		d, _ := now.device(was.Name)
		taken := d.managed() || slices.Contains(touched, was.Profile) || trial.made(was.Name)
		switch {
		case was.managed() && (d.Profile != was.Profile || slices.Contains(touched, was.Profile)),
			was.External && taken && slices.Contains(madeUp, was.Profile):
			again = append(again, was)
		}
	}
	slices.SortStableFunc(again, func(a, b Device) int { return order(had[a.Profile]) - order(had[b.Profile]) })
	for _, d := range again {
		actions = append(actions, Action{Verb: Activate, UUID: d.Profile, Name: cmp.Or(had[d.Profile].name(), d.Name), Device: d.Name})
	}
	for _, was := range before.Devices {
		// Activating a profile that names no MTU leaves the trial's.
		if d, there := now.device(was.Name); there && was.MTU != 0 && d.MTU != was.MTU {
			mtus = append(mtus, Action{Verb: SetMTU, Device: was.Name, MTU: was.MTU})
		}
	}
	return append(actions, mtus...)
}

// managed tells a device that has a profile of somebody's.
func (d Device) managed() bool { return d.Profile != "" && !d.External }

// made tells a device that the trial gave a profile.
func (t *Trial) made(name string) bool {
	if t == nil {
		return false
	}
	d, _ := t.device(name)
	return d.managed()
}

// madeFor are the devices that the trial's profiles name. seen stands for the
// trial where no picture of it was taken.
func madeFor(touched []string, trial *Trial, seen Snapshot) []string {
	with := seen.Files
	if trial != nil {
		with = trial.Files
	}
	var found []string
	for at, file := range with {
		if k := parse(file.Content); isProfile(at) && k.device() != "" && slices.Contains(touched, k.uuid()) {
			found = append(found, k.device())
		}
	}
	return found
}

func order(p profile) int {
	if p.isController() {
		return 0
	}
	return 1
}

// Touched are the UUIDs of the profiles that the trial has changed, on disk or
// in RunDir. Without a picture of the trial everything that differs counts.
func Touched(before Snapshot, trial *Trial, now Snapshot) []string {
	with := now
	if trial != nil {
		with = trial.Snapshot
	}
	var found []string
	for _, at := range paths(before.Files, with.Files) {
		if !isProfile(at) || before.Files.same(at, with.Files) {
			continue
		}
		for _, files := range []Files{before.Files, with.Files} {
			if uuid := uuidAt(at, files); uuid != "" && !slices.Contains(found, uuid) {
				found = append(found, uuid)
			}
		}
	}
	slices.Sort(found)
	return found
}

// target is what the files are to be after the way back: as before where the
// trial has touched them, otherwise as they were seen. mine are the profiles
// that the trial has touched.
func target(before Snapshot, trial *Trial, seen Snapshot) (want Files, mine []string) {
	mine = Touched(before, trial, seen)
	if trial != nil {
		mine = append(mine, trial.Void...) // Tidy may have deleted them already.
	}
	want = Files{}
	for _, at := range paths(before.Files, seen.Files) {
		from := seen.Files
		switch uuid := uuidAt(at, before.Files, seen.Files); {
		case isUnfinished(at) || isTorn(at, mine, trial, seen.Files):
			from = before.Files
		case at == DNSFile || slices.Contains(mine, uuid):
			from = before.Files
		case isProfile(at) && uuid == "":
			continue // NetworkManager makes it up as it needs it.
		}
		if file, there := from[at]; there {
			want[at] = file
		}
	}
	return want, mine
}

// Wanted is what the way back leads to: as before, with what others did since. seen is as for
// FilesBack.
func Wanted(before Snapshot, trial *Trial, seen Snapshot) Snapshot {
	wanted := before
	wanted.Files, _ = target(before, trial, seen)
	return wanted
}

// isOurs tells whether a file that is not to be there is the trial's.
func isOurs(at string, mine []string, trial *Trial, now Files) bool {
	return at == DNSFile || isUnfinished(at) || isTorn(at, mine, trial, now) || slices.Contains(mine, uuidAt(at, now))
}

// isTorn tells a profile of the trial that was being made permanent when the power went:
// NetworkManager flushes nothing, so a new file may be empty, or end before or within its
// UUID. Its name is that of the trial's file.
func isTorn(at string, mine []string, trial *Trial, files Files) bool {
	file, there := files[at]
	if !there || trial == nil || path.Dir(at) != DiskDir {
		return false
	}
	whole, part := uuidAt(path.Join(RunDir, path.Base(at)), trial.Files), parse(file.Content).uuid()
	return slices.Contains(mine, whole) && len(part) < len(whole) && strings.HasPrefix(whole, part)
}

// isUnfinished tells a file that NetworkManager was writing when the power went:
// it writes beside a profile and renames, so nobody reads it any more.
func isUnfinished(at string) bool {
	const ending = ".nmconnection"
	_, random, found := strings.Cut(path.Base(at), ending+".")
	return found && isProfile(at) && len(random) == len("XXXXXX")
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
