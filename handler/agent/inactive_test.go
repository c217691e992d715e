package agent

import (
	"fmt"
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

func TestThatAnInterfaceIsUpIsOwnedByWhoeverSaysAnythingOfItWhereNobodySaysThat(t *testing.T) {
	const mtu, up, all = "interfaces[a].mtu", "interfaces[a].state", "interfaces[a]"
	for name, c := range map[string]struct {
		paths   map[string]string
		policy  string
		correct bool
	}{
		"nobody":                           {correct: true},
		"one that only reports":            {paths: map[string]string{"reports": mtu}, policy: "reports"},
		"one that corrects":                {paths: map[string]string{"corrects": mtu}, policy: "corrects", correct: true},
		"both":                             {paths: map[string]string{"reports": mtu, "corrects": mtu}, policy: "corrects", correct: true},
		"both, and one says that it is up": {paths: map[string]string{"reports": up, "corrects": mtu}, policy: "reports"},
		"one that has all of it":           {paths: map[string]string{"reports": all}, policy: "reports"},
		"one that has another one":         {paths: map[string]string{"reports": "interfaces[ab].mtu"}, correct: true},
	} {
		t.Run(name, func(t *testing.T) {
			var sources []v1.DesiredSource
			for _, policy := range []string{"reports", "corrects"} {
				if path := c.paths[policy]; path != "" {
					drift := map[string]string{"reports": driftReport}[policy]
					sources = append(sources, v1.DesiredSource{Source: v1.Source{Policy: policy}, Drift: drift, Paths: []string{path}})
				}
			}
			one := drifted{Difference: state.Difference{Path: state.ParsePath(up), Want: "up", Got: "down"}, correct: true}
			one.isOwned(sources)
			if got := fmt.Sprint(one.policy, one.correct); got != fmt.Sprint(c.policy, c.correct) {
				t.Errorf("owned by, corrected: %s", got)
			}
		})
	}
}
