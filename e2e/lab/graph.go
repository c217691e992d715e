package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Graph draws a topology: each switch with what is behind it and what of the
// nodes leads to it, then each node that has more than NICs.
func Graph(t *Topology) string {
	var b strings.Builder
	for _, s := range t.Switches {
		name := "switch " + s.Name
		if s.Over != "" {
			name += fmt.Sprintf(", VLAN %d of %s", s.VLAN, s.Over)
		}
		lines := []string{"gateway " + strings.TrimSpace(s.Gateway+" "+s.Gateway6) + offers(s)}
		for _, p := range s.Peers {
			lines = append(lines, "peer "+p.Name+" "+p.Address)
		}
		for _, v := range t.Services {
			if v.Switch == s.Name {
				lines = append(lines, fmt.Sprintf("service %s: %s on port %d", v.Name, v.Type, v.Port))
			}
		}
		for _, n := range t.Nodes {
			for _, nic := range n.interfaces() {
				if nic.Switch == s.Name {
					lines = append(lines, joined(n.Name, nic.Name, nic.Address, nic.Address6))
				}
			}
		}
		branches(&b, name, lines)
	}
	for _, n := range t.Nodes {
		var lines []string
		for _, l := range n.Links {
			lines = append(lines, l.line())
		}
		for _, name := range slices.Sorted(maps.Keys(n.Profiles)) {
			lines = append(lines, "profile "+name)
		}
		if len(lines) > 0 {
			branches(&b, "node "+n.Name, lines)
		}
	}
	return b.String()
}

func branches(b *strings.Builder, name string, lines []string) {
	b.WriteString(name + "\n")
	for i, line := range lines {
		branch := "├─ "
		if i == len(lines)-1 {
			branch = "└─ "
		}
		b.WriteString(branch + line + "\n")
	}
}

// line is a link with what it stands on.
func (l LinkSpec) line() string {
	id, on := "", l.Base
	if l.ID != 0 {
		id = fmt.Sprint(l.ID)
	}
	if len(l.Ports) > 0 {
		on = strings.Join(l.Ports, ", ")
	}
	if on != "" {
		on = "on " + on
	}
	if l.Peer != "" {
		on = "to " + l.Peer
	}
	return joined(l.Name, l.Type, l.Mode, id, on, l.Address, l.Address6)
}

// joined are the words that there are.
func joined(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

func offers(s SwitchSpec) string {
	var all []string
	if s.DHCP != nil {
		all = append(all, "DHCP "+s.DHCP.From+" to "+s.DHCP.To)
	}
	if s.DNS {
		all = append(all, "DNS")
	}
	if s.RA {
		all = append(all, "router advertisements")
	}
	if s.LACP {
		all = append(all, "LACP")
	}
	if s.LLDP != nil {
		all = append(all, strings.TrimSpace("LLDP "+s.LLDP.ChassisID+" "+s.LLDP.SystemName))
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}
