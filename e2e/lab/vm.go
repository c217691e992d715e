//go:build linux

package lab

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/yamux"
	"golang.org/x/sys/unix"
	"k8s.io/utils/clock"
)

//go:embed vmroot.sh
var vmRootScript string

const (
	// vmMemoryMB is plenty for ten nodes. vmShare is where the VM finds what it
	// may read of the machine, before it is shown at its own place.
	vmMemoryMB = 2048
	vmShare    = "/share"
	// vmBoot is far more than a boot takes, with a processor that is emulated on a
	// machine that has other work.
	vmBoot = 5 * time.Minute
)

// vmParts is what a VM is made of: its root, the kernel and the disk that
// hack/vmroot.sh made of that, and a root with QEMU.
type vmParts struct {
	Root  string `json:"root"`
	Image string `json:"image"`
	QEMU  string `json:"qemu"`
	// NM is a NetworkManager that takes the place of the root's; empty for none.
	NM string `json:"nm,omitempty"`
}

// inVM is the lab's virtual machine. Its process (runVM) passes on each
// connection to the agent in the VM (vmagent.go), over one virtio port.
type inVM struct{ lab *Lab }

func (p inVM) do(ctx context.Context, order request) (response, error) {
	if order.Verb == "boot" || order.Verb == "power" && order.Target != "off" {
		if err := p.install(ctx, order.Node); err != nil {
			return response{}, fmt.Errorf("installing the node's /etc: %w", err)
		}
	}
	return ask(ctx, p.lab.vmDir(), order)
}

func (p inVM) run(ctx context.Context, node string, c Command) error {
	// Ctrl-C at our terminal does not reach the program there.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	conn, err := p.connect(ctx)
	if err != nil {
		return err
	}
	return remoteRun(ctx, conn, node, c)
}

func (p inVM) dial(ctx context.Context, node, network, address string) (net.Conn, error) {
	conn, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	return remoteDial(ctx, conn, node, network, address)
}

func (p inVM) root(node string) (string, error) {
	return "", fmt.Errorf("the root of %s: it is in a VM; use lab exec, or its disk", node)
}

func (p inVM) connect(ctx context.Context) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", filepath.Join(p.lab.vmDir(), "control"))
	if err != nil {
		return nil, fmt.Errorf("reaching the lab's VM: %w", err)
	}
	return conn, nil
}

// install copies a node's /etc to its disk, which the VM can do too, in a minute.
func (p inVM) install(ctx context.Context, node string) error {
	n, err := p.lab.Node(node)
	if err != nil {
		return err
	}
	base := p.lab.rec.Bases[n.nm()]
	if base == "/" {
		base = p.lab.rec.VM.Root
	}
	etc := n.DiskPath("/etc")
	if _, err := os.Stat(filepath.Join(etc, "passwd")); err == nil {
		return nil // it was installed before
	}
	if err := os.MkdirAll(etc, 0o755); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "cp", "-a", filepath.Join(base, "etc")+"/.", etc).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func (l *Lab) vmDir() string { return filepath.Join(l.dir, roleVM) }

// chooseVM makes what a VM is made of, or finds it in the cache. The nodes in it
// have the NetworkManager of its own root.
func (l *Lab) chooseVM(ctx context.Context) error {
	l.opts.Progress("kernel, disk and QEMU for a VM: from the cache, or made in some minutes, once")
	tree, err := nodeRoot(ctx, "vm")
	if err != nil {
		return unavailable(ctx, "making the root of the VM", err)
	}
	parts := &vmParts{Root: tree}
	if parts.QEMU, err = nodeRoot(ctx, "qemu"); err != nil {
		return unavailable(ctx, "fetching QEMU", err)
	}
	if l.opts.Topology.openVSwitch() {
		l.opts.Progress("NetworkManager with its plugin for Open vSwitch: from the cache, or compiled in some minutes, once")
		if parts.NM, err = nodeRoot(ctx, "openvswitch"); err != nil {
			return unavailable(ctx, "making NetworkManager's plugin for Open vSwitch", err)
		}
	}
	if parts.Image, err = runScript(ctx, vmRootScript, tree); err != nil {
		return unavailable(ctx, "making the disk of the VM", err)
	}
	l.rec.VM, l.rec.Bases[NM152] = parts, "/"
	return nil
}

func unavailable(ctx context.Context, step string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &UnavailableError{step + ": " + err.Error()}
}

// startVM boots the VM; from then on the lab's processes are in it.
func (l *Lab) startVM(ctx context.Context) error {
	if err := os.MkdirAll(l.vmDir(), 0o755); err != nil {
		return fmt.Errorf("making the VM's folder: %w", err)
	}
	if err := l.writeRecord(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(l.vmDir(), "start"), []byte(l.vmStart()), 0o644); err != nil {
		return fmt.Errorf("writing what the VM does first: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, vmBoot)
	defer cancel()
	started, err := l.spawn(ctx, roleVM, l.vmDir(), unix.CLONE_NEWNS|unix.CLONE_NEWPID)
	if err != nil {
		return err
	}
	l.opts.Progress("VM boots")
	if err := started.awaitReady(ctx); err != nil {
		log := func(name string) string { return lastLines(filepath.Join(l.vmDir(), name), 3) }
		return fmt.Errorf("%w (console: %s; agent: %s)", err, log("console.log"), log("agent.log"))
	}
	l.at = inVM{l}
	l.opts.Progress("VM up")
	return nil
}

// vmFiles are the folders and files of the machine that are shown in the VM.
func (l *Lab) vmFiles() []string {
	all := l.rec.Binds
	if within(l.opts.Binary, "/usr") {
		all = append(slices.Clip(all), l.opts.Binary)
	}
	return all
}

// vmStart is the shell script that the VM runs once it sees the lab's folder. The
// machine is off when it ends.
func (l *Lab) vmStart() string {
	quote := func(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
	lines := []string{
		"set -e", "mkdir -p " + vmShare,
		"mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=loose,ro share " + vmShare,
	}
	for _, path := range l.vmFiles() {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			lines = append(lines, "mkdir -p "+quote(path))
		} else {
			lines = append(lines, "mkdir -p "+quote(filepath.Dir(path)), "[ -e "+quote(path)+" ] || : >"+quote(path))
		}
		lines = append(lines, "mount --rbind "+quote(vmShare+path)+" "+quote(path))
	}
	if len(l.rec.Topology.cards()) > 0 {
		lines = append(lines, "modprobe -a igb igbvf virtio_net")
	}
	if nm := l.rec.VM.NM; nm != "" {
		lines = append(lines, "cp -a "+quote(vmShare+nm)+"/. /")
	}
	lines = append(lines, quote(l.opts.Binary)+" "+roleVMAgent+" --dir "+quote(l.vmDir())+" >"+quote(filepath.Join(l.vmDir(), "agent.log"))+" 2>&1")
	return strings.Join(lines, "\n") + "\n"
}

// runVM is the main of the process around QEMU: pid 1 of its namespaces, with a
// root that has QEMU and shows it nothing but what it needs.
func runVM(ctx context.Context, dir string) error {
	lab, err := openHere(filepath.Dir(dir))
	if err != nil {
		return err
	}
	if err := cutMounts(); err != nil {
		return err
	}
	if err := enterVMRoot(lab); err != nil {
		return err
	}
	qemu := &unit{name: "qemu", argv: qemuCommand(lab), logFile: filepath.Join(dir, "qemu.log")}
	sup := newSupervisor(clock.RealClock{}, qemu)
	go sup.reap(ctx)
	if err := sup.start(ctx, qemu.name); err != nil {
		return err
	}
	alive, end := context.WithCancelCause(ctx)
	go func() {
		<-qemu.ended
		end(fmt.Errorf("QEMU has ended: %s", lastLines(qemu.logFile, 2)))
	}()
	session, err := vmSession(alive, filepath.Join(dir, "port"))
	if err != nil {
		select { // What QEMU says is the cause, if it has ended.
		case <-alive.Done():
			return context.Cause(alive)
		case <-sup.clock.After(time.Second):
			return err
		}
	}
	go carryOut(session, func() string {
		rec, err := readRecord(lab.dir)
		if err != nil {
			return ""
		}
		return rec.APITarget
	})
	if err := passOn(alive, dir, session); err != nil {
		return err
	}
	<-alive.Done()
	return context.Cause(alive)
}

// vmSession connects to the VM's port, and returns once the agent answers.
func vmSession(ctx context.Context, port string) (*yamux.Session, error) {
	var conn net.Conn
	err := poll(ctx, vmBoot, func() error { // QEMU makes the socket.
		var dialer net.Dialer
		var err error
		conn, err = dialer.DialContext(ctx, "unix", port)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("connecting to the VM's port: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	session, err := yamux.Client(conn, sessionConfig())
	if err != nil {
		return nil, fmt.Errorf("beginning a session with the VM: %w", err)
	}
	if _, err := session.Ping(); err != nil {
		return nil, fmt.Errorf("waiting for the agent in the VM: %w", err)
	}
	return session, nil
}

// sessionConfig: nothing but the VM's end ends a session; a machine that has
// other work may be silent for a while.
func sessionConfig() *yamux.Config {
	config := yamux.DefaultConfig()
	config.EnableKeepAlive = false
	config.StreamOpenTimeout = 0
	config.ConnectionWriteTimeout = vmBoot
	config.LogOutput = os.Stderr
	return config
}

// passOn opens the control socket: each connection to it is a stream to the agent.
func passOn(ctx context.Context, dir string, session *yamux.Session) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "unix", filepath.Join(dir, "control"))
	if err != nil {
		return fmt.Errorf("opening the control socket: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = ln.Close() })
	go acceptAll(ln, func() (io.ReadWriteCloser, error) { return session.Open() })
	return nil
}

// carryOut is for the streams that the agent opens: each is a connection to the
// API server.
func carryOut(session net.Listener, target func() string) {
	acceptAll(session, func() (io.ReadWriteCloser, error) {
		return net.DialTimeout("tcp", target(), 5*time.Second)
	})
}

// acceptAll joins each connection of a listener with one that dial makes.
func acceptAll(ln net.Listener, dial func() (io.ReadWriteCloser, error)) {
	for {
		in, err := ln.Accept()
		if err != nil {
			return
		}
		go func() {
			out, err := dial()
			if err != nil {
				_ = in.Close()
				return
			}
			splice(in, out)
		}()
	}
}

// enterVMRoot gives the process a root with QEMU's programs, the lab's folder and,
// in one folder, what the VM may read of the machine.
func enterVMRoot(lab *Lab) error {
	m := &mounter{root: filepath.Join(lab.vmDir(), "root")}
	if err := os.MkdirAll(m.root, 0o755); err != nil {
		return fmt.Errorf("making the root of QEMU: %w", err)
	}
	m.mount("tmpfs", "/", "tmpfs", 0, "mode=755")
	m.programs(lab.rec.VM.QEMU)
	for _, d := range []string{"/proc", "/dev", "/tmp", "/var/tmp", lab.dir} {
		m.dir(d, 0o755)
	}
	m.mount("proc", "/proc", "proc", 0, "")
	m.bind("/dev", "/dev", false)
	// Not recursive: the root is mounted in that folder.
	m.mount(lab.dir, lab.dir, "", unix.MS_BIND, "")
	m.show(lab.rec.VM.Image)
	m.dir(vmShare, 0o755)
	share := &mounter{root: m.at(vmShare), err: m.err}
	for _, path := range lab.vmFiles() {
		share.show(path)
	}
	if share.err != nil {
		return share.err
	}
	return pivot(m.root)
}

// accelerators are QEMU's in the order of trying. A /dev/kvm without the
// processor's own flags exists: it does not run Debian's kernel.
func accelerators() []string {
	emulated := []string{"-accel", "tcg,thread=multi"}
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || !hardware.Match(info) {
		return emulated
	}
	return append([]string{"-accel", "kvm"}, emulated...)
}

// hardware matches the flags of a processor that can run virtual machines.
var hardware = regexp.MustCompile(`(?m)^flags\s*:.* (vmx|svm)( |$)`)

// qemuCommand is QEMU with all its arguments. The VM has no network.
func qemuCommand(lab *Lab) []string {
	in := func(name string) string { return filepath.Join(lab.vmDir(), name) }
	image := func(name string) string { return filepath.Join(lab.rec.VM.Image, name) }
	start := append([]string{"qemu-system-x86_64", "-machine", "q35"}, accelerators()...)
	start = append(start, qemuCards(lab.rec.Topology.cards())...)
	return append(start,
		"-cpu", "max,la57=off", "-smp", "2", "-m", fmt.Sprint(vmMemoryMB),
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-nic", "none",
		"-kernel", image("vmlinuz"), "-initrd", image("initrd"),
		"-append", "console=ttyS0 quiet panic=-1 mitigations=off nokaslr random.trust_cpu=on tsc=reliable clocksource=tsc no_timer_check pci=assign-busses lab="+lab.dir,
		"-serial", "file:"+in("console.log"),
		"-drive", "id=root,if=none,format=raw,readonly=on,file="+image("root.ext4"), "-device", "virtio-blk-pci,drive=root",
		"-fsdev", "local,id=lab,security_model=passthrough,multidevs=remap,path="+lab.dir,
		"-device", "virtio-9p-pci,fsdev=lab,mount_tag=lab",
		"-fsdev", "local,id=share,security_model=none,multidevs=remap,readonly=on,path="+vmShare,
		"-device", "virtio-9p-pci,fsdev=share,mount_tag=share",
		"-device", "virtio-serial-pci", "-chardev", "socket,id=port,server=on,wait=off,path="+in("port"),
		"-device", "virtserialport,chardev=port,name=lab",
	)
}
