package agent

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// stand has NetworkManager hold a device like that from now on, until it is configured.
func (n *node) stand(a *Agent, device profiles.Device) {
	n.host.mu.Lock()
	n.host.standing = map[string]profiles.Device{device.Name: device}
	n.host.mu.Unlock()
	a.NetworkChanged()
}

func (n *node) stands(name string) profiles.DeviceState {
	n.host.mu.Lock()
	defer n.host.mu.Unlock()
	return n.host.stands(name).State
}

func TestADeviceThatIsDisconnectedHasDriftedThoughItsLinkIsAsItWas(t *testing.T) {
	t.Parallel()
	gone := profiles.Device{Name: "a", State: profiles.Disconnected}
	t.Run("it is activated again", func(t *testing.T) {
		n := newNode(t)
		a, _ := n.handler(quick)
		n.wantMTU(2, map[string]string{"a": "", "b": ""})
		n.stand(a, gone)
		n.until("it is activated, and that was told", func() bool {
			return n.stands("a") == profiles.Active && n.drifted() == metav1.ConditionFalse && n.host.count() == 2
		})
		n.quiet()
	})
	t.Run("it is only reported where its policy says so", func(t *testing.T) {
		n := newNode(t)
		a, _ := n.handler(quick)
		n.wantMTU(2, map[string]string{"a": "Report"})
		n.stand(a, gone)
		n.until("it is told", func() bool { return len(n.get().Status.Drift) == 1 })
		got := n.get().Status.Drift[0]
		got.Since = metav1.Time{}
		if want := (v1.Drift{Path: "interfaces[a].state", Expected: "up", Found: "disconnected in NetworkManager", Policy: "a", Action: "Reported"}); got != want {
			t.Errorf("drift = %+v, want %+v", got, want)
		}
		n.quiet()
		if n.host.count() != 1 {
			t.Errorf("%d applies", n.host.count())
		}
		n.stand(a, profiles.Device{Name: "a", State: profiles.Active})
		n.until("somebody activates it", func() bool { return n.drifted() == metav1.ConditionFalse })
	})
	t.Run("it has lost its cable: neither", func(t *testing.T) {
		n := newNode(t)
		a, _ := n.handler(quick)
		n.wantMTU(2, map[string]string{"a": ""})
		n.stand(a, profiles.Device{Name: "a", State: profiles.Unavailable, NoCarrier: true})
		n.setMTU(a, "a", "1500") // NetworkManager lets it go.
		n.until("the network is reported as it is", func() bool {
			shown, err := state.Parse(n.get().Status.CurrentState.Raw)
			one, _ := shown.Interface("a")
			mtu, _ := one.MTU()
			return err == nil && mtu == 1500
		})
		n.quiet()
		if drift := n.get().Status.Drift; len(drift) > 0 || n.host.count() != 1 {
			t.Errorf("drift = %+v, %d applies", drift, n.host.count())
		}
	})
}
