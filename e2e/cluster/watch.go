//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// True is the condition among these that is True, the first one if several are;
// empty if none is.
func True(conditions []v1.Condition) v1.Condition {
	for _, c := range conditions {
		if c.Status == metav1.ConditionTrue {
			return c
		}
	}
	return v1.Condition{}
}

// Has says whether a condition of that type is True.
func Has(conditions []v1.Condition, kind v1.ConditionType) bool {
	for _, c := range conditions {
		if c.Type == kind && c.Status == metav1.ConditionTrue {
			return true
		}
	}
	return false
}

// Until calls see with each version of each object of a list's kind that the
// options select, those there already first, until it says done or fails. What
// is deleted is not told.
func Until[T client.Object](ctx context.Context, c *Cluster, list client.ObjectList, see func(T) (done bool, err error), opts ...client.ListOption) error {
	w, err := c.Client.Watch(ctx, list, opts...)
	if err != nil {
		return fmt.Errorf("watching: %w", err)
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, open := <-w.ResultChan():
			if !open {
				return errors.Join(errors.New("the API server ended the watch"), ctx.Err())
			}
			object, ok := event.Object.(T)
			if !ok || (event.Type != watch.Added && event.Type != watch.Modified) {
				continue
			}
			if done, err := see(object); done || err != nil {
				return err
			}
		}
	}
}

// AwaitReported waits until every node's network is reported.
func (c *Cluster) AwaitReported(ctx context.Context) error {
	waiting := map[string]bool{}
	for _, n := range c.Nodes() {
		waiting[n.Name] = true
	}
	return Until(ctx, c, &v1.NodeNetworkStateList{}, func(nns *v1.NodeNetworkState) (bool, error) {
		if Has(nns.Status.Conditions, v1.StateAvailable) {
			delete(waiting, nns.Name)
		}
		return len(waiting) == 0, nil
	})
}
