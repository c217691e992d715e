//go:build linux

package scenarios

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// object is a line of lab's Kernel: what ip says of a link, the addresses of a
// link, a route or a rule.
type object struct {
	Name       string   `json:"ifname"`
	Flags      []string `json:"flags"`
	MTU        int      `json:"mtu"`
	Controller string   `json:"master"`
	Base       string   `json:"link"`
	Type       string   `json:"link_type"`
	Info       struct {
		Kind string `json:"info_kind"`
		Data struct {
			ID   int    `json:"id"`
			STP  int    `json:"stp_state"`
			Mode string `json:"mode"`
			Link string `json:"link"`
		} `json:"info_data"`
	} `json:"linkinfo"`
	Addresses []struct {
		Local   string `json:"local"`
		Length  int    `json:"prefixlen"`
		Scope   string `json:"scope"`
		Dynamic bool   `json:"dynamic"`
	} `json:"addr_info"`
	Kind     string `json:"type"`
	Dst      string `json:"dst"`
	Via      string `json:"gateway"`
	Dev      string `json:"dev"`
	Protocol string `json:"protocol"`
	Metric   int    `json:"metric"`
	Table    any    `json:"table"`
	Src      string `json:"src"`
	SrcLen   int    `json:"srclen"`
	DstLen   int    `json:"dstlen"`
	Priority int    `json:"priority"`
}

// plain turns lab's text of the kernel's state, and a resolv.conf, into the
// form of sim/scenario's picture.go.
func plain(kernel, resolv string) ([]string, error) {
	var lines []string
	for line := range strings.Lines(kernel) {
		what, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if text == "" {
			continue
		}
		var o object
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			return nil, fmt.Errorf("reading the kernel's %s: %w", what, err)
		}
		switch what {
		case "link":
			lines = append(lines, o.link()...)
		case "address":
			lines = append(lines, o.addresses()...)
		case "route", "route6":
			lines = append(lines, o.route(what == "route6")...)
		case "rule", "rule6":
			lines = append(lines, o.rule()...)
		}
	}
	for line := range strings.Lines(resolv) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "nameserver":
			lines = append(lines, "dns server "+words[1])
		case "search":
			for _, domain := range words[1:] {
				lines = append(lines, "dns search "+domain)
			}
		}
	}
	slices.Sort(lines)
	return lines, nil
}

// kinds are nmstate's names for the kernel's.
var kinds = map[string]string{
	"bridge": "linux-bridge", "macvlan": "mac-vlan", "macvtap": "mac-vtap", "": "ethernet",
	"dummy": "dummy", "vlan": "vlan", "vxlan": "vxlan", "bond": "bond", "vrf": "vrf",
	"openvswitch": "ovs-interface",
}

// ovsSystem is what the kernel calls all bridges of Open vSwitch.
const ovsSystem = "ovs-system"

// bridgesOfOVS names the bridge of each port, in place of the kernel's name for all of them.
func bridgesOfOVS(lines []string, bridges map[string]string) []string {
	for i, line := range lines {
		words := strings.Fields(line)
		if words[0] == "link" && bridges[words[1]] != "" {
			line = strings.TrimSuffix(line, " controller "+ovsSystem)
			lines[i] = line + " controller " + bridges[words[1]]
		}
	}
	return lines
}

func (o object) link() []string {
	if o.Name == "lo" || o.Name == ovsSystem {
		return nil
	}
	kind := kinds[o.Info.Kind]
	if kind == "" {
		kind = o.Info.Kind
	}
	if kind == "veth" && strings.HasPrefix(o.Name, "eth") {
		kind = "ethernet" // the lab's NICs are veth pairs; eth1.100 is none
	}
	state := "down"
	if slices.Contains(o.Flags, "UP") {
		state = "up"
	}
	line := fmt.Sprintf("link %s %s %s mtu %d", o.Name, kind, state, o.MTU)
	if o.Controller != "" {
		line += " controller " + o.Controller
	}
	switch kind {
	case "linux-bridge":
		line += " stp " + map[int]string{0: "off"}[o.Info.Data.STP]
		if o.Info.Data.STP != 0 {
			line += "on"
		}
	case "vlan", "vxlan":
		line += fmt.Sprintf(" id %d base %s", o.Info.Data.ID, o.Base+o.Info.Data.Link)
	case "mac-vlan", "ipvlan":
		line += " base " + o.Base + " mode " + o.Info.Data.Mode
	case "bond":
		line += " mode " + o.Info.Data.Mode
	}
	return []string{strings.TrimSuffix(line, " base ")}
}

func (o object) addresses() []string {
	var lines []string
	for _, a := range o.Addresses {
		if o.Name == "lo" && (a.Local == "127.0.0.1" || a.Local == "::1") || a.Scope == "link" {
			continue
		}
		line := fmt.Sprintf("address %s %s/%d", o.Name, a.Local, a.Length)
		if a.Dynamic {
			line += " dynamic"
		}
		lines = append(lines, line)
	}
	return lines
}

func (o object) route(six bool) []string {
	table := fmt.Sprint(o.Table)
	if o.Table == nil || table == "main" || table == "254" {
		table = ""
	}
	own := o.Protocol == "kernel" || o.Protocol == "ra" || table == "local" || o.Kind == "multicast" || o.Kind == "broadcast" || o.Kind == "anycast"
	if own || strings.HasPrefix(o.Dst, "fe80:") || strings.HasPrefix(o.Dst, "ff00:") || o.Dev == "lo" && o.Kind == "" {
		return nil
	}
	destination := o.Dst
	if destination == "default" {
		destination = map[bool]string{false: "0.0.0.0/0", true: "::/0"}[six]
	}
	if address, err := netip.ParseAddr(destination); err == nil {
		destination = netip.PrefixFrom(address, address.BitLen()).String()
	}
	line := "route " + destination
	if o.Via != "" {
		line += " via " + o.Via
	}
	if o.Dev != "" {
		line += " dev " + o.Dev
	}
	line += fmt.Sprintf(" metric %d", o.Metric)
	if table != "" {
		line += " table " + table
	}
	return []string{line}
}

func (o object) rule() []string {
	if o.Priority == 0 || o.Priority == 32766 || o.Priority == 32767 {
		return nil // the kernel's own
	}
	if o.Priority == 1000 && o.Table == nil {
		return nil // so is "from all lookup [l3mdev-table]", which comes with the first VRF
	}
	line := "rule"
	if o.Src != "" && o.Src != "all" {
		line += fmt.Sprintf(" from %s/%d", o.Src, o.SrcLen)
	}
	if o.Dst != "" {
		line += fmt.Sprintf(" to %s/%d", o.Dst, o.DstLen)
	}
	return []string{fmt.Sprintf("%s table %v priority %d", line, o.Table, o.Priority)}
}
