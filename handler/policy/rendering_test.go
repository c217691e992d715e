package policy_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

const (
	lldpOf3 = `{"name":"eth3","type":"ethernet","state":"up","lldp":{"enabled":true,"neighbors":[[{"type":1,"chassis-id":"02:00:00:00:00:01"},{"type":127,"ieee-802-1-vlans":[{"name":"v","vid":100}]}]]}}`
	lldpOf4 = `{"name":"eth4","type":"ethernet","state":"up","lldp":{"enabled":true,"neighbors":[[{"type":1,"chassis-id":"02:00:00:00:00:01"}]]}}`
)

// variable: a label's new value is a new rendering of the same generation,
// which needs a word of its own; what is no variable's source does nothing.
func variable(c *cluster) {
	c.annotate(map[string]string{"rack": "7"}, map[string]string{"example.com/mtu": "1400"})
	c.create("var", v1.NodeNetworkConfigurationPolicySpec{
		DesiredState: v1.NewState([]byte(`{"interfaces":[{"name":"rack{{ var.rack }}","mtu":"{{ var.mtu }}"}]}`)),
		Variables:    map[string]v1.Variable{"rack": {FromLabel: "rack"}, "mtu": {FromAnnotation: "example.com/mtu"}},
		Probes:       []v1.Probe{{Type: v1.ProbePing, Target: "192.0.2.{{ var.rack }}"}},
	})
	c.approve("var")
	c.await("var", "Progressing ConfigurationProgressing")
	c.awaitProbe(v1.Probe{Type: v1.ProbePing, Target: "192.0.2.7"})
	c.finish(v1.TransactionCommitted, false, "")
	c.await("var", "Available SuccessfullyConfigured")
	first := c.enactment("var").Status
	if got := string(first.DesiredState.Raw); got != `{"interfaces":[{"mtu":1400,"name":"rack7"}]}` {
		c.Errorf("rendered %s", got)
	}
	since := time.Now()
	c.annotate(map[string]string{"shelf": "1"}, map[string]string{"example.com/other": "x"})
	c.settle()
	c.expectNone(since)

	c.annotate(nil, map[string]string{"example.com/mtu": "1450"})
	c.await("var", "Pending")
	second := c.enactment("var").Status
	if second.Hash == first.Hash || second.PolicyGeneration != first.PolicyGeneration || second.Variables["mtu"] != "1450" {
		c.Errorf("hash %s of generation %d, variables %v", second.Hash, second.PolicyGeneration, second.Variables)
	}
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		e := c.enactment("var")
		before := e.DeepCopy()
		e.Spec.ApprovedHash = second.Hash
		return c.api.Patch(ctx, e, client.MergeFrom(before))
	})
	c.await("var", "Progressing")
	c.finish(v1.TransactionCommitted, false, "")
	c.await("var", "Available")

	c.annotate(map[string]string{"rack": ""}, nil)
	c.await("var", `Failing FailedToConfigure: spec.variables[rack]: node node1 has no label rack, and there is no default`)
	c.annotate(map[string]string{"rack": "7"}, nil)
	c.await("var", "Available")
}

// match: one that selects nothing is no failure, and is looked at again with
// each report until it selects something; then reports do not matter.
func match(c *cluster) {
	c.report(`{"name":"eth9","type":"ethernet","state":"up"}`)
	c.create("match", v1.NodeNetworkConfigurationPolicySpec{
		Match:        []v1.InterfaceRule{{Name: "eth[12]"}},
		DesiredState: v1.NewState([]byte(`{"interfaces":[{"mtu":1400}]}`)),
	})
	c.approve("match")
	c.finish(v1.TransactionCommitted, false, "")
	c.await("match", "Available SuccessfullyConfigured: successfully reconciled: no interface of this node matches spec.match")
	if got := string(c.enactment("match").Status.DesiredState.Raw); got != `{}` {
		c.Errorf("rendered %s", got)
	}

	c.report(`{"name":"eth1","type":"ethernet","state":"up"},{"name":"eth2","type":"ethernet","state":"up"}`)
	c.await("match", "Pending")
	e := c.enactment("match")
	if got := strings.Join(e.Status.MatchedInterfaces, " "); got != "eth1 eth2" {
		c.Errorf("matched %q", got)
	}
	before := e.DeepCopy()
	e.Spec.ApprovedHash = e.Status.Hash
	c.must(c.api.Patch(c.Context(), e, client.MergeFrom(before)))
	c.await("match", "Progressing")
	c.finish(v1.TransactionCommitted, false, "")
	c.await("match", "Available SuccessfullyConfigured: successfully reconciled")

	since := time.Now()
	c.report(`{"name":"eth1","type":"ethernet","state":"up"}`)
	c.settle()
	c.expectNone(since)
}

// neighbours: autoConfig waits for every matched interface's neighbour, is
// resolved then, and stays.
func neighbours(c *cluster) {
	c.create("auto", v1.NodeNetworkConfigurationPolicySpec{
		Match:      []v1.InterfaceRule{{Name: "eth[34]"}},
		AutoConfig: &v1.AutoConfig{Bonding: &v1.AutoBonding{}, VLAN: &v1.AutoVLAN{}},
	})
	c.report(lldpOf3 + `,{"name":"eth4","type":"ethernet","state":"up"}`)
	c.await("auto", "Pending MaxUnavailableLimitReached: Waiting for LLDP neighbours of eth4")
	c.report(lldpOf3 + "," + lldpOf4)
	c.approve("auto")
	c.await("auto", "Progressing")
	const want = `{"interfaces":[{"link-aggregation":{"mode":"active-backup","port":["eth3","eth4"]},"name":"bond0","state":"up","type":"bond"},` +
		`{"name":"bond0.100","state":"up","type":"vlan","vlan":{"base-iface":"bond0","id":100}}]}`
	if got := string(c.enactment("auto").Status.DesiredState.Raw); got != want {
		c.Errorf("rendered %s", got)
	}
	c.finish(v1.TransactionCommitted, false, "")
	c.await("auto", "Available")
	since := time.Now()
	c.report(lldpOf3)
	c.settle()
	c.expectNone(since)
}

func protected(c *cluster) {
	c.apply("take", `{"interfaces":[{"name":"br7","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"cali123"}]}}]}`, nil)
	c.await("take", `Failing FailedToConfigure: interfaces[br7] takes the port cali123 of another owner (protected pattern "cali*")`)
	c.must(c.api.Delete(c.Context(), &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "take"}}))
	c.gone("take")
}

func commands(c *cluster) {
	c.apply("script", `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","dispatch":{"post-activation":"reboot"}}]}`, nil)
	c.await("script", "Failing FailedToConfigure: interfaces[eth1].dispatch is refused: the node would run it as root")
	c.must(c.api.Delete(c.Context(), &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "script"}}))
	c.gone("script")
}

func (c *cluster) create(name string, spec v1.NodeNetworkConfigurationPolicySpec) {
	c.must(c.api.Create(c.Context(), &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}))
}

// annotate sets labels and annotations of the node; an empty value takes a
// label away.
func (c *cluster) annotate(labels, annotations map[string]string) {
	node := &corev1.Node{}
	c.mustGet(nodeName, node)
	before := node.DeepCopy()
	for key, value := range labels {
		node.Labels[key] = value
		if value == "" {
			delete(node.Labels, key)
		}
	}
	for key, value := range annotations {
		metav1.SetMetaDataAnnotation(&node.ObjectMeta, key, value)
	}
	c.must(c.api.Patch(c.Context(), node, client.MergeFrom(before)))
}

// report plays the state handler's report of some interfaces.
func (c *cluster) report(interfaces string) {
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		nns := c.state()
		nns.Status.CurrentState = v1.NewState([]byte(fmt.Sprintf(`{"interfaces":[%s]}`, interfaces)))
		return c.api.Status().Update(ctx, nns)
	})
}
