package nmstate

import (
	"fmt"
	"path/filepath"

	"github.com/fsnotify/fsnotify"

	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// holder keeps DNSFile as it was while a trial runs. NetworkManager writes it
// for the next boot as soon as nmstate sets global DNS, in memory or not; it
// reads it at its start only, so it goes on with the new DNS.
type holder struct {
	disk   disk
	before profiles.Files
	held   profiles.Files
	// changes come when something in the folder has changed; nil where it
	// cannot be watched. Then only the last look puts the file back.
	changes <-chan fsnotify.Event
	watcher *fsnotify.Watcher
}

// hold notes the file as it is now.
func hold(d disk) (*holder, error) {
	h := &holder{disk: d, before: profiles.Files{}, held: profiles.Files{}}
	if err := d.readInto(h.before, profiles.DNSFile); err != nil {
		return nil, err
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return h, nil // The machine is out of watches; a trial is still no reason to fail.
	}
	if err := watcher.Add(filepath.Dir(d.at(profiles.DNSFile))); err != nil {
		_ = watcher.Close() // It watches nothing.
		return h, nil
	}
	h.watcher, h.changes = watcher, watcher.Events
	return h, nil
}

// putBack gives the file its old bytes, if it has others, and keeps those.
func (h *holder) putBack() error {
	now := profiles.Files{}
	if err := h.disk.readInto(now, profiles.DNSFile); err != nil {
		return err
	}
	was, existed := h.before[profiles.DNSFile]
	is, there := now[profiles.DNSFile]
	if existed == there && string(was.Content) == string(is.Content) {
		return nil
	}
	if !there {
		// An empty file says the same as none, and can be written.
		is = profiles.File{Mode: was.Mode}
	}
	h.held[profiles.DNSFile] = is
	var err error
	if existed {
		err = h.disk.write(profiles.DNSFile, was)
	} else {
		err = h.disk.remove(profiles.DNSFile)
	}
	if err != nil {
		return fmt.Errorf("putting the old global DNS back: %w", err)
	}
	return nil
}

// end stops watching and takes the last look.
func (h *holder) end() (profiles.Files, error) {
	if h.watcher != nil {
		_ = h.watcher.Close() // What it would tell is looked up right now.
	}
	err := h.putBack()
	return h.held, err
}
