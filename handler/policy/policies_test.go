package policy_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

func failedEdit(c *cluster) {
	before := c.state().Spec.Sources
	c.edit("br", `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","mtu":68}]}`)
	c.await("br", "Pending MaxUnavailableLimitReached")
	c.approve("br")
	c.await("br", "Progressing ConfigurationProgressing")
	c.finish(v1.TransactionRolledBack, true, "probing for 2m0s: api-server: no route to host")
	c.await("br", "Failing FailedToConfigure: probing for 2m0s: api-server: no route to host")
	// The outcome is recorded first, then the spec goes back.
	controlplanetest.Eventually(c.T, func(context.Context) error {
		if after := c.state().Spec.Sources; !reflect.DeepEqual(before, after) {
			return fmt.Errorf("sources %v, want %v as before", after, before)
		}
		return nil
	})
	c.finish(v1.TransactionCommitted, false, "")
	c.settle()
	c.await("br", "Failing FailedToConfigure: probing for 2m0s: api-server: no route to host")
	c.events.expect(c.T, "br Warning ReconcileFailed", "br Normal RolledBack")
}

func conflict(c *cluster) {
	c.apply("mtu", `{"interfaces":[{"name":"br1","type":"bond"}]}`, nil)
	c.await("mtu", `Failing FailedToConfigure: policy mtu conflicts with policy br at interfaces[br1].type: "bond" here, "linux-bridge" there`)
	c.edit("mtu", `{"interfaces":[{"name":"eth2","mtu":1400}]}`)
	c.approve("mtu")
	c.await("mtu", "Progressing ConfigurationProgressing")
	c.finish(v1.TransactionCommitted, false, "")
	c.await("mtu", "Available SuccessfullyConfigured")
}

func malformed(c *cluster) {
	c.apply("bad", `{"interfaces":[{"name":"eth3","mtuu":1400}]}`, nil)
	c.await("bad", "Failing FailedToConfigure: reading spec.desiredState: ")
	if message := standing(c.enactment("bad")); !strings.Contains(message, "mtuu") {
		c.Errorf("the key is not named: %s", message)
	}
	c.must(c.api.Delete(c.Context(), &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "bad"}}))
	c.gone("bad")
}

// takenName: node1.x with policy p, and node1 with policy x.p.
func takenName(c *cluster) {
	node := &corev1.Node{}
	c.mustGet(nodeName, node)
	other := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
		Name: v1.EnactmentName("node1.x", "p"), Labels: map[string]string{v1.EnactmentNodeLabel: "node1.x", v1.EnactmentPolicyLabel: "p"},
	}}
	c.must(c.api.Create(c.Context(), other))
	c.apply("x.p", `{"interfaces":[{"name":"eth3","mtuu":1400}]}`, nil)
	ours := &v1.NodeNetworkConfigurationEnactment{}
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		if err := c.api.Get(ctx, client.ObjectKey{Name: "x.p-" + string(node.UID)}, ours); err != nil {
			return err
		}
		if says := standing(ours); !strings.HasPrefix(says, "Failing FailedToConfigure: reading spec.desiredState: ") {
			return errors.New(says)
		}
		return nil
	})
	if ours.Node() != nodeName || ours.Policy() != "x.p" {
		c.Errorf("%s is about policy %s on node %s", ours.Name, ours.Policy(), ours.Node())
	}
	c.must(c.api.Delete(c.Context(), &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "x.p"}}))
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		if err := c.api.Get(ctx, client.ObjectKeyFromObject(ours), ours); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the enactment is still there (%v)", err)
		}
		return nil
	})
	now := &v1.NodeNetworkConfigurationEnactment{}
	c.mustGet(other.Name, now)
	if now.ResourceVersion != other.ResourceVersion {
		c.Errorf("another node's enactment was written: %+v", now.Status)
	}
	c.must(c.api.Delete(c.Context(), other))
}

func superseded(c *cluster) {
	c.edit("mtu", `{"interfaces":[{"name":"eth2","mtu":1300}]}`)
	c.approve("mtu")
	c.await("mtu", "Progressing ConfigurationProgressing")
	c.edit("mtu", `{"interfaces":[{"name":"eth2","mtu":1350}]}`)
	controlplanetest.Eventually(c.T, func(context.Context) error {
		if got := string(c.state().Spec.DesiredState.Raw); strings.Contains(got, "1300") {
			return fmt.Errorf("the node's spec still is that of the older generation: %s", got)
		}
		return nil
	})
	// The older generation is not over yet, so the node counts as changing.
	c.await("mtu", "Progressing ConfigurationProgressing")
	c.finish(v1.TransactionCommitted, false, "")
	c.await("mtu", "Pending MaxUnavailableLimitReached")
	c.approve("mtu")
	c.await("mtu", "Progressing ConfigurationProgressing")
	c.finish(v1.TransactionCommitted, false, "")
	c.await("mtu", "Available SuccessfullyConfigured")
	if got := string(c.state().Spec.DesiredState.Raw); !strings.Contains(got, "1350") {
		c.Errorf("the node's spec is %s", got)
	}
}

// takesKeysAway: as an empty column it would take away every key that the node has.
func takesKeysAway(c *cluster) {
	const asks = `"ovs-db":{"external_ids":{"old":null},"other_config":{"a":"b","c":null}}`
	c.apply("keys", `{`+asks+`}`, nil)
	c.await("keys", "Pending MaxUnavailableLimitReached")
	c.approve("keys")
	controlplanetest.Eventually(c.T, func(context.Context) error {
		if got := string(c.state().Spec.DesiredState.Raw); !strings.Contains(got, asks) {
			return fmt.Errorf("the node's spec is %s", got)
		}
		return nil
	})
	c.finish(v1.TransactionCommitted, false, "")
	c.await("keys", "Available SuccessfullyConfigured")
	status := c.enactment("keys").Status
	for what, got := range map[string]v1.State{"desired": status.DesiredState, "committed": status.Committed.DesiredState} {
		if string(got.Raw) != `{`+asks+`}` {
			c.Errorf("%s in the enactment: %s", what, got.Raw)
		}
	}
	c.must(c.api.Delete(c.Context(), &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "keys"}}))
	controlplanetest.Eventually(c.T, func(context.Context) error {
		if got := string(c.state().Spec.DesiredState.Raw); strings.Contains(got, "ovs-db") {
			return fmt.Errorf("the node's spec still is %s", got)
		}
		return nil
	})
	c.finish(v1.TransactionCommitted, false, "")
	c.gone("keys")
}

func deselected(c *cluster) {
	p := &v1.NodeNetworkConfigurationPolicy{}
	c.mustGet("mtu", p)
	p.Spec.NodeSelector = map[string]string{"rack": "nowhere"}
	c.must(c.api.Update(c.Context(), p))
	controlplanetest.Eventually(c.T, func(context.Context) error {
		for _, s := range c.state().Spec.Sources {
			if s.Policy == "mtu" {
				return errors.New("policy mtu is still in the spec")
			}
		}
		return nil
	})
	c.settle()
	c.enactment("mtu")
	c.finish(v1.TransactionCommitted, false, "")
	c.gone("mtu")
}

func lostEnactment(c *cluster) {
	before := c.state()
	old := c.enactment("br")
	c.must(c.api.Delete(c.Context(), old))
	c.await("capture", "Available SuccessfullyConfigured")
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		e := &v1.NodeNetworkConfigurationEnactment{}
		if err := c.api.Get(ctx, client.ObjectKeyFromObject(old), e); err != nil {
			return err
		}
		if e.UID == old.UID || len(e.Status.Conditions) < 5 {
			return fmt.Errorf("the enactment is %s", standing(e))
		}
		return nil
	})
	c.settle()
	if after := c.state(); len(after.Spec.Sources) == 0 || len(before.Spec.Sources) == 0 {
		c.Errorf("sources %v, were %v", after.Spec.Sources, before.Spec.Sources)
	}
}
