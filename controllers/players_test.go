package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// players stand in for the policy handlers of all nodes: they make the
// enactments of the nodes that a policy selects and write their status, one
// small step at a time, as the specs allow.
type players struct {
	api client.Client

	mu sync.Mutex
	// fails by policy: whether it fails on the node.
	fails map[string]func(node string, generation int64) bool
	// open is the largest number of enactments seen Progressing, by policy.
	open map[string]int
}

func startPlayers(ctx context.Context, t *testing.T, api client.Client) *players {
	p := &players{
		api: api, fails: map[string]func(string, int64) bool{}, open: map[string]int{},
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			if err := p.round(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("playing the policy handlers: %v", err)
				return true, nil
			}
			return false, nil
		})
	}()
	t.Cleanup(func() { <-done })
	return p
}

func (p *players) failWhere(policy string, fails func(node string, generation int64) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fails[policy] = fails
}

func (p *players) mostOpen(policy string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open[policy]
}

func (p *players) round(ctx context.Context) error {
	var (
		policies   v1.NodeNetworkConfigurationPolicyList
		nodes      corev1.NodeList
		enactments v1.NodeNetworkConfigurationEnactmentList
	)
	if err := errors.Join(p.api.List(ctx, &policies), p.api.List(ctx, &nodes), p.api.List(ctx, &enactments)); err != nil {
		return err
	}
	byName := map[string]*v1.NodeNetworkConfigurationEnactment{}
	for i := range enactments.Items {
		byName[enactments.Items[i].Name] = &enactments.Items[i]
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range policies.Items {
		policy := &policies.Items[i]
		open := 0
		for j := range nodes.Items {
			enactment := byName[v1.EnactmentName(nodes.Items[j].Name, policy.Name)]
			if err := p.turn(ctx, policy, &nodes.Items[j], enactment); err != nil && !goneOrNewer(err) {
				return err
			}
			if enactment != nil && shows(enactment, v1.EnactmentProgressing) {
				open++
			}
		}
		p.open[policy.Name] = max(p.open[policy.Name], open)
	}
	return nil
}

func goneOrNewer(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsInvalid(err)
}

func (p *players) turn(ctx context.Context, policy *v1.NodeNetworkConfigurationPolicy, node *corev1.Node,
	enactment *v1.NodeNetworkConfigurationEnactment,
) error {
	selects, err := desired.Selects(policy, node)
	switch {
	case err != nil || !policy.DeletionTimestamp.IsZero():
		return err
	case !selects && enactment != nil:
		return p.api.Delete(ctx, enactment)
	case !selects:
		return nil
	case enactment == nil:
		state := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: node.Name}}
		if err := p.api.Create(ctx, state); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		return p.api.Create(ctx, newEnactment(policy, node))
	}
	generation := policy.Generation
	current := enactment.Status.PolicyGeneration == generation
	approved := enactment.Spec.ApprovedGeneration == generation
	switch {
	case current && (shows(enactment, v1.EnactmentAvailable) || shows(enactment, v1.EnactmentFailing)):
		return nil
	case approved && current && shows(enactment, v1.EnactmentProgressing):
		if fails := p.fails[policy.Name]; fails != nil && fails(node.Name, generation) {
			return p.report(ctx, enactment, generation, v1.EnactmentFailing)
		}
		return p.report(ctx, enactment, generation, v1.EnactmentAvailable)
	case approved:
		return p.report(ctx, enactment, generation, v1.EnactmentProgressing)
	case enactment.Spec.AbortedGeneration == generation:
		if current && shows(enactment, v1.EnactmentAborted) {
			return nil
		}
		return p.report(ctx, enactment, generation, v1.EnactmentAborted)
	case current && shows(enactment, v1.EnactmentPending):
		return nil
	}
	return p.report(ctx, enactment, generation, v1.EnactmentPending)
}

func newEnactment(policy *v1.NodeNetworkConfigurationPolicy, node *corev1.Node) *v1.NodeNetworkConfigurationEnactment {
	return &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
		Name:   v1.EnactmentName(node.Name, policy.Name),
		Labels: map[string]string{v1.EnactmentPolicyLabel: policy.Name, v1.EnactmentNodeLabel: node.Name},
		OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID},
			{APIVersion: v1.GroupVersion.String(), Kind: "NodeNetworkConfigurationPolicy", Name: policy.Name, UID: policy.UID},
		},
	}}
}

func (p *players) report(ctx context.Context, enactment *v1.NodeNetworkConfigurationEnactment, generation int64, is v1.ConditionType) error {
	enactment.Status.PolicyGeneration = generation
	enactment.Status.Conditions = nil
	for _, conditionType := range []v1.ConditionType{
		v1.EnactmentFailing, v1.EnactmentAvailable, v1.EnactmentProgressing, v1.EnactmentPending, v1.EnactmentAborted,
	} {
		status := metav1.ConditionFalse
		if conditionType == is {
			status = metav1.ConditionTrue
		}
		enactment.Status.Conditions = append(enactment.Status.Conditions, v1.Condition{
			Type: conditionType, Status: status, LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
		})
	}
	return p.api.Status().Update(ctx, enactment)
}

func shows(enactment *v1.NodeNetworkConfigurationEnactment, conditionType v1.ConditionType) bool {
	for _, condition := range enactment.Status.Conditions {
		if condition.Type == conditionType {
			return condition.Status == metav1.ConditionTrue
		}
	}
	return false
}

// line is a policy's status in one line, for waiting and for messages.
func line(policy *v1.NodeNetworkConfigurationPolicy) string {
	for _, c := range policy.Status.Conditions {
		if c.Status == metav1.ConditionTrue {
			return fmt.Sprintf("generation %d %s %s: %s", policy.Status.ObservedGeneration, c.Type, c.Reason, c.Message)
		}
	}
	return "no condition is True"
}
