//go:build linux

package lab

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// machine is what a lab must leave as it found it. Others use the machine too:
// what only they can have changed, such as a docker daemon's containers that
// come and go, is not in it.
type machine struct {
	Mounts, Links, Processes, Folder []string
}

func lookAt(t *testing.T, root string) machine {
	t.Helper()
	var m machine
	raw, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	m.Mounts = mountsOf(root, string(raw))
	links, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if !ofContainers.MatchString(l.Name) {
			m.Links = append(m.Links, l.Name)
		}
	}
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), root) {
			m.Processes = append(m.Processes, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	if m.Folder, err = filepath.Glob(root + "/*"); err != nil {
		t.Fatal(err)
	}
	return m
}

// ofContainers are the names that docker and CNI plugins draw for their links;
// none of this package's names is like them.
var ofContainers = regexp.MustCompile(`^(docker0|br-[0-9a-f]{12}|veth[0-9a-f]{7,8})$`)

// nodePlaces are where a node has mounts of its own. They are the machine's if a
// process of the lab is in the wrong namespace.
var nodePlaces = []string{
	"/", "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/sys", "/dev", "/run", nodeShare, "/var",
}

// mountsOf are the lines of a mountinfo that a lab with its state under root can
// have changed: mounts in root, of root (also as a layer), and at nodePlaces.
func mountsOf(root, mountinfo string) []string {
	var lines []string
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line) // The fifth is the mount point; see proc_pid_mountinfo(5).
		// A bind tells its source from the root of that file system on, so the last
		// name is what is common to all; it was drawn for this test.
		if strings.Contains(line, filepath.Base(root)) || len(fields) > 4 && slices.Contains(nodePlaces, fields[4]) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func TestMountsThatALabCanHaveMade(t *testing.T) {
	const root = "/run/lab-test-123"
	for sentence, c := range map[string]struct {
		line string
		is   bool
	}{
		"a mount in its folder":             {"60 27 0:50 / /run/lab-test-123/default/nodes/node1/root rw - tmpfs tmpfs rw", true},
		"a bind of its folder elsewhere":    {"61 27 0:25 /lab-test-123/default/nodes/node1 /mnt/share rw - tmpfs tmpfs rw", true},
		"a layer in its folder":             {"62 27 0:51 / /mnt/etc rw - overlay overlay rw,lowerdir=/etc,upperdir=/run/lab-test-123/default/disk/etc", true},
		"a node's /sys over the machine's":  {"63 23 0:22 / /sys ro,relatime - sysfs sysfs rw", true},
		"the machine's root, made private":  {"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw", true},
		"a container's layers":              {"64 27 0:52 / /var/lib/docker/overlay2/0a1b/merged rw - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l/X", false},
		"a container's network namespace":   {"65 26 0:4 net:[4026532281] /run/docker/netns/0a1b rw - nsfs nsfs rw", false},
		"a container's shared memory":       {"66 27 0:53 / /var/lib/docker/containers/0a1b/mounts/shm rw - tmpfs shm rw", false},
		"another lab's, which has its test": {"67 27 0:54 / /run/lab-test-456/default/nodes/node1/root rw - tmpfs tmpfs rw", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			var want []string
			if c.is {
				want = []string{c.line}
			}
			if diff := cmp.Diff(want, mountsOf(root, c.line+"\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNamesOfLinksAreNotThoseOfContainers(t *testing.T) {
	for name, are := range map[string]bool{
		"docker0": true, "br-0123456789ab": true, "veth0a1b2c3": true, "veth0a1b2c3d": true,
		"eth0": false, "veth0": false, "br-lan": false, bridgeName("lan"): false, peerName("node1", "eth0"): false, peerName("a-long-name-of-a-node", "eth0"): false,
	} {
		if got := ofContainers.MatchString(name); got != are {
			t.Errorf("%s: %v", name, got)
		}
	}
}
