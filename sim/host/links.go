package host

import (
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// LinkTypes is what a process knows of the types of links that the host's kernel has.
// Bonds and dummies are modules, as on most nodes: nothing is known of them until
// they were tried. What a process found out goes with it.
func (h *Host) LinkTypes(*world.Process) backend.Kernel {
	return &linksPort{host: h, known: []string{"linux-bridge", "veth", "vlan", "vxlan"}}
}

type linksPort struct {
	host  *Host
	known []string
}

// Links implements backend.Kernel.
func (l *linksPort) Links() (can, cannot []string) {
	for _, kind := range l.known {
		if l.host.lacks[kind] {
			cannot = append(cannot, kind)
		} else {
			can = append(can, kind)
		}
	}
	return can, cannot
}

// CanMake implements backend.Kernel.
func (l *linksPort) CanMake(kind string) bool {
	if (kind == "bond" || kind == "dummy") && !slices.Contains(l.known, kind) {
		l.known = append(l.known, kind)
		slices.Sort(l.known)
	}
	return !l.host.lacks[kind]
}
