package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// layers are the profiles of a fake host, one for each interface that was ever
// configured: its name is its UUID, and its file holds the interface.
type layers struct {
	files  profiles.Files
	active map[string]bool
}

func (l layers) clone() layers {
	return layers{files: maps.Clone(l.files), active: maps.Clone(l.active)}
}

func (l *layers) put(at string, file profiles.File) {
	if l.files == nil {
		l.files = profiles.Files{}
	}
	l.files[at] = file
}

func fileOf(dir, name string) string { return path.Join(dir, name+".nmconnection") }

// tried has the interface configured in memory and in /run only.
func (l *layers) tried(name string, tree map[string]any) {
	said, err := json.Marshal(tree)
	if err != nil {
		panic(err)
	}
	content := fmt.Sprintf("[connection]\nid=%[1]s\nuuid=%[1]s\ninterface-name=%[1]s\n[user]\nsaid=%[2]s\n", name, said)
	l.put(fileOf(profiles.RunDir, name), profiles.File{Mode: 0o600, Content: []byte(content)})
	if l.active == nil {
		l.active = map[string]bool{}
	}
	l.active[name] = true
}

// said is the interface of a profile, as the file says that counts.
func (l *layers) said(name string) (map[string]any, bool) {
	file, there := l.files[fileOf(profiles.RunDir, name)]
	if !there {
		file, there = l.files[fileOf(profiles.DiskDir, name)]
	}
	_, raw, found := strings.Cut(string(file.Content), "said=")
	var tree map[string]any
	return tree, there && found && json.Unmarshal([]byte(raw), &tree) == nil
}

func (h *host) Profiles(ctx context.Context) (profiles.Snapshot, error) {
	h.mu.Lock()
	snapshot := profiles.Snapshot{Files: maps.Clone(h.layers.files)}
	h.mu.Unlock()
	var err error
	snapshot.Devices, err = h.Devices(ctx)
	return snapshot, err
}

func (h *host) Devices(context.Context) ([]profiles.Device, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []profiles.Device
	for _, name := range slices.Sorted(mapsKeys(h.interfaces)) {
		d := h.stands(name)
		d.Software = h.bare[name] == nil
		if h.layers.active[name] {
			d.Profile = name
		}
		found = append(found, d)
	}
	return found, nil
}

// stands is where NetworkManager has a device: activated, but for those that a test names.
func (h *host) stands(name string) profiles.Device {
	if name == h.disconnected {
		return profiles.Device{Name: name, State: profiles.Disconnected}
	}
	if d, is := h.standing[name]; is {
		return d
	}
	return profiles.Device{Name: name, State: profiles.Active}
}

func (h *host) Do(_ context.Context, a profiles.Action) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	run, disk := fileOf(profiles.RunDir, a.UUID), fileOf(profiles.DiskDir, a.UUID)
	switch a.Verb {
	case profiles.Save:
		if file, there := h.layers.files[run]; there {
			h.layers.put(disk, file)
			delete(h.layers.files, run)
		}
	case profiles.Delete:
		delete(h.layers.files, run)
		delete(h.layers.files, disk)
		h.release(a.UUID)
	case profiles.Write:
		h.layers.put(a.Path, a.File)
	case profiles.Remove:
		delete(h.layers.files, a.Path)
	case profiles.Activate:
		tree, there := h.layers.said(a.UUID)
		if !there {
			return backend.ErrGone
		}
		h.interfaces[a.Device], h.layers.active[a.Device] = tree, true
	case profiles.Disconnect, profiles.DeleteDevice:
		h.release(a.Device)
	}
	return nil
}

// release leaves of an interface what is hardware.
func (h *host) release(name string) {
	delete(h.layers.active, name)
	delete(h.interfaces, name)
	if bare := h.bare[name]; bare != nil {
		h.interfaces[name] = bare
	}
}
