package profiles

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// LeftOut is what a change takes away and the node still has, one line each: an activation
// was left out without a word. By the kernel alone it cannot be told from what others have
// added, which stays.
//
//   - An address that the profile of before gave the device, and that of the trial does not.
//   - A NIC that is to be absent, and is active with its profile of before. One for many
//     NICs stays, since the others need it.
func LeftOut(desired, current state.State, before, trial Snapshot, devices []Device) []string {
	var lines []string
	had, has := before.current(), trial.current()
	for _, now := range devices {
		d, there := before.device(now.Name)
		if !there || d.Profile == "" || d.Profile != now.Profile || d.External {
			continue // It has another profile: an activation was not left out.
		}
		one, _ := desired.Interface(now.Name)
		if one.IsAbsent() && !d.Software && now.State == Active && !had[d.Profile].isForMany() {
			lines = append(lines, fmt.Sprintf("interfaces[%s]: NetworkManager has it activated, it should be absent", now.Name))
			continue
		}
		for _, family := range []state.Family{state.IPv4, state.IPv6} {
			for _, address := range going(had[d.Profile].keyfile, has[d.Profile].keyfile, family) {
				if shown, _ := current.Interface(now.Name); slices.Contains(shown.Addresses(family), address) {
					lines = append(lines, fmt.Sprintf("interfaces[%s].%s.address: %s is there still, and should go", now.Name, family, address))
				}
			}
		}
	}
	return lines
}

// going are the addresses that a profile had and has no more. One that asks a server may
// be given them again.
func going(had, has keyfile, family state.Family) []string {
	if method := has[string(family)]["method"]; method == "auto" || method == "dhcp" {
		return nil
	}
	stays := has.addresses(family)
	return slices.DeleteFunc(had.addresses(family), func(address string) bool { return slices.Contains(stays, address) })
}

// addresses that the profile gives its device, in normal form, sorted.
func (k keyfile) addresses(family state.Family) []string {
	var found []string
	for key, value := range k[string(family)] {
		if number, is := strings.CutPrefix(key, "address"); !is || strings.Trim(number, "0123456789") != "" {
			continue
		}
		text, _, _ := strings.Cut(value, ",") // A gateway may follow.
		if prefix, err := netip.ParsePrefix(text); err == nil {
			found = append(found, prefix.String())
		}
	}
	slices.Sort(found)
	return found
}
