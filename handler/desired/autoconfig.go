package desired

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// longestName is Linux's limit, in bytes.
const longestName = 15

// AutoConfigure makes the desired state of the matched interfaces from what
// their LLDP neighbours announce in the report: a bond for each switch
// chassis, numbered in the order of the chassis ids, and a VLAN for each
// announced id, on the bonds or else on the interfaces. Unless each of the
// interfaces has a neighbour, waiting names those that have none, and there is
// no state: with half of the cables known, bonds would be numbered wrongly.
func AutoConfigure(config v1.AutoConfig, current state.State, matched []string) (made state.State, waiting string, err error) {
	links, silent, err := linksOf(current, matched)
	if err != nil {
		return state.State{}, "", err
	}
	if len(silent) > 0 {
		return state.State{}, "Waiting for LLDP neighbours of " + strings.Join(silent, ", "), nil
	}
	var entries []any
	if config.Bonding != nil {
		links, entries = bonds(*config.Bonding, links)
	}
	if config.VLAN != nil {
		entries = append(entries, vlans(links)...)
	}
	for _, entry := range objects(entries) {
		if name := nameOf(entry); len(name) > longestName {
			return state.State{}, "", fmt.Errorf("spec.autoConfig: the name %s has %d characters, and Linux allows %d: take a shorter bonding.namePrefix, or bonding where there is none", name, len(name), longestName)
		}
	}
	if len(entries) == 0 {
		return state.State{}, "", nil
	}
	return state.FromTree(map[string]any{"interfaces": entries}), "", nil
}

// link is an interface, what it leads to and what is announced there.
type link struct {
	name    string
	chassis string
	vlans   []int64
}

// linksOf also returns the interfaces on which nothing was heard.
func linksOf(current state.State, matched []string) (links []link, silent []string, err error) {
	for _, name := range matched {
		one, _ := current.Interface(name)
		found := link{name: name}
		for _, neighbour := range one.Neighbours() {
			switch {
			case neighbour.ChassisID == "":
				continue
			case found.chassis != "" && !strings.EqualFold(found.chassis, neighbour.ChassisID):
				return nil, nil, fmt.Errorf("spec.autoConfig: %s hears two switches, chassis %s and %s, so it cannot be told which it leads to: leave it out of spec.match", name, found.chassis, neighbour.ChassisID)
			}
			found.chassis = neighbour.ChassisID
			found.vlans = united(found.vlans, neighbour.VLANs)
		}
		if found.chassis == "" {
			silent = append(silent, name)
			continue
		}
		links = append(links, found)
	}
	return links, silent, nil
}

// bonds returns the bonds as links, and as entries of a desired state.
func bonds(config v1.AutoBonding, links []link) (bonded []link, entries []any) {
	byChassis := map[string][]link{}
	for _, one := range links {
		chassis := strings.ToLower(one.chassis)
		byChassis[chassis] = append(byChassis[chassis], one)
	}
	for i, chassis := range slices.Sorted(maps.Keys(byChassis)) {
		bond := link{name: fmt.Sprintf("%s%d", config.NamePrefix, i), chassis: chassis}
		var ports []any
		for _, one := range byChassis[chassis] {
			ports = append(ports, one.name)
			bond.vlans = united(bond.vlans, one.vlans)
		}
		bonded = append(bonded, bond)
		entries = append(entries, map[string]any{
			"name": bond.name, "type": "bond", "state": "up",
			"link-aggregation": map[string]any{"mode": config.Mode, "port": ports},
		})
	}
	return bonded, entries
}

func vlans(links []link) []any {
	var entries []any
	for _, one := range links {
		for _, id := range one.vlans {
			if id < 1 || id > 4094 { // 0 is a priority tag, the rest is reserved.
				continue
			}
			entries = append(entries, map[string]any{
				"name": fmt.Sprintf("%s.%d", one.name, id), "type": "vlan", "state": "up",
				"vlan": map[string]any{"base-iface": one.name, "id": id},
			})
		}
	}
	return entries
}

func united(a, b []int64) []int64 {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}
