//go:build linux

package scenarios

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a link is called says nothing of what it is.
func TestALinkIsOfItsKind(t *testing.T) {
	own := `rule {"priority":1000,"src":"all","l3mdev":null}`
	if got, err := plain(own, ""); err != nil || len(got) > 0 {
		t.Errorf("the kernel's rule for VRFs: %v, %v", got, err)
	}
	for text, want := range map[string]string{
		`link {"ifname":"eth1","flags":["UP"],"mtu":1500,"linkinfo":{"info_kind":"veth"}}`:                                          "link eth1 ethernet up mtu 1500",
		`link {"ifname":"veth1","flags":["UP"],"mtu":1500,"linkinfo":{"info_kind":"veth"}}`:                                         "link veth1 veth up mtu 1500",
		`link {"ifname":"eth1.100","link":"eth1","flags":["UP"],"mtu":1500,"linkinfo":{"info_kind":"vlan","info_data":{"id":100}}}`: "link eth1.100 vlan up mtu 1500 id 100 base eth1",
		`link {"ifname":"eth1","master":"bond1","flags":["UP"],"mtu":1500,"linkinfo":{"info_kind":"veth"}}`:                         "link eth1 ethernet up mtu 1500 controller bond1",
		`link {"ifname":"vrf1","flags":["UP"],"mtu":65575,"linkinfo":{"info_kind":"vrf","info_data":{"table":5}}}`:                  "link vrf1 vrf up mtu 65575",
	} {
		got, err := plain(text, "")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{want}, got); diff != "" {
			t.Error(diff)
		}
	}
}
