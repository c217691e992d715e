//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Paths inside a node.
const (
	// nodeShare is the node's state folder: logs, kubeconfig, control socket.
	nodeShare  = "/run/lab"
	nodeDisk   = nodeShare + "/disk"
	systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// cutMounts makes the new mount namespace deaf to the host's and the host's to
// it.
func cutMounts() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	return nil
}

// mounter builds a node's root; the first error stops it.
type mounter struct {
	root string
	err  error
}

func (m *mounter) at(path string) string { return filepath.Join(m.root, path) }

func (m *mounter) dir(path string, mode os.FileMode) {
	if m.err != nil {
		return
	}
	if info, err := os.Stat(m.at(path)); err == nil && info.IsDir() {
		return
	}
	if err := os.MkdirAll(m.at(path), mode); err != nil {
		m.err = fmt.Errorf("making %s: %w", path, err)
		return
	}
	if err := os.Chmod(m.at(path), mode); err != nil {
		m.err = fmt.Errorf("making %s: %w", path, err)
	}
}

func (m *mounter) mount(source, path, kind string, flags uintptr, data string) {
	if m.err != nil {
		return
	}
	if err := unix.Mount(source, m.at(path), kind, flags, data); err != nil {
		m.err = fmt.Errorf("mounting %s on the node's %s: %w", source, path, err)
	}
}

// bind shows a folder of the machine in the node. Read-only needs a second
// mount, since a bind takes no other flags at first.
func (m *mounter) bind(source, path string, readOnly bool) {
	m.mount(source, path, "", unix.MS_BIND|unix.MS_REC, "")
	if readOnly {
		m.mount("", path, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
	}
}

// enterRoot builds the node's root and makes it the process's. Programs come
// from spec.Base ("/" or a trixie root) and are read-only; /etc is a layer over
// the base's; /var is the node's own; both survive a reboot of the node.
//
// /sys starts read-only: NetworkManager then takes it that no udev runs;
// otherwise it would wait for udev to announce each NIC.
func enterRoot(ctx context.Context, spec *nodeSpec, dir string) error {
	if err := mountDisk(ctx, dir); err != nil {
		return err
	}
	m := &mounter{root: filepath.Join(dir, "root")}
	if err := os.MkdirAll(m.root, 0o755); err != nil {
		return fmt.Errorf("making the node's root: %w", err)
	}
	m.mount("tmpfs", "/", "tmpfs", 0, "mode=755")
	m.programs(spec.Base)
	m.disk(ctx, spec.Base, filepath.Join(dir, "disk"))
	for _, d := range []string{"/proc", "/sys", "/dev", "/run", "/root", "/home", "/mnt", "/opt", "/srv"} {
		m.dir(d, 0o755)
	}
	m.dir("/tmp", 0o777|os.ModeSticky)
	m.mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	m.mount("sysfs", "/sys", "sysfs", unix.MS_RDONLY, "")
	m.bind("/dev", "/dev", false)
	m.mount("tmpfs", "/run", "tmpfs", 0, "mode=755")
	for _, d := range []string{nodeShare, "/run/dbus", "/run/NetworkManager", "/run/lock"} {
		m.dir(d, 0o755)
	}
	m.bootID()
	// Not recursive: the node's root is mounted in that folder.
	m.mount(dir, nodeShare, "", unix.MS_BIND, "")
	// Where an image is mounted, the bind has only the empty folder.
	m.mount(filepath.Join(dir, "disk"), nodeDisk, "", unix.MS_BIND, "")
	for _, b := range spec.Binds {
		m.show(b)
	}
	if m.err != nil {
		return m.err
	}
	return pivot(m.root)
}

// bootID gives each boot of a node an id of its own, as each boot of a kernel has.
func (m *mounter) bootID() {
	const id, made = "/proc/sys/kernel/random/boot_id", "/run/boot-id"
	if m.err != nil {
		return
	}
	fresh, err := os.ReadFile("/proc/sys/kernel/random/uuid")
	if err == nil {
		err = os.WriteFile(m.at(made), fresh, 0o444)
	}
	if err != nil {
		m.err = fmt.Errorf("making the boot's id: %w", err)
		return
	}
	m.bind(m.at(made), id, true)
}

// show makes a folder or a file of the machine visible at the same path, without
// covering what the node has there.
func (m *mounter) show(path string) {
	if m.err != nil || m.visible(path) {
		return
	}
	info, err := os.Stat(path)
	if err != nil {
		m.err = fmt.Errorf("showing %s to the node: %w", path, err)
		return
	}
	if entries, err := os.ReadDir(m.at(path)); err == nil && len(entries) > 0 {
		m.err = fmt.Errorf("showing %s to the node: it has a folder of that name; move what it needs to another one", path)
		return
	}
	if info.IsDir() {
		m.dir(path, 0o755)
	} else {
		m.dir(filepath.Dir(path), 0o755)
		m.file(path)
	}
	m.bind(path, path, true)
}

// file makes an empty file to mount another on.
func (m *mounter) file(path string) {
	if m.err != nil {
		return
	}
	if err := os.WriteFile(m.at(path), nil, 0o755); err != nil {
		m.err = fmt.Errorf("making %s: %w", path, err)
	}
}

// visible tells whether a folder of the machine is already in the node's root.
func (m *mounter) visible(path string) bool {
	if m.err != nil {
		return true
	}
	var here, there unix.Stat_t
	if unix.Stat(path, &here) != nil || unix.Stat(m.at(path), &there) != nil {
		return false
	}
	return here.Dev == there.Dev && here.Ino == there.Ino
}

func (m *mounter) programs(base string) {
	m.dir("/usr", 0o755)
	m.bind(filepath.Join(base, "usr"), "/usr", true)
	for _, d := range []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"} {
		source := filepath.Join(base, d)
		info, err := os.Lstat(source)
		if m.err != nil || errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			m.err = fmt.Errorf("looking at %s: %w", source, err)
			return
		}
		if info.Mode()&os.ModeSymlink == 0 {
			m.dir("/"+d, 0o755)
			m.bind(source, "/"+d, true)
			continue
		}
		target, err := os.Readlink(source)
		if err == nil {
			err = os.Symlink(target, m.at(d))
		}
		if err != nil {
			m.err = fmt.Errorf("copying the link %s: %w", source, err)
		}
	}
}

// disk is what a node keeps over a reboot.
func (m *mounter) disk(ctx context.Context, base, disk string) {
	for _, d := range []string{"etc", "work", "var/lib/NetworkManager", "var/lib/dbus", "var/log", "var/cache", "var/tmp"} {
		if err := os.MkdirAll(filepath.Join(disk, d), 0o755); err != nil {
			m.err = fmt.Errorf("making the node's disk: %w", err)
			return
		}
	}
	m.dir("/etc", 0o755)
	m.etc(ctx, filepath.Join(base, "etc"), filepath.Join(disk, "etc"), filepath.Join(disk, "work"))
	m.dir("/var", 0o755)
	m.bind(filepath.Join(disk, "var"), "/var", false)
	if err := os.Symlink("/run", m.at("/var/run")); m.err == nil && err != nil && !errors.Is(err, os.ErrExist) {
		m.err = fmt.Errorf("linking /var/run: %w", err)
	}
}

// etc is a layer over the base's /etc, or a copy of it where the state folder
// cannot carry one: it is itself in an overlay, as in most containers, or it keeps
// no attributes, as in a VM, where a layer is mounted but nothing can be removed.
func (m *mounter) etc(ctx context.Context, lower, upper, work string) {
	if m.err != nil {
		return
	}
	layers := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", lower, upper, work)
	carries := unix.Setxattr(upper, "trusted.lab", nil, 0) == nil
	if carries && unix.Mount("overlay", m.at("/etc"), "overlay", 0, layers) == nil {
		return
	}
	if _, err := os.Stat(filepath.Join(upper, "passwd")); err != nil { // not a reboot
		if out, err := exec.CommandContext(ctx, "cp", "-a", lower+"/.", upper).CombinedOutput(); err != nil {
			m.err = fmt.Errorf("copying %s: %w: %s", lower, err, out)
			return
		}
	}
	m.bind(upper, "/etc", false)
}

// pivot makes root the root of the whole namespace and lets go of the old one.
func pivot(root string) error {
	if err := unix.Chdir(root); err != nil {
		return fmt.Errorf("entering the node's root: %w", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("changing to the node's root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("letting go of the machine's root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("entering the node's root: %w", err)
	}
	return nil
}

// remountSys switches /sys between read-only (while NetworkManager starts) and
// writable (nmstate and NetworkManager set bridge options there).
func remountSys(readOnly bool) error {
	flags := uintptr(unix.MS_REMOUNT)
	if readOnly {
		flags |= unix.MS_RDONLY
	}
	if err := unix.Mount("sysfs", "/sys", "sysfs", flags, ""); err != nil {
		return fmt.Errorf("remounting /sys: %w", err)
	}
	return nil
}

// writeFiles writes files of a node's /etc; the folders are made.
func writeFiles(files map[string]string, mode os.FileMode) error {
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("making %s: %w", filepath.Dir(path), err)
		}
		// The base may have a link here that leads out of /etc (resolv.conf).
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("replacing %s: %w", path, err)
		}
		if err := os.WriteFile(path, []byte(strings.TrimLeft(text, "\n")), mode); err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
	}
	return nil
}
