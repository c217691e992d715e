package policy_test

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

func (c *cluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) mustGet(name string, object client.Object) {
	c.Helper()
	c.must(c.api.Get(c.Context(), client.ObjectKey{Name: name}, object))
}

func (c *cluster) state() *v1.NodeNetworkState {
	nns := &v1.NodeNetworkState{}
	c.mustGet(nodeName, nns)
	return nns
}

func (c *cluster) enactment(name string) *v1.NodeNetworkConfigurationEnactment {
	c.Helper()
	e := &v1.NodeNetworkConfigurationEnactment{}
	c.mustGet(v1.EnactmentName(nodeName, name), e)
	return e
}

func (c *cluster) apply(name, state string, selector map[string]string) {
	p := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.NodeSelector, p.Spec.DesiredState = selector, v1.NewState([]byte(state))
	c.must(c.api.Create(c.Context(), p))
}

func (c *cluster) edit(name, state string) {
	p := &v1.NodeNetworkConfigurationPolicy{}
	c.mustGet(name, p)
	p.Spec.DesiredState = v1.NewState([]byte(state))
	c.must(c.api.Update(c.Context(), p))
}

// approve plays the rollout controller.
func (c *cluster) approve(name string) {
	p := &v1.NodeNetworkConfigurationPolicy{}
	c.mustGet(name, p)
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		e := &v1.NodeNetworkConfigurationEnactment{}
		if err := c.api.Get(ctx, client.ObjectKey{Name: v1.EnactmentName(nodeName, name)}, e); err != nil {
			return err
		}
		before := e.DeepCopy()
		e.Spec.ApprovedGeneration = p.Generation
		return c.api.Patch(ctx, e, client.MergeFrom(before))
	})
}

// finish plays the state handler, once it has something to do.
func (c *cluster) finish(result v1.TransactionResult, final bool, message string) {
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		nns := c.state()
		if nns.Status.ObservedGeneration == nns.Generation {
			return fmt.Errorf("the spec is still generation %d", nns.Generation)
		}
		nns.Status.ObservedGeneration = nns.Generation
		nns.Status.Transaction = &v1.Transaction{
			Generation: nns.Generation, Phase: "Idle", Result: result, Final: final, Message: message, GuardedBy: []string{"dns"},
		}
		if result == v1.TransactionCommitted {
			nns.Status.AppliedSources = v1.PlainSources(nns.Spec.Sources)
		}
		return c.api.Status().Update(ctx, nns)
	})
}

func standing(e *v1.NodeNetworkConfigurationEnactment) string {
	for _, condition := range e.Status.Conditions {
		if condition.Status == metav1.ConditionTrue {
			return fmt.Sprintf("%s %s: %s", condition.Type, condition.Reason, condition.Message)
		}
	}
	return "nothing"
}

func (c *cluster) await(name, want string) {
	c.Helper()
	p := &v1.NodeNetworkConfigurationPolicy{}
	c.mustGet(name, p)
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		e := &v1.NodeNetworkConfigurationEnactment{}
		if err := c.api.Get(ctx, client.ObjectKey{Name: v1.EnactmentName(nodeName, name)}, e); err != nil {
			return err
		}
		if got := standing(e); e.Status.PolicyGeneration != p.Generation || !strings.HasPrefix(got, want) {
			return fmt.Errorf("policy %s generation %d: %s, want %s", name, e.Status.PolicyGeneration, got, want)
		}
		return nil
	})
}

func (c *cluster) gone(name string) {
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		err := c.api.Get(ctx, client.ObjectKey{Name: v1.EnactmentName(nodeName, name)}, &v1.NodeNetworkConfigurationEnactment{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("the enactment is still there (%v)", err)
	})
}

// settle waits until the handler has done what there was to do: a policy that
// is created as a fence has been answered, and its traces are gone again.
func (c *cluster) settle() {
	const fence = "fence"
	c.apply(fence, `{"fence":true}`, nil)
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		return c.api.Get(ctx, client.ObjectKey{Name: v1.EnactmentName(nodeName, fence)}, &v1.NodeNetworkConfigurationEnactment{})
	})
	c.must(c.api.Delete(c.Context(), &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: fence}}))
	c.gone(fence)
}
