package host

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// NIC is a physical interface, with what the node's installer made of it.
type NIC struct {
	Name, MAC string
	// MTU is 1500 if zero; MaxMTU, what the driver takes at most, 9000.
	MTU, MaxMTU int
	// Profile: NetworkManager has a profile of it on disk. Otherwise somebody
	// else configures it at boot, and NetworkManager only observes it.
	Profile bool
	// DHCP4 and RA ask the network for addresses; only with a profile.
	DHCP4, RA bool
	Addresses []netip.Prefix
	// Gateways are those of static default routes, one per family.
	Gateways []netip.Addr
	// DNS servers and Search domains of its profile.
	DNS, Search []string
	// Unplugged: it has no cable at first.
	Unplugged bool
}

// Options of a host.
type Options struct {
	NICs     []NIC
	Hostname string
	// Lacks are the types of links that its kernel cannot make.
	Lacks []string
	// DHCP answers for the network; it may also be set later (Host.DHCP).
	DHCP DHCPServer
	// Words may be shared by the hosts of a world; nil: the host has its own.
	Words *Words
}

// Kind says what a watcher is told.
type Kind int

// What OnChange tells.
const (
	// NetworkChanged: links, addresses, routes or NetworkManager's settings;
	// at most one per 200 ms, the last one never lost.
	NetworkChanged Kind = iota + 1
	// NetworkManagerGone and NetworkManagerBack are told at once, each one.
	NetworkManagerGone
	NetworkManagerBack
)

// Host is one host. It belongs to no process.
type Host struct {
	Name string
	// OnChange tells the handler's watcher; nil for nobody.
	OnChange func(Kind)
	// Touched is called with each new revision, at once; nil for nobody. It is
	// for the network, and asks nothing back.
	Touched func()
	// OnDisk is called when a file that the next boot reads was written or taken
	// away, beside the journal's, for oracles.
	OnDisk func(path string)
	// OnCheckpoint tells what becomes of checkpoints, for oracles.
	OnCheckpoint func(CheckpointEvent)
	// DHCP answers for the network; nil: nobody does.
	DHCP DHCPServer
	// Claimed tells whether somebody else answers for an address where a link
	// leads to; nil: nobody does.
	Claimed func(link string, address netip.Addr) bool
	// Neighbours are what a NIC hears over LLDP; nil: nothing.
	Neighbours func(link string) []state.Neighbour
	// Faults are what goes wrong; the zero value is nothing.
	Faults Faults

	world *world.World
	rand  *rand.Rand
	lacks map[string]bool
	words *Words
	nics  []NIC

	kernel   *kernel
	settings settings
	files    files
	// known are all profiles that ever were, dnsKnown all global DNS.
	known    known
	dnsKnown map[string]tree
	uuids    int
	// cut draws what a power cut does.
	cut    *rand.Rand
	nm     daemon
	disk   disk
	boot   boot
	notice notice
	// activations of profiles, by their keys.
	activations map[string]*activation

	revision uint64
	heard    uint64
	// What is computed anew only when the revision is another one.
	shown    cached[state.State]
	noted    cached[foreign.Snapshot]
	allText  cached[string]
	allRoute cached[[]Route]
}

// cached is something that holds for one revision.
type cached[T any] struct {
	revision uint64
	value    T
}

func (c *cached[T]) get(revision uint64, compute func() T) T {
	if c.revision != revision {
		c.value, c.revision = compute(), revision
	}
	return c.value
}

// New makes a host that has just booted.
func New(w *world.World, name string, options Options) *Host {
	h := &Host{
		Name: name, world: w, rand: w.Rand("host " + name), lacks: map[string]bool{}, DHCP: options.DHCP,
		activations: map[string]*activation{}, revision: 1, files: newFiles(), known: known{}, dnsKnown: map[string]tree{},
		cut: w.Rand("power of " + name),
	}
	if h.words = options.Words; h.words == nil {
		h.words = NewWords()
	}
	for _, kind := range options.Lacks {
		h.lacks[kind] = true
	}
	hostname := options.Hostname
	if hostname == "" {
		hostname = name
	}
	h.write(hostnameFile, profiles.File{Mode: 0o644, Content: []byte(hostname)})
	for _, nic := range options.NICs {
		h.install(nic)
	}
	h.sync()
	h.settings = h.readSettings()
	h.boot.begin(h)
	h.bootKernel()
	h.startNetworkManager()
	return h
}

// install makes a NIC of the host's hardware, and its profile on disk.
func (h *Host) install(nic NIC) {
	if nic.MTU == 0 {
		nic.MTU = 1500
	}
	if nic.MaxMTU == 0 {
		nic.MaxMTU = 9000
	}
	if nic.MAC == "" {
		nic.MAC = fmt.Sprintf("02:%02X:%02X:%02X:%02X:%02X", h.rand.IntN(256), h.rand.IntN(256), h.rand.IntN(256), h.rand.IntN(256), h.rand.IntN(256))
	}
	nic.MAC = capitals(nic.MAC)
	h.nics = append(h.nics, nic)
	if !nic.Profile {
		return
	}
	p := profileOf(nic)
	p.uuid = h.newUUID()
	h.known.add(p)
	h.write(profiles.DiskDir+"/"+p.id()+".nmconnection", p.file(installers, ""))
}

// Plug adds a NIC to the running host, as a new piece of hardware.
func (h *Host) Plug(nic NIC) {
	h.install(nic)
	h.sync()
	nic = h.nics[len(h.nics)-1]
	for _, p := range h.readProfiles() {
		if p.name == nic.Name && h.settings.byUUID(p.uuid) == nil {
			h.settings = h.settings.with(p)
		}
	}
	e := h.kernel.edit()
	h.addNIC(e, nic)
	h.put(e)
	if p := h.settings.profile(nic.Name, false); p != nil {
		h.autoconnect(p)
	}
}

// Unplug takes a NIC's hardware away, with all that stands on it.
func (h *Host) Unplug(name string) {
	for i, nic := range h.nics {
		if nic.Name == name {
			h.nics = append(h.nics[:i:i], h.nics[i+1:]...)
			break
		}
	}
	e := h.kernel.edit()
	if l := e.link(name, false); l != nil {
		e.remove(l)
	}
	h.put(e)
}

func (h *Host) nic(name string) (NIC, bool) {
	for _, nic := range h.nics {
		if nic.Name == name {
			return nic, true
		}
	}
	return NIC{}, false
}

// Links are those of the kernel and the OVS bridges, by their index. They are
// not to be changed.
func (h *Host) Links() []*Link { return h.kernel.links }

// Link finds an interface by name; nil for none.
func (h *Host) Link(name string) *Link { return h.kernel.link(name, false) }

// Ports of a bridge, bond or VRF.
func (h *Host) Ports(controller string) []*Link { return h.kernel.ports(controller) }

// Carrier tells whether the interface is up and can send.
func (h *Host) Carrier(name string) bool {
	return h.boot.on && h.kernel.carrier(h.kernel.named(name))
}

// Routes are all of the kernel's, the connected ones included.
func (h *Host) Routes() []Route {
	return h.allRoute.get(h.revision, h.kernel.all)
}

// Rules are the policy routing rules, in nmstate's words.
func (h *Host) Rules() []map[string]any { return h.kernel.rules }

// Kernel tells what is on the host: links, addresses and routes, in a form
// that is equal if and only if the network is the same.
func (h *Host) Kernel() string { return h.allText.get(h.revision, h.kernel.text) }

// Revision changes with every change of the kernel or of NetworkManager's settings.
func (h *Host) Revision() uint64 { return h.revision }

// World that the host is in.
func (h *Host) World() *world.World { return h.world }

// put makes an edit the kernel's state.
func (h *Host) put(e *edit) {
	before := h.kernel
	h.kernel = &e.kernel
	h.changed()
	if before != nil {
		h.carriersChanged(before)
	}
}

// Heard is what the handler's watcher has heard, as observe.Watcher.Heard: another number
// once anything has been told, and whether all that tell are listened to. Files, and what a
// driver is asked, are told by nobody.
func (h *Host) Heard() (uint64, bool) { return h.heard, h.nm.running && !h.nm.hung }

// changed notes that something is not as it was, and that the kernel or NetworkManager
// tells of it.
func (h *Host) changed() {
	h.heard++
	h.revise()
	h.notice.network(h)
}

func (h *Host) revise() {
	h.revision++
	if h.Touched != nil {
		h.Touched()
	}
}

// notice thins out what the watcher is told of the network.
type notice struct {
	last    time.Duration
	told    bool
	pending bool
}

// noticeInterval is the watcher's (handler/observe).
const noticeInterval = 200 * time.Millisecond

func (n *notice) network(h *Host) {
	if h.OnChange == nil || n.pending || !h.boot.on {
		return
	}
	var wait time.Duration
	if n.told {
		wait = max(n.last+noticeInterval-h.world.Elapsed(), 0)
	}
	n.pending = true
	h.world.After(wait, func() {
		n.pending, n.told, n.last = false, true, h.world.Elapsed()
		h.tell(NetworkChanged)
	})
}

func (h *Host) tell(kind Kind) {
	if h.OnChange != nil && h.boot.on {
		h.OnChange(kind)
	}
}

// some is a duration drawn between the two.
func (h *Host) some(from, to time.Duration) time.Duration {
	return from + time.Duration(h.rand.Int64N(int64(to-from)))
}
