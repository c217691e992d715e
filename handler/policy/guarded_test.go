package policy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

const plannedState = `{"interfaces":[{"name":"eth5","mtu":9000}]}`

// planned: a plan is made and made anew with the reports, and writes nothing
// else; then a pinned plan is applied, and no other.
func planned(c *cluster) {
	c.events.forget()
	c.report(`{"name":"eth5","type":"ethernet","state":"up","mtu":1500}`)
	generation := c.state().Generation
	c.create("plan", v1.NodeNetworkConfigurationPolicySpec{Mode: "Plan", DesiredState: v1.NewState([]byte(plannedState))})
	c.await("plan", "Planned Planned: planned, nothing is applied: Reapply (eth5: settings change)")
	plan := c.enactment("plan").Status.Plan
	if plan == nil || len(plan.Interfaces) != 1 || strings.Join(plan.Interfaces[0].Changes, ";") != "mtu: 1500 -> 9000" {
		c.Fatalf("plan %+v", plan)
	}
	since := time.Now()
	c.report(`{"name":"eth5","type":"ethernet","state":"up","mtu":1500},{"name":"eth6","type":"ethernet","state":"up"}`)
	c.settle()
	c.expectNone(since)
	c.report(`{"name":"eth5","type":"ethernet","state":"up","mtu":1400}`)
	controlplanetest.Eventually(c.T, func(context.Context) error {
		if again := c.enactment("plan").Status.Plan; again.Hash == plan.Hash {
			return fmt.Errorf("the plan is still %s", again.Hash)
		}
		return nil
	})
	if now := c.state().Generation; now != generation {
		c.Errorf("the node's spec went from generation %d to %d", generation, now)
	}

	c.pin("0123456789abcdef")
	c.approve("plan")
	fresh := c.enactment("plan").Status.Plan.Hash
	c.await("plan", "Failing FailedToConfigure: the plan of this node, "+fresh+", is not one of spec.planHashes (0123456789abcdef)")
	c.pin(fresh)
	c.approve("plan")
	c.await("plan", "Progressing")
	controlplanetest.Eventually(c.T, func(context.Context) error { // A report before the spec is another plan.
		if c.state().Generation == generation {
			return errors.New("the spec is not written yet")
		}
		return nil
	})
	c.report(`{"name":"eth5","type":"ethernet","state":"up","mtu":9000}`)
	c.finish(v1.TransactionCommitted, false, "")
	c.await("plan", "Available")
	if got := c.enactment("plan").Status.Plan; got == nil || got.Hash != fresh {
		c.Errorf("the plan that was applied is shown as %+v", got)
	}
	c.leave("plan")
	c.events.expect(c.T, "plan Warning ReconcileFailed", "plan Normal Configured")
}

func (c *cluster) pin(hash string) {
	p := &v1.NodeNetworkConfigurationPolicy{}
	c.mustGet("plan", p)
	p.Spec.Mode, p.Spec.PlanHashes = "Apply", []string{hash}
	c.must(c.api.Update(c.Context(), p))
}

// leave deletes a policy and waits until the node is without it.
func (c *cluster) leave(name string) {
	c.must(c.api.Delete(c.Context(), &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	c.finish(v1.TransactionCommitted, false, "")
	c.gone(name)
}

// person confirms on the policy, which reaches the node as a confirmation of
// the spec that runs there.
func person(c *cluster) {
	c.create("ask", v1.NodeNetworkConfigurationPolicySpec{
		DesiredState: v1.NewState([]byte(`{"interfaces":[{"name":"eth5","mtu":1400}]}`)),
		Probes:       []v1.Probe{{Type: v1.ProbeConfirm}},
	})
	c.approve("ask")
	c.await("ask", "Progressing ConfigurationProgressing: Applying desired state")
	c.awaitProbe(v1.Probe{Type: v1.ProbeConfirm})
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		nns := c.state()
		nns.Status.Transaction = &v1.Transaction{Generation: nns.Generation, Phase: "Probing", Message: "waiting for confirmation until 10:00:00Z"}
		return c.api.Status().Update(ctx, nns)
	})
	c.await("ask", "Progressing ConfigurationProgressing: Applying desired state: waiting for confirmation until 10:00:00Z")

	policy := &v1.NodeNetworkConfigurationPolicy{}
	c.mustGet("ask", policy)
	before := policy.DeepCopy()
	metav1.SetMetaDataAnnotation(&policy.ObjectMeta, v1.ConfirmAnnotation, "1")
	c.must(c.api.Patch(c.Context(), policy, client.MergeFrom(before)))
	controlplanetest.Eventually(c.T, func(context.Context) error {
		nns := c.state()
		if got := nns.Annotations[v1.ConfirmAnnotation]; got != fmt.Sprint(nns.Generation) {
			return fmt.Errorf("confirmed %q of generation %d", got, nns.Generation)
		}
		return nil
	})
	c.finish(v1.TransactionCommitted, false, "")
	c.await("ask", "Available")
	c.leave("ask")
	c.events.expect(c.T, "node1 Normal ChangeWaiting", "node1 Normal ChangeEnded", "ask Normal Configured")
}

// awaitProbe waits until the node's spec has this one probe: an enactment says
// Progressing just before.
func (c *cluster) awaitProbe(want v1.Probe) {
	c.Helper()
	controlplanetest.Eventually(c.T, func(context.Context) error {
		if got := c.state().Spec.Probes; len(got) != 1 || got[0] != want {
			return fmt.Errorf("probes %v", got)
		}
		return nil
	})
}

// byHand: who edits the desired state that policies own is overruled and named.
func byHand(c *cluster) {
	c.apply("own", `{"interfaces":[{"name":"eth5","mtu":1400}]}`, nil)
	c.approve("own")
	c.finish(v1.TransactionCommitted, false, "")
	c.await("own", "Available")
	c.events.expect(c.T, "own Normal Configured")
	want := c.state().Spec.DesiredState
	nns := c.state()
	before := nns.DeepCopy()
	nns.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[{"name":"eth5","mtu":1280}]}`))
	c.must(c.api.Patch(c.Context(), nns, client.MergeFrom(before), client.FieldOwner("kubectl-edit")))
	controlplanetest.Eventually(c.T, func(context.Context) error {
		if got := c.state(); got.Generation == nns.Generation || string(got.Spec.DesiredState.Raw) != string(want.Raw) {
			return fmt.Errorf("generation %d: %s", got.Generation, got.Spec.DesiredState.Raw)
		}
		return nil
	})
	c.finish(v1.TransactionCommitted, false, "")
	c.settle()
	message := c.events.message("Overruled")
	if !strings.HasPrefix(message, "spec.desiredState was written by kubectl-edit and is replaced") || !strings.Contains(message, "own") {
		c.Errorf("told: %q", message)
	}
	c.events.expect(c.T, nodeName+" Warning Overruled")
}

// drifted: what the state handler finds is told on the policy, once.
func drifted(c *cluster) {
	tell := func(drift ...v1.Drift) {
		controlplanetest.Eventually(c.T, func(ctx context.Context) error {
			nns := c.state()
			nns.Status.Drift = drift
			return c.api.Status().Update(ctx, nns)
		})
		c.settle()
	}
	leaf := v1.Drift{Path: "interfaces[eth5].mtu", Expected: "1400", Found: "1500", Policy: "own", Action: "Correcting"}
	tell(leaf)
	c.events.expect(c.T, "own Warning DriftFound")
	leaf.Since = metav1.NewTime(time.Unix(1000, 0))
	tell(leaf)
	c.events.expect(c.T)
	tell()
	c.events.expect(c.T, "own Normal DriftCorrected")
	c.leave("own")
}
