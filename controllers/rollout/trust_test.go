package rollout

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

const madeUp = 1 << 40

func TestAMadeUpGenerationIsToldAndTheRolloutGoesOn(t *testing.T) {
	s := newStage(t, 1, on{name: "a"}, on{name: "z", reported: madeUp})
	writes, _ := s.reconcile()
	if len(writes) == 0 || writes[0] != `a.p {"spec":{"approvedGeneration":3}}` {
		t.Errorf("writes %q", writes)
	}
	told := <-s.reconciler.events.(*events.FakeRecorder).Events
	if !strings.Contains(told, "EnactmentIgnored enactment z.p tells of a newer generation than there is, 3") {
		t.Error(told)
	}
}

func TestAnEnactmentThatCannotBeWrittenKeepsNobodyWaiting(t *testing.T) {
	s := newStage(t, 2, on{name: "a"}, on{name: "b"}, on{name: "c"})
	s.refused = map[string]bool{"a.p": true}
	_, err := s.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "p"}})
	if err == nil || !strings.Contains(err.Error(), "writing the spec of enactment a.p: ") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{`b.p {"spec":{"approvedGeneration":3}}`, "p status"}, s.writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestAnAPIServerThatTakesNothingIsNotAskedForEveryNode(t *testing.T) {
	var nodes []on
	refused := map[string]bool{}
	for i := range 3 * mostUnwritten {
		nodes = append(nodes, on{name: fmt.Sprint("n", i)})
		refused[fmt.Sprintf("n%d.p", i)] = true
	}
	s := newStage(t, int32(len(nodes)), nodes...)
	s.refused = refused
	_, err := s.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "p"}})
	if asked := strings.Count(fmt.Sprint(err), "writing the spec of enactment"); asked != mostUnwritten {
		t.Errorf("%d enactments were tried, want %d: %v", asked, mostUnwritten, err)
	}
}

func TestACacheThatIsLateIsWaitedFor(t *testing.T) {
	s := newStage(t, 1, on{name: "a"}, on{name: "z", reported: generation + 1})
	policy := &v1.NodeNetworkConfigurationPolicy{}
	if err := s.api.Get(t.Context(), client.ObjectKey{Name: "p"}, policy); err != nil {
		t.Fatal(err)
	}
	policy.Generation, policy.ResourceVersion = generation+1, ""
	enactments := &v1.NodeNetworkConfigurationEnactmentList{}
	if err := s.api.List(t.Context(), enactments); err != nil {
		t.Fatal(err)
	}
	s.reconciler.live = fake.NewClientBuilder().WithScheme(s.api.Scheme()).WithObjects(policy).WithLists(enactments).Build()
	s.expect(nil, 0)
}

func TestAnEnactmentThatAnotherNodeOwnsIsIgnored(t *testing.T) {
	s := newStage(t, 1, on{name: "a", approved: generation, reported: generation, shows: v1.EnactmentFailing}, on{name: "b"})
	forged := &v1.NodeNetworkConfigurationEnactment{}
	if err := s.api.Get(t.Context(), client.ObjectKey{Name: "a.p"}, forged); err != nil {
		t.Fatal(err)
	}
	forged.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "evil", UID: "evil"}}
	if err := s.api.Update(t.Context(), forged); err != nil {
		t.Fatal(err)
	}
	writes, _ := s.reconcile()
	if len(writes) == 0 || writes[0] != `b.p {"spec":{"approvedGeneration":3}}` {
		t.Errorf("a failure that another node made up stopped the rollout: writes %q", writes)
	}
}

// A status that seems to be told already may be one that a predecessor has written over.
func TestAPolicyThatTheCacheIsBehindOfIsWaitedFor(t *testing.T) {
	s := newStage(t, 1, on{name: "a"})
	policy := &v1.NodeNetworkConfigurationPolicy{}
	if err := s.api.Get(t.Context(), client.ObjectKey{Name: "p"}, policy); err != nil {
		t.Fatal(err)
	}
	behind := policy.ResourceVersion
	policy.Status.ObservedGeneration = generation
	if err := s.api.Status().Update(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	s.reconciler.client = cacheBehind{s.api, behind}
	s.expect(nil, staleRetry)
	s.reconciler.client = s.api
	s.expect([]string{`a.p {"spec":{"approvedGeneration":3}}`, "p status"}, 0)
}

// cacheBehind shows policies in an older version.
type cacheBehind struct {
	client.Client
	version string
}

func (c cacheBehind) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := c.Client.Get(ctx, key, object, options...)
	if policy, is := object.(*v1.NodeNetworkConfigurationPolicy); is {
		policy.ResourceVersion = c.version
	}
	return err
}
