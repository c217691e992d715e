package profiles

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Where NetworkManager keeps what it knows.
const (
	// DiskDir is read at boot.
	DiskDir = "/etc/NetworkManager/system-connections"
	// RunDir is lost at boot; what is in it hides a profile of the same UUID on disk.
	RunDir = "/run/NetworkManager/system-connections"
	// DNSFile holds the global DNS that was set over D-Bus. It is read at boot.
	DNSFile = "/var/lib/NetworkManager/NetworkManager-intern.conf"
)

// File is one file with its permissions.
type File struct {
	Mode    uint32 `json:"mode"`
	Content []byte `json:"content"`
}

func (f File) equal(other File) bool {
	return f.Mode == other.Mode && string(f.Content) == string(other.Content)
}

// Files by their paths.
type Files map[string]File

func (f Files) same(path string, other Files) bool {
	a, in := f[path]
	b, inOther := other[path]
	return in == inOther && (!in || a.equal(b))
}

// Device is one of NetworkManager's devices.
type Device struct {
	Name string `json:"name"`
	// Profile is the UUID of the profile that is active on it; empty for none.
	// External tells one that NetworkManager made up for what somebody else
	// configured: it has another UUID each time.
	Profile  string `json:"profile,omitempty"`
	External bool   `json:"external,omitempty"`
	// Software: it is made by a profile and goes with it, unlike hardware.
	Software bool `json:"software,omitempty"`
	MTU      int  `json:"mtu,omitempty"`
	// State and NoCarrier are of this moment, and nothing goes back to them.
	State     DeviceState `json:"-"`
	NoCarrier bool        `json:"-"`
}

// Snapshot is what NetworkManager knows at one moment.
type Snapshot struct {
	// Files of DiskDir and RunDir, and DNSFile.
	Files Files `json:"files"`
	// Unsaved are the UUIDs of the profiles that are in memory only, or differ
	// there from what is on disk.
	Unsaved []string `json:"unsaved,omitempty"`
	Devices []Device `json:"devices,omitempty"`
	// Hostname that the next boot gets, as NetworkManager says.
	Hostname string `json:"hostname,omitempty"`
	// OpenVSwitch is what its database holds for the node as a whole.
	OpenVSwitch state.Columns `json:"openVSwitch,omitempty"`
	// Scripts are nmstate's of ScriptsDir; nil where the installation allows none, and
	// nobody looks.
	Scripts Files `json:"scripts,omitzero"`
}

// Trial is the snapshot of a node with a change in place.
type Trial struct {
	Snapshot
	// Held is what the trial has written where the next boot reads it, and
	// what was put back to its old bytes at once.
	Held Files `json:"held,omitempty"`
	// Void are the UUIDs of the profiles that Tidy deletes once the change is committed.
	// A way back after that makes them as before.
	Void []string `json:"void,omitempty"`
}

// profile is what a file of a profile says.
type profile struct {
	keyfile
	path string
}

// profiles of a folder by UUID, those left out that NetworkManager made up.
func (s Snapshot) profiles(dir string) map[string]profile {
	found := map[string]profile{}
	for _, at := range slices.Sorted(maps.Keys(s.Files)) {
		if path.Dir(at) != dir {
			continue
		}
		p := profile{keyfile: parse(s.Files[at].Content), path: at}
		if p.uuid() != "" && !p.madeUp() {
			found[p.uuid()] = p
		}
	}
	return found
}

// current are the profiles as NetworkManager has them: one in RunDir hides the
// one on disk.
func (s Snapshot) current() map[string]profile {
	all := s.profiles(DiskDir)
	maps.Copy(all, s.profiles(RunDir))
	return all
}

// madeUp are the UUIDs of the profiles that NetworkManager made up for what
// somebody else configured.
func (s Snapshot) madeUp() []string {
	var found []string
	for at, file := range s.Files {
		if k := parse(file.Content); isProfile(at) && k.madeUp() {
			found = append(found, k.uuid())
		}
	}
	return found
}

func (s Snapshot) device(name string) (Device, bool) {
	for _, d := range s.Devices {
		if d.Name == name {
			return d, true
		}
	}
	return Device{}, false
}

// isProfile tells a path of a profile on disk or in RunDir.
func isProfile(at string) bool {
	return strings.HasPrefix(at, DiskDir+"/") || strings.HasPrefix(at, RunDir+"/")
}
