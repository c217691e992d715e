package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestNodeDiffs(t *testing.T) {
	const reported = `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":1300,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.9","prefix-length":24}]}},{"name":"br9","type":"linux-bridge","state":"up"}],
		"routes":{"config":[],"running":[]}}`
	wants := func(policy, hash, desired string, kind v1.ConditionType, message string) v1.NodeNetworkConfigurationEnactment {
		e := on("node1", kind, message)
		e.Labels[v1.EnactmentPolicyLabel], e.Status.Hash, e.Status.DesiredState = policy, hash, v1.NewState([]byte(desired))
		return e
	}
	const mtu1300 = `{"interfaces":[{"name":"eth1","type":"ethernet","mtu":1300}]}`
	tests := map[string]struct {
		desired    string
		enactments []v1.NodeNetworkConfigurationEnactment
		want       []string
	}{
		"a node that has everything":            {mtu1300, nil, nil},
		"a node of which nobody wants anything": {"", nil, nil},
		"a value that has drifted, between those that have not": {`{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":1400}]}`, nil, []string{
			"--- node1 reported", "+++ node1 desired", "@@ -1,3 +1,3 @@", "-interfaces[eth1].mtu: 1300", "+interfaces[eth1].mtu: 1400", " interfaces[eth1].state: up", " interfaces[eth1].type: ethernet",
		}},
		"another address, a route and an interface that are not there": {
			`{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up"},{"name":"eth1","ipv4":{"enabled":true,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}],
			"routes":{"config":[{"destination":"198.51.100.0/24","next-hop-address":"192.0.2.254","next-hop-interface":"eth1"}]}}`, nil, []string{
				"--- node1 reported", "+++ node1 desired", "@@ -1 +1,5 @@", "+interfaces[br1].state: up", "+interfaces[br1].type: linux-bridge", "+interfaces[eth1].ipv4.address[192.0.2.1/24]",
				" interfaces[eth1].ipv4.enabled: true", "+routes.config[198.51.100.0/24 via 192.0.2.254 dev eth1]",
			},
		},
		"a policy that failed there": {mtu1300, []v1.NodeNetworkConfigurationEnactment{
			wants("applied", "1", mtu1300, v1.EnactmentAvailable, ""), wants("planned", "3", `{"interfaces":[{"name":"eth7"}]}`, v1.Planned, ""),
			wants("jumbo", "2", `{"interfaces":[{"name":"eth1","mtu":9000}]}`, v1.EnactmentFailing, "probing: dns: no answer"),
		}, []string{
			"--- node1 reported", "+++ node1 desired by policy jumbo, which is not applied: Failing: probing: dns: no answer", "@@ -1 +1 @@", "-interfaces[eth1].mtu: 1300", "+interfaces[eth1].mtu: 9000",
		}},
		"an interface that should have gone": {`{"interfaces":[{"name":"br9","type":"linux-bridge","state":"absent"}]}`, nil, []string{
			"--- node1 reported", "+++ node1 desired", "@@ -1,2 +1,2 @@", "-interfaces[br9]: the linux-bridge", "+interfaces[br9].state: absent", " interfaces[br9].type: linux-bridge",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			nns := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}
			nns.Spec.DesiredState, nns.Status.CurrentState = v1.NewState([]byte(tc.desired)), v1.NewState([]byte(reported))
			nns.Spec.Sources = []v1.DesiredSource{{Source: v1.Source{Policy: "applied", Hash: "1"}}}
			found, err := NodeDiffs(nns, tc.enactments)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, one := range found {
				lines = append(lines, one.Lines(NoPaint)...)
			}
			if diff := cmp.Diff(tc.want, lines); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	nns := &v1.NodeNetworkState{Status: v1.NodeNetworkStateStatus{CurrentState: v1.NewState([]byte("no"))}}
	if _, err := NodeDiffs(nns, nil); err == nil || !strings.Contains(err.Error(), "reading what node") {
		t.Errorf("a report that cannot be read: %v", err)
	}
}
