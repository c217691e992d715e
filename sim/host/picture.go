package host

import (
	"fmt"
	"slices"
)

// Picture is the host's network as scenarios tell it (sim/scenario), sorted:
// links, addresses, routes, rules and name servers, one a line, without what
// the kernel derives.
func (h *Host) Picture() []string {
	var lines []string
	for _, l := range h.kernel.links {
		if !l.userspace() && l.Type != "loopback" {
			lines = append(lines, linkLine(l))
		}
		for _, a := range l.Addresses {
			if l.Type == "loopback" && a.Prefix.Addr().IsLoopback() {
				continue
			}
			line := "address " + l.Name + " " + a.Prefix.String()
			if a.Dynamic {
				line += " dynamic"
			}
			lines = append(lines, line)
		}
	}
	for _, r := range h.kernel.routes {
		if r.Protocol != Kernel && r.Protocol != RA {
			lines = append(lines, routeLine(r))
		}
	}
	for _, r := range h.kernel.rules {
		lines = append(lines, ruleLine(r))
	}
	for _, server := range h.NameServers() {
		lines = append(lines, "dns server "+server)
	}
	for _, domain := range h.SearchDomains() {
		lines = append(lines, "dns search "+domain)
	}
	for column, values := range h.openVSwitch() {
		for key, value := range values {
			lines = append(lines, fmt.Sprintf("openvswitch %s:%s %s", column, key, value))
		}
	}
	lines = append(lines, h.scriptLines()...)
	slices.Sort(lines)
	return lines
}

func linkLine(l *Link) string {
	state := "down"
	if l.Up {
		state = "up"
	}
	line := fmt.Sprintf("link %s %s %s mtu %d", l.Name, l.Type, state, l.MTU)
	if l.Controller != "" {
		line += " controller " + l.Controller
	}
	switch l.Type {
	case "linux-bridge":
		stp := "off"
		if l.spanningTree() {
			stp = "on"
		}
		line += " stp " + stp
	case "vlan":
		line += fmt.Sprintf(" id %d base %s", l.VLAN, l.Base)
	case "vxlan":
		line += fmt.Sprintf(" id %s", text(object(l.Said["vxlan"])["id"]))
		if l.Base != "" {
			line += " base " + l.Base
		}
	case "mac-vlan", "ipvlan":
		line += fmt.Sprintf(" base %s mode %s", l.Base, text(object(l.Said[l.Type])["mode"]))
	case "bond":
		line += " mode " + l.BondMode()
	}
	return line
}

// BondMode is the name of a bond's mode.
func (l *Link) BondMode() string {
	names := []string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"}
	bond := object(l.Said["link-aggregation"])
	if bond == nil {
		bond = object(l.Said["bond"])
	}
	if n, ok := integer(bond["mode"]); ok && n >= 0 && n < len(names) {
		return names[n]
	}
	return text(bond["mode"])
}

func routeLine(r Route) string {
	line := "route " + r.To.String()
	if r.Via.IsValid() {
		line += " via " + r.Via.String()
	}
	if r.Dev != "" {
		line += " dev " + r.Dev
	}
	line += fmt.Sprintf(" metric %d", r.Metric)
	if r.Table != MainTable {
		line += fmt.Sprintf(" table %d", r.Table)
	}
	return line
}

func ruleLine(rule tree) string {
	line := "rule"
	if from := text(rule["ip-from"]); from != "" {
		line += " from " + from
	}
	if to := text(rule["ip-to"]); to != "" {
		line += " to " + to
	}
	table := text(rule["route-table"])
	if table == "" || table == "0" {
		table = "254"
	}
	return fmt.Sprintf("%s table %s priority %s", line, table, text(rule["priority"]))
}
