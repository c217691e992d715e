package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// A profile's file in NetworkManager's format, as far as anybody reads it here,
// with all that the model knows of the profile in one line of its section
// [user]: two files with the same line mean the same.

// meaningKey is where that line is.
const meaningKey = "io.nmstate.sim="

// format of a file: who wrote it.
type format int

const (
	// own is NetworkManager's format.
	own format = iota
	// installers: the same with other bytes, as whoever installed the node wrote
	// it. NetworkManager does not write such a file again without a reason.
	installers
)

// meaning is everything that the profile says, in a form that is equal if and
// only if it is the same.
func (p *profile) meaning() string {
	if p.text == "" {
		raw, err := json.Marshal(struct {
			Name, Kind  string
			Said        tree
			Routes      []Route  `json:",omitempty"`
			DNS, Search []string `json:",omitempty"`
			Port        string   `json:",omitempty"`
		}{p.name, p.kind, p.said, p.routes, p.dns, p.search, p.ovsPort})
		if err != nil {
			panic(fmt.Sprintf("host: the profile of %s: %v", p.name, err))
		}
		p.text = string(raw)
	}
	return p.text
}

// file is the profile as a file; shadowed is the path of the one that it hides.
func (p *profile) file(written format, shadowed string) profiles.File {
	var b strings.Builder
	section := func(name string, lines ...string) {
		fmt.Fprintf(&b, "[%s]\n", name)
		for _, line := range lines {
			if !strings.HasSuffix(line, "=") {
				b.WriteString(line + "\n")
			}
		}
		b.WriteString("\n")
	}
	if written == installers {
		b.WriteString("# Written when the node was installed.\n")
	}
	lines := []string{"id=" + p.id(), "uuid=" + p.uuid, "type=" + p.connectionType(), "interface-name=" + p.name}
	if on := p.controller(); p.ovsPort != "" {
		lines = append(lines, "controller="+p.ovsPort, "port-type="+ovsPortKind)
	} else if on != "" {
		lines = append(lines, "controller="+on, "port-type="+p.portType)
	}
	section("connection", lines...)
	for _, family := range []string{"ipv4", "ipv6"} {
		section(family, slices.Concat([]string{"method=" + p.method(family)}, p.addressLines(family), p.serverLines(family))...)
	}
	section("user", meaningKey+p.meaning())
	if shadowed != "" {
		section(".nmmeta", "shadowed-storage="+shadowed, "shadowed-owned=true")
	}
	return profiles.File{Mode: 0o600, Content: []byte(b.String())}
}

func (p *profile) id() string {
	switch p.kind {
	case "ovs-bridge":
		return p.name + "-br"
	case ovsPortKind:
		return p.name + "-port"
	case rulesKind:
		return "rules"
	}
	return p.name
}

// connectionType is NetworkManager's name of the kind.
func (p *profile) connectionType() string {
	switch p.kind {
	case "linux-bridge":
		return "bridge"
	case "mac-vlan":
		return "macvlan"
	case rulesKind:
		return "loopback"
	}
	return p.kind
}

func (p *profile) method(family string) string {
	switch {
	case !p.enabled(family):
		return "disabled"
	case p.dynamic(family):
		return "auto"
	case len(p.addressLines(family)) == 0:
		return "link-local"
	}
	return "manual"
}

func (p *profile) addressLines(family string) []string {
	var lines []string
	for i, a := range addressesOf(p, family) {
		lines = append(lines, fmt.Sprintf("address%d=%s", i+1, a.Prefix))
	}
	return lines
}

// known are the profiles by what their files say.
type known map[string]*profile

func (k known) add(p *profile) { k[p.uuid+"\n"+p.meaning()] = p }

// read is the profile of a file; nil for one that NetworkManager would not read:
// what was cut short has lost its end.
func (k known) read(file profiles.File) *profile {
	uuid, said := fileUUID(file), Meaning(file)
	if said == "" {
		return nil
	}
	p := k[uuid+"\n"+said]
	if p == nil {
		return nil
	}
	return k.withServers(p, file)
}

// withServers is the profile with the name servers of a file from which somebody has
// taken some of those that its meaning has.
func (k known) withServers(p *profile, file profiles.File) *profile {
	var lines []string
	for line := range strings.Lines(string(file.Content)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "dns") {
			lines = append(lines, line)
		}
	}
	if slices.Equal(lines, slices.Concat(p.serverLines("ipv4"), p.serverLines("ipv6"))) {
		return p
	}
	key := p.uuid + "\n" + p.meaning() + "\n" + strings.Join(lines, "\n")
	if k[key] == nil {
		other := *p
		other.dns, other.search, other.text = nil, nil, ""
		for _, line := range lines {
			name, value, _ := strings.Cut(line, "=")
			items := strings.FieldsFunc(value, func(r rune) bool { return r == ';' })
			if name == "dns" {
				other.dns = append(other.dns, items...)
			} else {
				other.search = append(other.search, items...)
			}
		}
		own := other.uuid + "\n" + other.meaning() // As which it is written, once NetworkManager has read it.
		if k[own] == nil {
			k[own] = &other
		}
		k[key] = k[own]
	}
	return k[key]
}

// serverLines are the name servers of a family; the search domains stand with those of
// IPv4, or with IPv6 where there are none of these.
func (p *profile) serverLines(family string) []string {
	of := map[string]string{}
	for _, server := range p.dns {
		if a, err := netip.ParseAddr(server); err == nil {
			of[familyOf(a)] += server + ";"
		}
	}
	var lines []string
	if of[family] != "" {
		lines = append(lines, "dns="+of[family])
	}
	if first := of["ipv4"] != "" || of["ipv6"] == ""; len(p.search) > 0 && first == (family == "ipv4") {
		lines = append(lines, "dns-search="+strings.Join(p.search, ";")+";")
	}
	return lines
}

func fileUUID(file profiles.File) string { return lineOf(file, "uuid=") }

// Meaning of a profile's file, for oracles: NetworkManager's own format and
// another one may say the same. Empty for a file that is none.
func Meaning(file profiles.File) string { return lineOf(file, meaningKey) }

// Device of a profile's file, for oracles.
func Device(file profiles.File) string { return lineOf(file, "interface-name=") }

// Controller that the profile in a file names as its own; empty for none.
func Controller(file profiles.File) string { return lineOf(file, "controller=") }

func lineOf(file profiles.File, key string) string {
	for line := range strings.Lines(string(file.Content)) {
		if value, ok := strings.CutPrefix(line, key); ok && strings.HasSuffix(value, "\n") {
			return strings.TrimSuffix(value, "\n")
		}
	}
	return ""
}

// newUUID is one that nothing has yet. It tells of the host how many there were.
func (h *Host) newUUID() string {
	h.uuids++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", h.Name, h.uuids))
	x := hex.EncodeToString(sum[:16])
	return fmt.Sprintf("%s-%s-4%s-8%s-%s", x[:8], x[8:12], x[13:16], x[17:20], x[20:32])
}
