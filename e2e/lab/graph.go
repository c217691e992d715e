package lab

import (
	"fmt"
	"strings"
)

// Graph draws a topology: each switch with what is behind it, and the NICs in it.
func Graph(t *Topology) string {
	var b strings.Builder
	for _, s := range t.Switches {
		fmt.Fprintf(&b, "switch %s\n", s.Name)
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
			for _, nic := range n.NICs {
				if nic.Switch == s.Name {
					lines = append(lines, strings.TrimSpace(n.Name+" "+nic.Name+" "+nic.Address+" "+nic.Address6))
				}
			}
		}
		for i, line := range lines {
			branch := "├─ "
			if i == len(lines)-1 {
				branch = "└─ "
			}
			b.WriteString(branch + line + "\n")
		}
	}
	return b.String()
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
	if s.LLDP != nil {
		all = append(all, strings.TrimSpace("LLDP "+s.LLDP.ChassisID+" "+s.LLDP.SystemName))
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}
