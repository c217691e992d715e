//go:build nmstate

package nmstate

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const nodeWithARoute = `{
"interfaces": [
  {"name": "eth0", "type": "ethernet", "state": "up", "mtu": 1500},
  {"name": "eth1", "type": "ethernet", "state": "up", "mtu": 9000}],
"routes": {"config": [], "running": [
  {"destination": "0.0.0.0/0", "next-hop-interface": "eth0", "next-hop-address": "192.0.2.1", "table-id": 254}]}}`

const capturing = `{
"capture": {
  "gateway": "routes.running.destination == \"0.0.0.0/0\"",
  "uplink": "interfaces.name == capture.gateway.routes.running.0.next-hop-interface"},
"desiredState": {"interfaces": [{"name": "{{ capture.uplink.interfaces.0.name }}", "type": "ethernet", "state": "up", "mtu": 1500}]}}`

func revertHelper(t *testing.T) string {
	t.Helper()
	path := os.Getenv("NMSTATE_REVERT")
	if path == "" {
		if os.Getenv("NMSTATE_STRICT") == "1" {
			t.Fatal("not skipped in strict mode: there is no nmstate-revert (hack/libnmstate.sh builds it)")
		}
		t.Skip("there is no nmstate-revert")
	}
	return path
}

func currentState(t *testing.T) state.State {
	t.Helper()
	current, err := state.Parse([]byte(nodeWithARoute))
	if err != nil {
		t.Fatal(err)
	}
	return current
}

func namesOf(s state.State) (names []string) {
	for _, one := range s.Interfaces() {
		names = append(names, one.Name)
	}
	return names
}

func TestCapturesAreToldBesideWhatTheyLeadTo(t *testing.T) {
	rendered, captured, err := Captures{Helper: revertHelper(t)}.Resolve(t.Context(), []byte(capturing), currentState(t))
	if err != nil {
		t.Fatal(err)
	}
	// The node has it already: it is the policy's all the same.
	if diff := cmp.Diff([]string{"eth0"}, namesOf(rendered)); diff != "" {
		t.Errorf("rendered (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"eth0"}, namesOf(captured["uplink"])); diff != "" {
		t.Errorf("interfaces of the capture uplink (-want +got):\n%s", diff)
	}
	routes := captured["gateway"].RunningRoutes()
	if len(routes) != 1 || routes[0].NextHopInterface != "eth0" || len(captured["gateway"].Interfaces()) != 0 {
		t.Errorf("capture gateway is %s", captured["gateway"].JSON())
	}
}

// The rule of spec.match (desired.Match), and what manifests of the older project
// expect.
func TestACaptureTakesAVethForAVeth(t *testing.T) {
	current, err := state.Parse([]byte(`{"interfaces": [{"name": "eth0", "type": "ethernet", "state": "up"}, {"name": "pair0", "type": "veth", "state": "up", "veth": {"peer": "pair1"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]string{"ethernet": "eth0", "veth": "pair0"} {
		policy := `{"capture": {"nics": "interfaces.type == \"` + kind + `\""}, "desiredState": {"interfaces": [{"name": "{{ capture.nics.interfaces.0.name }}", "state": "up"}]}}`
		_, captured, err := Captures{Helper: revertHelper(t)}.Resolve(t.Context(), []byte(policy), current)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{want}, namesOf(captured["nics"])); diff != "" {
			t.Errorf("type %s (-want +got):\n%s", kind, diff)
		}
	}
}

func TestACaptureThatFailsIsTheAuthors(t *testing.T) {
	policy := strings.Replace(capturing, "==", "=", 1)
	for name, c := range map[string]Captures{"with the helper": {Helper: revertHelper(t)}, "with the library": {}} {
		t.Run(name, func(t *testing.T) {
			_, _, err := c.Resolve(t.Context(), []byte(policy), currentState(t))
			if err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line", err)
			}
			t.Log(err)
		})
	}
}
