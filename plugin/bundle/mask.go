package bundle

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Mask replaces names of nodes and neighbours, IP and MAC addresses: each in all files by
// the same other one. Addresses that share a prefix share one of the same length
// afterwards, so a gateway stays in its network.
type Mask struct {
	key []byte
	// known are the names, each with what stands for it.
	known map[string]string
	names *regexp.Regexp
}

// NewMask replaces what stands in the objects, by a key that nobody else has.
func NewMask(key []byte, o Objects) Mask {
	known, count := map[string]string{}, map[string]int{}
	add := func(name, kind string) {
		if _, is := known[name]; !is && name != "" && name != "localhost" {
			count[kind]++
			known[name] = fmt.Sprintf("%s-%d", kind, count[kind])
		}
	}
	for i := range o.States {
		add(o.States[i].Name, "node")
		current, err := state.Parse(o.States[i].Status.CurrentState.Raw)
		if err != nil {
			continue // Then nobody reads names in it, either.
		}
		for _, one := range current.Interfaces() {
			for _, n := range one.Neighbours() {
				add(n.SystemName, "switch")
			}
		}
		for _, name := range names(current.Tree()) {
			add(name, "name")
		}
	}
	for i := range o.Enactments {
		add(o.Enactments[i].Node(), "node")
	}
	return Mask{key: key, known: known, names: anyOf(known)}
}

// names are the host's own and those of its search domains.
func names(tree map[string]any) []string {
	var found []string
	for section, keys := range map[string][]string{"hostname": {"running", "config"}, "dns-resolver": {"running", "config"}} {
		for _, key := range keys {
			below, _ := tree[section].(map[string]any)
			switch value := below[key].(type) {
			case string:
				found = append(found, value)
			case map[string]any:
				domains, _ := value["search"].([]any)
				for _, domain := range domains {
					name, _ := domain.(string)
					found = append(found, name)
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// anyOf finds the names where they stand as words. Of two that begin alike it takes the
// longer one.
func anyOf(known map[string]string) *regexp.Regexp {
	var all []string
	for _, name := range slices.SortedFunc(maps.Keys(known), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		all = append(all, regexp.QuoteMeta(name))
	}
	if len(all) == 0 {
		return nil
	}
	return regexp.MustCompile(`\b(?:` + strings.Join(all, "|") + `)\b`)
}

func (m Mask) name(text string) string {
	if m.names == nil {
		return text
	}
	return m.names.ReplaceAllStringFunc(text, func(name string) string { return m.known[name] })
}

// Apply replaces in the files and in their names.
func (m Mask) Apply(files Files) Files {
	masked := Files{}
	for _, name := range files.Names() {
		masked[m.name(name)] = []byte(m.Text(string(files[name])))
	}
	return masked
}

var (
	hardware = regexp.MustCompile(`\b[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}\b`)
	four     = regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}\b`)
	six      = regexp.MustCompile(`[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}`)
)

// Text is a text with other names and addresses.
func (m Mask) Text(text string) string {
	text = m.name(text)
	text = hardware.ReplaceAllStringFunc(text, m.mac)
	text = four.ReplaceAllStringFunc(text, m.address)
	return six.ReplaceAllStringFunc(text, m.address)
}

func (m Mask) digest(of string) []byte {
	mac := hmac.New(sha256.New, m.key)
	mac.Write([]byte(of)) // A hash takes everything.
	return mac.Sum(nil)
}

// mac is an address that no maker has given; what is for many stays.
func (m Mask) mac(written string) string {
	raw, err := hex.DecodeString(strings.ReplaceAll(written, ":", ""))
	if err != nil || raw[0]&1 == 1 || strings.Trim(written, "0:") == "" {
		return written
	}
	other := m.digest(strings.ToLower(written))
	masked := fmt.Sprintf("02:%02x:%02x:%02x:%02x:%02x", other[0], other[1], other[2], other[3], other[4])
	if strings.ToUpper(written) == written {
		return strings.ToUpper(masked)
	}
	return masked
}

// address keeps what has a meaning of its own, and gives the rest, bit by bit, another
// value that depends on the bits before it.
func (m Mask) address(written string) string {
	address, err := netip.ParseAddr(written)
	if err != nil || address.IsUnspecified() || address.IsLoopback() || address.IsMulticast() || address == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return written
	}
	raw := address.AsSlice()
	kept := 0
	switch {
	case address.Is4() && raw[0] == 255: // A mask.
		return written
	case address.IsLinkLocalUnicast() && address.Is6():
		kept = 64
	case address.IsLinkLocalUnicast():
		kept = 16
	case address.Is6():
		kept = 3 // It stays one that is routed.
	}
	masked := slices.Clone(raw)
	for bit := kept; bit < 8*len(raw); bit++ {
		prefix, err := address.Prefix(bit)
		if err != nil {
			return written
		}
		if m.digest(prefix.String())[0]&1 == 1 {
			masked[bit/8] ^= 0x80 >> (bit % 8)
		}
	}
	if address.Is4() {
		// In 10.0.0.0/8, which is nobody's; the bits of before decide the rest.
		masked[0] = 10
	}
	other, _ := netip.AddrFromSlice(masked)
	return other.String()
}
