package nmstate

import (
	"errors"
	"slices"
	"sync"
)

// linkTypes are nmstate's types of interfaces that a driver of the kernel makes,
// each with the kernel's name for it and that of the module. An IP tunnel has
// several drivers, and those of other types need more than the kernel.
func linkTypes() []linkType {
	return []linkType{
		{"bond", "bond", "bonding"},
		{"dummy", "dummy", "dummy"},
		{"hsr", "hsr", "hsr"},
		{"ipvlan", "ipvlan", "ipvlan"},
		{"linux-bridge", "bridge", "bridge"},
		{"mac-vlan", "macvlan", "macvlan"},
		{"mac-vtap", "macvtap", "macvtap"},
		{"macsec", "macsec", "macsec"},
		{"veth", "veth", "veth"},
		{"vlan", "vlan", "8021q"},
		{"vrf", "vrf", "vrf"},
		{"vxlan", "vxlan", "vxlan"},
		{"xfrm", "xfrm", "xfrm_interface"},
	}
}

type linkType struct{ name, kind, module string }

// Links implements backend.Kernel: each type is tried once while the process lives,
// so at least once after each boot.
type Links struct {
	// try asks the kernel for a link of a kind that it must refuse, and tells
	// whether it knows the kind. isLoaded tells whether that loads no module.
	try      func(kind string) (bool, error)
	isLoaded func(module string) bool

	mu    sync.Mutex
	tried map[string]bool
}

// NewLinks tries the types for which no module has to be loaded: loading one may
// make interfaces (bonding makes bond0), and nobody has asked for those.
func NewLinks() (*Links, error) {
	l := &Links{try: knowsLink, isLoaded: loadsNothing, tried: map[string]bool{}}
	return l, l.begin()
}

func (l *Links) begin() error {
	var all []error
	for _, one := range linkTypes() {
		if l.isLoaded(one.module) {
			_, err := l.ask(one)
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// Links implements backend.Kernel.
func (l *Links) Links() (can, cannot []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, known := range l.tried {
		if known {
			can = append(can, name)
		} else {
			cannot = append(cannot, name)
		}
	}
	slices.Sort(can)
	slices.Sort(cannot)
	return can, cannot
}

// CanMake implements backend.Kernel. Where the kernel gives no answer, the apply
// finds out.
func (l *Links) CanMake(name string) bool {
	all := linkTypes()
	i := slices.IndexFunc(all, func(t linkType) bool { return t.name == name })
	if i < 0 {
		return true
	}
	known, err := l.ask(all[i])
	return known || err != nil
}

func (l *Links) ask(one linkType) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, is := l.tried[one.name]; is {
		return known, nil
	}
	known, err := l.try(one.kind)
	if err == nil {
		l.tried[one.name] = known
	}
	return known, err
}
