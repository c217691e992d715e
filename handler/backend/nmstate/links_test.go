package nmstate

import (
	"errors"
	"slices"
	"testing"
)

func TestLinksAreTriedOnceAndNoModuleIsLoadedUnasked(t *testing.T) {
	var asked []string
	links := &Links{
		try: func(kind string) (bool, error) {
			asked = append(asked, kind)
			if kind == "vrf" {
				return false, errors.New("no answer")
			}
			return kind != "bond" && kind != "vlan", nil
		},
		isLoaded: func(module string) bool { return module == "veth" || module == "8021q" },
		tried:    map[string]bool{},
	}
	if err := links.begin(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"veth", "vlan"}; !slices.Equal(asked, want) {
		t.Errorf("at first it asked for %v, want %v", asked, want)
	}
	for kind, want := range map[string]bool{"bond": false, "vlan": false, "veth": true, "dummy": true, "ethernet": true, "ovs-bridge": true, "vrf": true} {
		for range 2 { // The second time by what the first has found.
			if got := links.CanMake(kind); got != want {
				t.Errorf("CanMake(%s) = %v", kind, got)
			}
		}
	}
	slices.Sort(asked)
	if want := []string{"bond", "dummy", "veth", "vlan", "vrf", "vrf"}; !slices.Equal(asked, want) {
		t.Errorf("in all it asked for %v, want %v", asked, want)
	}
	can, cannot := links.Links()
	if !slices.Equal(can, []string{"dummy", "veth"}) || !slices.Equal(cannot, []string{"bond", "vlan"}) {
		t.Errorf("Links() = %v, %v", can, cannot)
	}
}
