package profiles

import (
	"maps"
	"slices"
)

// WithoutJournal is the way back of a trial whose journal cannot be read. What is
// left to go by is what a trial leaves in RunDir: a profile that hides one on
// disk. files takes these away, so that the profiles on disk count again, and
// may be done while a checkpoint is alive. devices brings these profiles back to
// their devices, where no checkpoint does.
//
// Profiles in memory that hide none stay, since the node may have booted with them
// (an initrd makes such); only a controller goes that loses all its ports, since
// it would keep the addresses of what it loses.
//
// So what a trial has made anew stays too where the checkpoint is lost, until
// the next boot (LeftInRun): nothing in such a profile says who made it.
//
// What is taken for a trial's though it is somebody else's: an edit of a profile
// on disk that was made in memory only (nmcli connection modify --temporary).
// The profile on disk stays as it is in any case.
func WithoutJournal(now Snapshot) (files, devices []Action) {
	shadows, disk := now.shadows(), now.profiles(DiskDir)
	for _, uuid := range slices.Sorted(maps.Keys(shadows)) {
		files = append(files, Action{Verb: Remove, Path: shadows[uuid].path})
	}
	if len(files) == 0 {
		return nil, nil
	}
	files = append(files, Action{Verb: Reload})
	for _, p := range now.deserted(shadows) {
		devices = append(devices, Action{Verb: Delete, UUID: p.uuid(), Name: p.name()})
	}
	var again []Action
	for _, d := range now.Devices {
		uuid := d.Profile
		if uuid == "" {
			uuid = forDevice(d.Name, shadows, disk)
		}
		if _, hidden := shadows[uuid]; hidden && !d.External {
			again = append(again, Action{Verb: Activate, UUID: uuid, Name: disk[uuid].name(), Device: d.Name})
		}
	}
	slices.SortStableFunc(again, func(a, b Action) int { return order(disk[a.UUID]) - order(disk[b.UUID]) })
	return files, append(devices, again...)
}

// LeftInRun are the files in RunDir that hide none on disk, sorted: those of a trial
// that WithoutJournal cannot tell from others'.
func LeftInRun(now Snapshot) []string {
	disk := now.profiles(DiskDir)
	var found []string
	for uuid, p := range now.profiles(RunDir) {
		if _, hides := disk[uuid]; !hides {
			found = append(found, p.path)
		}
	}
	slices.Sort(found)
	return found
}

// shadows are the profiles in RunDir that hide a file that is on disk, by UUID.
func (s Snapshot) shadows() map[string]profile {
	disk := s.profiles(DiskDir)
	found := s.profiles(RunDir)
	maps.DeleteFunc(found, func(uuid string, p profile) bool {
		hidden, there := disk[uuid]
		return !there || hidden.path != p.shadows()
	})
	return found
}

// deserted are the controllers in memory only that have ports, and none of them
// without the shadows.
func (s Snapshot) deserted(shadows map[string]profile) []profile {
	disk, run := s.profiles(DiskDir), s.profiles(RunDir)
	var found []profile
	for _, uuid := range slices.Sorted(maps.Keys(run)) {
		p := run[uuid]
		if _, onDisk := disk[uuid]; onDisk || !p.isController() {
			continue
		}
		if has, keeps := ports(p, shadows), ports(p, disk)+ports(p, without(run, shadows)); has > 0 && keeps == 0 {
			found = append(found, p)
		}
	}
	return found
}

// ports counts those of a controller.
func ports(controller profile, among map[string]profile) int {
	count := 0
	for _, p := range among {
		if name := p.controller(); name != "" && (name == controller.uuid() || name == controller.device()) {
			count++
		}
	}
	return count
}

func without(all, some map[string]profile) map[string]profile {
	rest := maps.Clone(all)
	maps.DeleteFunc(rest, func(uuid string, _ profile) bool { _, is := some[uuid]; return is })
	return rest
}

// forDevice is the profile that a device without any would have by itself.
func forDevice(name string, shadows, disk map[string]profile) string {
	for _, uuid := range slices.Sorted(maps.Keys(shadows)) {
		if p := disk[uuid]; p.device() == name && p.keyfile["connection"]["autoconnect"] != "false" {
			return uuid
		}
	}
	return ""
}
