package rollout

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestADeletedNodeConcernsPoliciesThatDoNotSelectItAnyMore(t *testing.T) {
	s := newStage(t, 1, on{name: "a"})
	policy := &v1.NodeNetworkConfigurationPolicy{}
	if err := s.api.Get(t.Context(), client.ObjectKey{Name: "p"}, policy); err != nil {
		t.Fatal(err)
	}
	policy.Spec.NodeSelector = map[string]string{"example.org/gone": ""}
	if err := s.api.Update(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	turns := s.reconciler.turnsOfNodes()

	turns.Update(t.Context(), event.UpdateEvent{ObjectOld: node, ObjectNew: node}, queue)
	if queue.Len() != 0 {
		t.Error("a node that is not selected asks for a turn")
	}
	turns.Delete(t.Context(), event.DeleteEvent{Object: node}, queue)
	if queue.Len() != 1 {
		t.Fatalf("its deletion asks for %d turns, want 1", queue.Len())
	}
	if err := s.api.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	s.reconcile()
	if err := s.api.Get(t.Context(), client.ObjectKey{Name: "a.p"}, &v1.NodeNetworkConfigurationEnactment{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("its enactment: %v, want that it is gone", err)
	}
}
