package main

import (
	"context"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// nodes stand in for the state handlers of all nodes, as they are in
// centralized mode: they report, and commit or fail what they are told.
type nodes struct {
	api client.Client

	mu sync.Mutex
	// fails: the policies that fail on every node.
	fails map[string]bool
	// applied counts the desired states that were enforced, by node.
	applied map[string]int
}

func startNodes(ctx context.Context, t *testing.T, api client.Client) *nodes {
	n := &nodes{api: api, fails: map[string]bool{}, applied: map[string]int{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			if err := n.round(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("playing the state handlers: %v", err)
				return true, nil
			}
			return false, nil
		})
	}()
	t.Cleanup(func() { <-done })
	return n
}

func (n *nodes) round(ctx context.Context) error {
	var list v1.NodeNetworkStateList
	if err := n.api.List(ctx, &list); err != nil {
		return err
	}
	for i := range list.Items {
		if err := n.turn(ctx, &list.Items[i]); err != nil && !goneOrNewer(err) {
			return err
		}
	}
	return nil
}

func (n *nodes) turn(ctx context.Context, nns *v1.NodeNetworkState) error {
	reported := nns.Status.BridgeVLANFiltering != nil
	if reported && nns.Status.ObservedGeneration == nns.Generation {
		return nil
	}
	status := &nns.Status
	status.CurrentState, status.BridgeVLANFiltering = v1.NewState([]byte(`{"interfaces":[]}`)), new(true)
	if len(nns.Spec.Sources) > 0 || len(status.AppliedSources) > 0 {
		status.Transaction = &v1.Transaction{
			Generation: nns.Generation, Phase: "Idle", Since: metav1.Now(), Sources: v1.PlainSources(nns.Spec.Sources),
			Result: v1.TransactionCommitted,
		}
		n.mu.Lock()
		n.applied[nns.Name]++
		for _, s := range nns.Spec.Sources {
			if n.fails[s.Policy] {
				status.Transaction.Result, status.Transaction.Final = v1.TransactionRolledBack, true
				status.Transaction.Message = "probing for 6s: api-server: no answer"
			}
		}
		n.mu.Unlock()
		if status.Transaction.Result == v1.TransactionCommitted {
			status.AppliedSources = v1.PlainSources(nns.Spec.Sources)
		}
	}
	status.ObservedGeneration = nns.Generation
	return n.api.Status().Update(ctx, nns)
}

func (n *nodes) setFails(policy string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fails[policy] = true
}

func (n *nodes) applies() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	sum := 0
	for _, count := range n.applied {
		sum += count
	}
	return sum
}

// addReported adds a node whose state handler runs.
func (c *cluster) addReported(name string, labels map[string]string) {
	c.Helper()
	c.addNode(name, labels)
	node := &corev1.Node{}
	if err := c.api.Get(c.ctx, client.ObjectKey{Name: name}, node); err != nil {
		c.Fatal(err)
	}
	c.create(&v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "Node", Name: name, UID: node.UID},
	}}})
}
