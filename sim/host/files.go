package host

import (
	"maps"
	"path"
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// files are what NetworkManager keeps in files:
//
//	disk ──Sync──► durable      the next boot reads it
//	run                         the next NetworkManager reads it, no boot
//
// A power cut takes back, of each file that was written since the last Sync,
// all or a part, or nothing.
type files struct {
	// disk as whoever reads it sees it.
	disk, durable profiles.Files
	// torn are those that NetworkManager made: it flushes only files that were
	// there before, so a power cut may leave a part of them.
	torn map[string]bool
	run  profiles.Files
}

// hostnameFile is what the next boot's hostname is read from.
const hostnameFile = "/etc/hostname"

func newFiles() files {
	return files{disk: profiles.Files{}, durable: profiles.Files{}, torn: map[string]bool{}, run: profiles.Files{}}
}

func (h *Host) layer(at string) profiles.Files {
	if path.Dir(at) == profiles.RunDir {
		return h.files.run
	}
	return h.files.disk
}

// write puts a file there, whole.
func (h *Host) write(at string, file profiles.File) {
	layer := h.layer(at)
	if is, there := layer[at]; there && is.Mode == file.Mode && string(is.Content) == string(file.Content) {
		return
	}
	layer[at] = file
	h.written(at)
}

// remove takes a file away.
func (h *Host) remove(at string) {
	layer := h.layer(at)
	if _, there := layer[at]; !there {
		return
	}
	delete(layer, at)
	h.written(at)
}

func (h *Host) written(at string) {
	if path.Dir(at) == profiles.RunDir {
		return
	}
	delete(h.files.torn, at)
	if h.OnDisk != nil {
		h.OnDisk(at)
	}
}

// sync makes what was written outlive a power cut.
func (h *Host) sync() {
	h.files.durable = maps.Clone(h.files.disk)
	clear(h.files.torn)
}

// Sync is what a shutdown does before the power goes.
func (h *Host) Sync() { h.sync() }

// cutPower leaves of the files what a power cut does.
func (h *Host) cutPower() {
	for _, at := range slices.Sorted(maps.Keys(both(h.files.disk, h.files.durable))) {
		is, there := h.files.disk[at]
		was, had := h.files.durable[at]
		if there == had && string(is.Content) == string(was.Content) {
			continue
		}
		const kept, lost, cutShort = 0, 1, 2
		fate := h.cut.IntN(cutShort + 1)
		switch {
		case fate == lost && had:
			h.files.disk[at] = was
		case fate == lost:
			delete(h.files.disk, at)
		case fate == cutShort && there && h.files.torn[at]:
			h.files.disk[at] = profiles.File{Mode: is.Mode, Content: is.Content[:h.cut.IntN(len(is.Content))]}
		case fate == kept:
		}
		h.world.Trace(h.Name, "host", "power cut: "+at+" "+[]string{"was written", "is as before", "may be cut short"}[fate])
	}
	clear(h.files.run)
	h.sync()
}

func both(a, b profiles.Files) profiles.Files {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// Files are those of NetworkManager on disk and in /run, and the hostname's, for
// oracles. They are not to be changed.
func (h *Host) Files() profiles.Files { return both(h.files.disk, h.files.run) }

// Armed are the Files as they were when the transaction was written down that is
// open, or was open last, for oracles.
func (h *Host) Armed() profiles.Files { return h.disk.armed }

// ArmedUnsaved is what Unsaved told at that time.
func (h *Host) ArmedUnsaved() []string { return h.disk.unsaved }

// Unsynced are the paths of what a power cut would not leave as it is, for oracles.
func (h *Host) Unsynced() []string {
	var found []string
	for _, at := range slices.Sorted(maps.Keys(both(h.files.disk, h.files.durable))) {
		is, there := h.files.disk[at]
		was, had := h.files.durable[at]
		if there != had || string(is.Content) != string(was.Content) {
			found = append(found, at)
		}
	}
	return found
}

// Unsaved are the paths of what NetworkManager has and the next boot would not
// find: profiles in /run, or in memory alone since somebody removed their file and did not
// have that read, where it would write them; and global DNS; for oracles.
func (h *Host) Unsaved() []string {
	found := slices.Sorted(maps.Keys(h.files.run))
	if h.nm.running {
		at := h.storage()
		for _, p := range h.settings.all() {
			if !p.bare && at[p.uuid] == (stored{}) {
				found = append(found, unused(profiles.RunDir, p, h.files.run))
			}
		}
	}
	if h.nm.running && !same(h.settings.dns, h.readDNS()) {
		found = append(found, profiles.DNSFile)
	}
	return found
}
