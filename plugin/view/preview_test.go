package view

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestPreview(t *testing.T) {
	node := func(name, report string) *v1.NodeNetworkState {
		nns := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if report != "" {
			nns.Status.CurrentState = v1.NewState([]byte(report))
		}
		return nns
	}
	const two = `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":1500},{"name":"eth2","type":"ethernet","state":"up","mtu":1500}]}`
	carries := node("carries", `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":1500,"ipv4":{"enabled":true,"address":[{"ip":"192.0.2.9","prefix-length":24}]}}],
		"routes":{"running":[{"destination":"0.0.0.0/0","next-hop-interface":"eth1","next-hop-address":"192.0.2.1","table-id":254}]}}`)
	cut := node("cut", two)
	cut.Status.Truncated = &v1.Truncated{}
	other := on("owned", v1.EnactmentAvailable, "")
	other.Labels[v1.EnactmentPolicyLabel] = "mtu"
	other.Status.Committed = &v1.CommittedPolicy{Generation: 1, Hash: "1", DesiredState: v1.NewState([]byte(`{"interfaces":[{"name":"eth1","mtu":9000}]}`))}
	own := on("again", v1.EnactmentAvailable, "")
	own.Labels[v1.EnactmentPolicyLabel] = "bond"
	own.Status.Committed = &v1.CommittedPolicy{Generation: 1, Hash: "1", DesiredState: v1.NewState([]byte(`{"interfaces":[{"name":"eth1","mtu":9000}]}`))}

	p := NewPreview("bond", []byte(`{"interfaces":[{"name":"bond7","type":"bond","state":"up","link-aggregation":{"mode":"active-backup","port":["eth1"]}},{"name":"eth1","mtu":1400}]}`),
		[]v1.NodeNetworkConfigurationEnactment{other, own}, now())
	for _, one := range []*v1.NodeNetworkState{node("first", two), node("second", two), carries, node("quiet", ""), cut, node("owned", two), node("again", two)} {
		p.Add(one)
	}
	got := strings.Join(p.Plan().Lines(func(_ Tone, text string) string { return text }), "\n")
	for _, want := range []string{
		"bond  1 node refused, 3 LinkFlap, 1 ConnectivityRisk: eth1: it has a default route",
		"LinkFlap  3 nodes: first, second, again", "ConnectivityRisk  1 node: carries",
		"mtu: 1500 -> 1400", "policy bond conflicts with policy mtu at interfaces[eth1].mtu: 1400 here, 9000 there", "no answer  2 nodes: quiet, cut",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
