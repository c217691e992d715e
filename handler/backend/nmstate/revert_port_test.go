//go:build nmstate

package nmstate

import (
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// TestAPortOfAVRFHasAWayBack: nmstate reads of a node what type a port's controller is, and
// leaves it out of what it tells. Without it no address can be on the port.
func TestAPortOfAVRFHasAWayBack(t *testing.T) {
	parsed := func(eth1 string) state.State {
		s, err := state.Parse([]byte(`{"interfaces": [
			{"name": "eth1", "type": "ethernet", "state": "up", ` + eth1 + `},
			{"name": "vrf1", "type": "vrf", "state": "up", "vrf": {"port": ["eth1"], "route-table-id": 100}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	desired := parsed(`"ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "203.0.113.11", "prefix-length": 24}]}`)
	current := parsed(`"controller": "vrf1", "ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "203.0.113.10", "prefix-length": 24}]}`)
	b := &Backend{options: Options{RevertHelper: revertHelper(t), Clock: clock.RealClock{}}}
	back, err := b.Revert(t.Context(), desired, current)
	if err != nil {
		t.Fatal(err)
	}
	if raw := string(back.JSON()); !strings.Contains(raw, "203.0.113.10") || strings.Contains(raw, "203.0.113.11") {
		t.Errorf("the way back is %s", raw)
	}
}
