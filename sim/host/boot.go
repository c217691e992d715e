package host

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// boot is one boot of the host.
type boot struct {
	on     bool
	number int
	// began is the world's time at which it began.
	began time.Duration
}

// bootTakes is from power on to NetworkManager.
const bootTakes = 30 * time.Second

// begin counts a boot that is over with its start by now.
func (b *boot) begin(h *Host) {
	b.on = true
	b.number++
	b.began = h.world.Elapsed() - bootTakes
}

func (b *boot) id(name string) string { return fmt.Sprintf("%s-boot-%d", name, b.number) }

// On tells whether the host is running.
func (h *Host) On() bool { return h.boot.on }

// PowerOff ends everything on the host at once; its disk stays, but for what was
// not flushed. Processes are killed by whoever made them.
func (h *Host) PowerOff() {
	if !h.boot.on {
		return
	}
	h.stopNetworkManager()
	h.boot.on = false
	h.cutPower()
	e := h.kernel.edit()
	for _, l := range slices.Clone(e.links) {
		e.change(l, func(l *Link) { l.Up = false })
	}
	h.kernel = &e.kernel
	clear(h.activations)
	h.changed()
}

// PowerOn boots: the kernel knows its NICs only, NetworkManager activates the
// profiles on disk.
func (h *Host) PowerOn() {
	if h.boot.on {
		return
	}
	h.settings = h.readSettings()
	h.boot.begin(h)
	h.bootKernel()
	h.startNetworkManager()
	h.changed()
}

// Reboot is PowerOff, and PowerOn after a time.
func (h *Host) Reboot(takes time.Duration) {
	h.PowerOff()
	h.world.After(takes, h.PowerOn)
}

// bootKernel is the kernel after boot: the loopback, the NICs, and what
// somebody else than NetworkManager configures on them.
func (h *Host) bootKernel() {
	e := &edit{kernel{next: 1, hostname: h.settings.hostname}}
	e.add(Link{
		Name: "lo", Type: "loopback", MTU: 65536, MAC: "00:00:00:00:00:00", Up: true,
		Addresses: []Address{{Prefix: netip.MustParsePrefix("127.0.0.1/8")}, {Prefix: netip.MustParsePrefix("::1/128")}},
	})
	for _, nic := range h.nics {
		h.addNIC(e, nic)
	}
	clear(h.activations)
	h.kernel = &e.kernel
	h.revise()
}

// addNIC is a NIC as the kernel finds it, and as the installer's scripts
// configure it where NetworkManager does not.
func (h *Host) addNIC(e *edit, nic NIC) {
	link := Link{
		Name: nic.Name, Type: "ethernet", MAC: nic.MAC, Permanent: nic.MAC, MTU: nic.MTU, Cable: !nic.Unplugged, Up: true,
	}
	if !nic.Profile {
		for _, prefix := range nic.Addresses {
			link.Addresses = append(link.Addresses, Address{Prefix: prefix})
		}
	}
	e.add(link)
	if nic.Profile {
		return
	}
	for _, gateway := range nic.Gateways {
		e.addRoute(Route{To: defaultOf(gateway), Via: gateway, Dev: nic.Name, Table: MainTable, Protocol: Static})
	}
}

func defaultOf(gateway netip.Addr) netip.Prefix {
	if gateway.Is4() {
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	}
	return netip.PrefixFrom(netip.IPv6Unspecified(), 0)
}

// Boot is the port handler/journal.Boot of a process. It never fails.
func (h *Host) Boot(p *world.Process) journal.Boot { return bootPort{h, p} }

type bootPort struct {
	host    *Host
	process *world.Process
}

func (b bootPort) ID() (string, error) { return b.host.boot.id(b.host.Name), nil }

// Elapsed counts suspends, as CLOCK_BOOTTIME does, whatever the wall clock says.
func (b bootPort) Elapsed() (time.Duration, error) { return b.host.elapsed(), nil }

func (h *Host) elapsed() time.Duration { return h.world.Elapsed() - h.boot.began }
