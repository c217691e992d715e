//go:build linux

package lab

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// wantVM skips what boots a VM unless it is asked for: where the processor is
// emulated that takes a minute or more.
func wantVM(t *testing.T) {
	t.Helper()
	if os.Getenv("NMSTATE_VM") == "" {
		t.Skip("skipped: it boots a virtual machine; make e2e-vm runs it")
	}
}

// A lab in a VM does what one on the machine does, and has what the machine's
// kernel may lack. Another one beside it is another one.
func TestALabInAVM(t *testing.T) {
	wantVM(t)
	topology, err := ParseTopology([]byte(mixed))
	if err != nil {
		t.Fatal(err)
	}
	root := testRoot(t)
	before := lookAt(t, root)
	l := mustUp(t, Options{Root: root, Topology: topology, VM: true})
	testMixed(t, l)
	t.Run("its kernel has what policies ask for", func(t *testing.T) {
		for _, link := range []string{
			"t0 type dummy", "t0 type bond", "t0 type bridge vlan_filtering 1", "t0 type vrf table 5", "t0 type vxlan id 5 dstport 4789",
			"link v0 t0 type vlan id 5", "link v0 t0 type macvlan", "link v0 t0 type ipvlan", "link v0 t0 type macsec",
		} {
			mustExec(t, mustNode(t, l, "static"), "unshare", "-n", "sh", "-c", "ip link add v0 type veth && ip link add "+link)
		}
	})
	t.Run("what is on its disk and in its logs is on this machine", func(t *testing.T) {
		n := mustNode(t, l, "static")
		mustExec(t, n, "sh", "-c", "echo here >/etc/here")
		if text, err := os.ReadFile(n.DiskPath("/etc/here")); string(text) != "here\n" {
			t.Errorf("on the disk: %q, %v", text, err)
		}
		if text, err := os.ReadFile(n.LogPath("nm")); !strings.Contains(string(text), "startup complete") {
			t.Errorf("in the log: %.80q, %v", text, err)
		}
	})
	t.Run("its clock is stepped on all nodes, and this machine's is not", func(t *testing.T) { testClock(t, l) })
	t.Run("a second one is up beside it, and goes alone", func(t *testing.T) {
		other, err := ParseTopology([]byte("nodes: [{name: node1, nics: [{name: eth0, switch: lan, address: 192.0.2.11/24}]}]\nswitches: [{name: lan, gateway: 192.0.2.1/24}]\n"))
		if err != nil {
			t.Fatal(err)
		}
		second := mustUp(t, Options{Root: root, Name: "second", Topology: other, VM: true})
		mustExec(t, mustNode(t, second, "node1"), "ping", "-c", "1", "-W", "5", "192.0.2.1")
		if err := second.Down(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustExec(t, mustNode(t, l, "static"), "true")
	})
	t.Run("a VM that dies is told in a line, and nothing is left of it", func(t *testing.T) {
		if s := l.Status(t.Context()); s.VM == nil || !s.VM.Running || !s.Fabric.Running {
			t.Errorf("before: %+v", s)
		}
		killProcess(t, l.vmDir())
		if s := l.Status(t.Context()); s.VM == nil || s.VM.Running || s.Fabric.Running {
			t.Errorf("after: %+v", s)
		}
		_, err := mustNode(t, l, "static").Exec(t.Context(), "true")
		if err == nil || !strings.Contains(err.Error(), "reaching the lab's VM") || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v", err)
		}
		if err := l.Down(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, lookAt(t, root)); diff != "" {
			t.Error(diff)
		}
	})
}

func testClock(t *testing.T, l *Lab) {
	t.Helper()
	const by = 2 * time.Hour
	clockOf := func(name string) time.Time {
		t.Helper()
		seconds, err := strconv.ParseInt(strings.TrimSpace(mustExec(t, mustNode(t, l, name), "date", "+%s")), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return time.Unix(seconds, 0)
	}
	before, here := clockOf("static"), time.Now().Round(0) // without what a step leaves alone
	if err := l.StepClock(t.Context(), by); err != nil {
		t.Fatal(err)
	}
	for _, n := range l.Nodes() {
		if now := clockOf(n.Name); now.Before(before.Add(by)) {
			t.Errorf("%s: it was %s and is %s", n.Name, before, now)
		}
	}
	if now := time.Now().Round(0); !now.Before(here.Add(by)) {
		t.Errorf("here it was %s and is %s", here, now)
	}
	if err := l.StepClock(t.Context(), -by); err != nil {
		t.Fatal(err)
	}
	if now := clockOf("static"); !now.Before(before.Add(by)) {
		t.Errorf("stepped back: it was %s and is %s", before, now)
	}
}

// All nodes lose their power at once, and boot with what is on their disks.
func TestAVMThatLosesItsPowerComesBack(t *testing.T) {
	wantVM(t)
	topology, err := LoadTopology("topologies/vlan-over-bond.yaml")
	if err != nil {
		t.Fatal(err)
	}
	l := mustUp(t, Options{Root: testRoot(t), Topology: topology, VM: true})
	n := mustNode(t, l, "node")
	wantAsSaid(t, n)
	before, err := n.Settled(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, n, "sh", "-c", "echo disk >/etc/kept; echo memory >/run/lost; sync; ip link set bond0.100 mtu 1400")
	if err := l.VMPower(t.Context(), "cut"); err != nil {
		t.Fatal(err)
	}
	wantAsSaid(t, n)
	wantKernel(t, n, before)
	if got := mustExec(t, n, "sh", "-c", "cat /etc/kept; ls /run/lost 2>&1 || true"); !strings.HasPrefix(got, "disk\n") || !strings.Contains(got, "No such file") {
		t.Errorf("got %q", got)
	}
	if err := (&Lab{rec: &record{}}).VMPower(t.Context(), "cut"); err == nil || err.Error() != "this lab has no VM (lab up --vm)" {
		t.Errorf("without a VM: %v", err)
	}
}

func TestUpInAVMThatIsCancelledLeavesNothing(t *testing.T) {
	wantVM(t)
	root := testRoot(t)
	before := lookAt(t, root)
	for _, line := range []string{"VM boots", "fabric up"} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Up(ctx, Options{Root: root, ControlPlane: "none", VM: true, Progress: func(said string) {
			if strings.HasPrefix(said, line) {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at %q: %v", line, errors.Join(err, Remove(t.Context(), root, "default")))
		}
		if diff := cmp.Diff(before, lookAt(t, root)); diff != "" {
			t.Errorf("cancelled at %q: %s", line, diff)
		}
	}
}

// What cannot be made is told in one line, with the lab's exit code for what a
// machine lacks, and is not taken for whole by the next one.
func TestAHalfMadeImageIsNone(t *testing.T) {
	root := testRoot(t)
	before := lookAt(t, root)
	programs := t.TempDir()
	fake := func(name, script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	for name, tt := range map[string]struct{ mmdebstrap, want string }{
		"a full disk": {
			`for tree; do case $tree in *.partial) mkdir -p "$tree/usr";; esac; done; echo "E: No space left on device" >&2; exit 1`,
			"making the root of the VM: E: No space left on device",
		},
		"an end in the middle": {
			`for tree; do case $tree in *.partial) mkdir -p "$tree/usr";; esac; done; kill -9 $$`,
			"making the root of the VM: ",
		},
		"a root without a kernel": {
			`for tree; do case $tree in *.partial) mkdir -p "$tree/usr/bin";; esac; done`,
			"making the disk of the VM: .*has no kernel",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cache := t.TempDir()
			t.Setenv("XDG_CACHE_HOME", cache)
			fake("mmdebstrap", tt.mmdebstrap)
			_, err := Up(t.Context(), Options{Root: root, ControlPlane: "none", VM: true})
			missing := &UnavailableError{}
			if !errors.As(err, &missing) || !regexp.MustCompile(tt.want).MatchString(err.Error()) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if made, _ := filepath.Glob(cache + "/kubernetes-nmstate/vmroot-*"); len(made) > 0 {
				t.Errorf("taken for an image: %v", made)
			}
			if diff := cmp.Diff(before, lookAt(t, root)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnInterruptedImageLeavesNothing(t *testing.T) {
	root := testRoot(t)
	before := lookAt(t, root)
	programs, cache := t.TempDir(), t.TempDir()
	script := `#!/bin/sh
for tree; do case $tree in *.partial) mkdir -p "$tree/usr"; exec sleep 600; esac; done`
	if err := os.WriteFile(filepath.Join(programs, "mmdebstrap"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	t.Setenv("XDG_CACHE_HOME", cache)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Up(ctx, Options{Root: root, ControlPlane: "none", VM: true})
		ended <- err
	}()
	half := cache + "/kubernetes-nmstate/noderoot-*.partial/usr"
	eventually(t, "half a root", func() error {
		if found, _ := filepath.Glob(half); len(found) == 0 {
			return errors.New("none yet")
		}
		return nil
	})
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Dir(half)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if diff := cmp.Diff(before, lookAt(t, root)); diff != "" {
		t.Error(diff)
	}
}

// An image whose making fails in the middle is none either.
func TestADiskThatIsNotWholeIsNone(t *testing.T) {
	testRoot(t)
	tree := filepath.Join(t.TempDir(), "tree")
	for _, dir := range []string{"usr/lib/modules/6.0", "boot", "bin"} {
		if err := os.MkdirAll(filepath.Join(tree, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if made, err := runScript(t.Context(), vmRootScript, tree); err == nil {
			t.Errorf("made %s", made)
		}
		if left, _ := filepath.Glob(filepath.Dir(tree) + "/vmroot-*"); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}

func TestWhatAVMCannotDoIsRefusedBeforeAnythingIsMade(t *testing.T) {
	root := testRoot(t)
	for want, opts := range map[string]Options{
		`disk "image": with --vm disks are folders`:                                        {Disk: DiskImage},
		`NetworkManager from "host": with --vm give auto, 1.52 or 1.42`:                    {NM: "host"},
		`folder of the labs: "/run/a b": with --vm it is of letters, digits and ./_- only`: {Root: "/run/a b"},
	} {
		if opts.Root == "" {
			opts.Root = root
		}
		opts.ControlPlane, opts.VM = "none", true
		if _, err := Up(t.Context(), opts); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// What only a VM has is told before anything is made.
func TestWhatNeedsAVMIsRefusedWithoutOne(t *testing.T) {
	root := testRoot(t)
	before := lookAt(t, root)
	for file, want := range map[string]string{
		"ovs-as-default": "a node with openvswitch: true: only a lab in a VM has that (lab up --vm)",
		"sr-iov":         "a NIC with sriov: true: only a lab in a VM has that (lab up --vm)",
	} {
		topology, err := LoadTopology("topologies/" + file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Up(t.Context(), Options{Root: root, Topology: topology, ControlPlane: "none"}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if diff := cmp.Diff(before, lookAt(t, root)); diff != "" {
		t.Error(diff)
	}
}

// A machine may have /dev/kvm and no processor for it.
func TestKVMIsForProcessorsThatHaveIt(t *testing.T) {
	for flags, want := range map[string]bool{
		"flags\t\t: fpu vmx smx\n": true, "flags\t\t: fpu svm\n": true, "flags\t\t: fpu\n": false, "vmx flags\t: svmx ept\n": false,
	} {
		if got := hardware.MatchString(flags); got != want {
			t.Errorf("%q: %v", flags, got)
		}
	}
}

// The script is read by a shell: a path may have whatever a path may have.
func TestAVMIsShownFoldersAndFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "it's one")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	l := &Lab{dir: "/run/labs/a", opts: Options{Binary: file}, rec: &record{Binds: []string{dir, file}, Topology: &Topology{}, VM: &vmParts{}}}
	text := l.vmStart()
	if out, err := exec.CommandContext(t.Context(), "sh", "-nc", text).CombinedOutput(); err != nil {
		t.Errorf("%s: %s", text, out)
	}
	for _, want := range []string{"mkdir -p '" + dir + "'\n", "mount --rbind '" + vmShare + dir + `/it'\''s one' '` + dir + `/it'\''s one'` + "\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
