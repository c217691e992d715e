package rollout

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestEnactmentsOfAPolicyThatThereIsNot(t *testing.T) {
	for sentence, tt := range map[string]struct {
		policy   string
		approved int64
		age      time.Duration
		stays    bool
		again    time.Duration
	}{
		"one that was never granted goes":                        {policy: "q", age: time.Hour},
		"its handler gets the time to delete it":                 {policy: "q", age: 20 * time.Second, stays: true, again: 40 * time.Second},
		"by a clock that is behind it waits no longer":           {policy: "q", age: -time.Hour, stays: true, again: ghostAge},
		"what its node may have to take back stays":              {policy: "q", age: time.Hour, approved: 1, stays: true},
		"one of a policy that the cache does not show yet stays": {policy: "late", age: time.Hour, stays: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t, 1, on{name: "a"})
			ghost := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
				Name: "a." + tt.policy, CreationTimestamp: metav1.NewTime(s.clock.Now().Add(-tt.age)),
				Labels: map[string]string{v1.EnactmentPolicyLabel: tt.policy, v1.EnactmentNodeLabel: "a"},
			}}
			ghost.Spec.ApprovedGeneration = tt.approved
			if err := s.api.Create(t.Context(), ghost); err != nil {
				t.Fatal(err)
			}
			s.reconciler.live = knows{s.api, "late"}
			result, err := s.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: tt.policy}})
			if err != nil || result.RequeueAfter != tt.again {
				t.Errorf("again after %s, want %s; error %v", result.RequeueAfter, tt.again, err)
			}
			if err := s.api.Get(t.Context(), client.ObjectKeyFromObject(ghost), ghost); (err == nil) != tt.stays {
				t.Errorf("stays: %t, want %t", err == nil, tt.stays)
			}
		})
	}
}

// knows is an API server that has a policy which the cache does not show.
type knows struct {
	client.Reader
	policy string
}

func (k knows) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if key.Name == k.policy {
		return nil
	}
	return k.Reader.Get(ctx, key, object, options...)
}
