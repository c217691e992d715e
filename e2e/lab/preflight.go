//go:build linux

package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// UnavailableError says that this machine, as it is, cannot have a lab: what is
// missing and what would help, in one line. Tests skip with it.
type UnavailableError struct{ Reason string }

func (e *UnavailableError) Error() string { return e.Reason }

func errNotRoot() error {
	return &UnavailableError{"the lab needs root (network namespaces and mounts): run it with sudo"}
}

// Available returns nil if this machine can have a lab with NetworkManager from
// nm (see Options.NM; empty is "auto"), else an UnavailableError.
func Available(nm string) error {
	if os.Geteuid() != 0 {
		return errNotRoot()
	}
	err := onOwnThread(func() error { return unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWNS) })
	if err != nil {
		return &UnavailableError{fmt.Sprintf("the lab may not make namespaces here (%v): in a container it needs --privileged", err)}
	}
	programs := []string{"ip", "dnsmasq"}
	if nm == nmHost {
		programs = append(programs, "NetworkManager", "dbus-daemon")
	}
	return havePrograms(programs...)
}

// havePrograms names everything that is missing in one line with the command
// that installs it.
func havePrograms(programs ...string) error {
	debian := map[string]string{"ip": "iproute2", "dnsmasq": "dnsmasq-base", "NetworkManager": "network-manager", "dbus-daemon": "dbus"}
	fedora := map[string]string{"ip": "iproute", "dnsmasq": "dnsmasq", "NetworkManager": "NetworkManager", "dbus-daemon": "dbus-daemon"}
	install, packages := "apt-get install", debian
	if _, err := exec.LookPath("dnf"); err == nil {
		install, packages = "dnf install", fedora
	}
	var missing, names []string
	for _, p := range programs {
		if !hasProgram(p) {
			missing, names = append(missing, p), append(names, packages[p])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return &UnavailableError{fmt.Sprintf("missing: %s; install with: %s %s", strings.Join(missing, ", "), install, strings.Join(names, " "))}
}

// hasProgram looks where the system keeps its programs, whatever PATH says.
func hasProgram(name string) bool {
	for _, dir := range filepath.SplitList(systemPath) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}

// plainPath matches what a kernel's command line and QEMU's arguments can hold.
var plainPath = regexp.MustCompile(`^[-A-Za-z0-9_./]+$`)

// prepare checks everything that can be checked before the first change.
func prepare(opts *Options) (*Lab, error) {
	if err := opts.complete(); err != nil {
		return nil, err
	}
	if opts.NM != nmAuto && !slices.Contains(networkManagers, opts.NM) {
		return nil, fmt.Errorf("NetworkManager from %q: give auto or one of %s", opts.NM, strings.Join(networkManagers, ", "))
	}
	if opts.Disk != DiskFolder && opts.Disk != DiskImage {
		return nil, fmt.Errorf("disk %q: give %s or %s", opts.Disk, DiskFolder, DiskImage)
	}
	if opts.VM && opts.Disk != DiskFolder {
		return nil, fmt.Errorf("disk %q: with --vm disks are folders", opts.Disk)
	}
	if opts.VM && !plainPath.MatchString(opts.Root) {
		return nil, fmt.Errorf("folder of the labs: %q: with --vm it is of letters, digits and ./_- only", opts.Root)
	}
	if opts.VM && opts.NM == nmHost {
		return nil, fmt.Errorf("NetworkManager from %q: with --vm give auto, %s or %s", opts.NM, NM152, NM142)
	}
	if opts.ControlPlane != "embedded" && opts.ControlPlane != "none" {
		return nil, fmt.Errorf("control plane %q: give embedded or none", opts.ControlPlane)
	}
	if opts.Topology == nil {
		t, err := ThreeNodes()
		if err != nil {
			return nil, err
		}
		opts.Topology = t
	}
	if len(opts.Topology.cards()) > 0 && !opts.VM {
		return nil, fmt.Errorf("a NIC with sriov: true: only a lab in a VM has that (lab up --vm)")
	}
	if opts.Topology.openVSwitch() && !opts.VM {
		return nil, fmt.Errorf("a node with openvswitch: true: only a lab in a VM has that (lab up --vm)")
	}
	if err := Available(opts.NM); err != nil {
		return nil, err
	}
	for _, path := range []*string{&opts.Handler, &opts.Binary, &opts.Kubeconfig, &opts.Deploy} {
		if *path == "" {
			continue
		}
		abs, err := filepath.Abs(*path)
		if err != nil {
			return nil, fmt.Errorf("finding %s: %w", *path, err)
		}
		if _, err := os.Stat(abs); err != nil {
			return nil, fmt.Errorf("looking for a file of the lab: %w", err)
		}
		*path = abs
	}
	return &Lab{opts: *opts, dir: filepath.Join(opts.Root, opts.Name)}, nil
}
