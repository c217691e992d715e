package rollout

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout/plan"
)

// noon is when nodes of these tests became what they are.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// generation is the policy's.
const generation = 3

// on is a node, which is Ready, and its enactment of policy p.
type on struct {
	name string
	// unreported: no handler has spoken there.
	unreported        bool
	approved, aborted int64
	// reported is status.policyGeneration; shows is the condition that is True.
	reported int64
	shows    v1.ConditionType
	// hash is what the reported generation comes to on the node, approvedHash what is
	// granted of it, and has is what is committed.
	hash, approvedHash string
	has                *v1.CommittedPolicy
}

func (o on) enactment() *v1.NodeNetworkConfigurationEnactment {
	e := &v1.NodeNetworkConfigurationEnactment{
		ObjectMeta: metav1.ObjectMeta{
			Name: o.name + ".p", Labels: map[string]string{v1.EnactmentPolicyLabel: "p", v1.EnactmentNodeLabel: o.name},
		},
		Spec:   v1.NodeNetworkConfigurationEnactmentSpec{ApprovedGeneration: o.approved, AbortedGeneration: o.aborted, ApprovedHash: o.approvedHash},
		Status: v1.NodeNetworkConfigurationEnactmentStatus{PolicyGeneration: o.reported, Hash: o.hash, Committed: o.has},
	}
	if o.shows != "" {
		e.Status.Conditions = []v1.Condition{{Type: o.shows, Status: metav1.ConditionTrue}}
	}
	return e
}

// configured has the generation since noon.
func configured(name string) on {
	return on{
		name: name, approved: generation, reported: generation, shows: v1.EnactmentAvailable, hash: "new",
		has: &v1.CommittedPolicy{Generation: generation, Hash: "new", Since: metav1.NewTime(noon)},
	}
}

// stage is a Reconciler with what it reads and a list of what it wrote.
type stage struct {
	*testing.T
	reconciler *Reconciler
	api        client.Client
	clock      *clocktesting.FakeClock
	writes     []string
	// refused are objects that the API server does not let be written.
	refused map[string]bool
}

func newStage(t *testing.T, limit int32, nodes ...on) *stage {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}
	objects := []client.Object{&v1.NodeNetworkConfigurationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Generation: generation},
		Spec: v1.NodeNetworkConfigurationPolicySpec{
			MaxUnavailable: new(intstr.FromInt32(limit)), DesiredState: v1.NewState([]byte(`{"hostname":{"config":"a"}}`)),
		},
	}}
	for _, node := range nodes {
		enactment := node.enactment()
		enactment.Spec.MaxUnavailable = new(intstr.FromInt32(limit)) // As it was granted before.
		objects = append(objects, enactment, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: node.name},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		})
		if !node.unreported {
			objects = append(objects, &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: node.name}})
		}
	}
	s.api = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&v1.NodeNetworkConfigurationPolicy{}, &v1.NodeNetworkConfigurationEnactment{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
				if s.refused[object.GetName()] {
					return apierrors.NewRequestEntityTooLargeError("request is too large")
				}
				data, _ := patch.Data(object)
				s.writes = append(s.writes, object.GetName()+" "+string(data))
				return c.Patch(ctx, object, patch, options...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object,
				patch client.Patch, options ...client.SubResourcePatchOption,
			) error {
				s.writes = append(s.writes, object.GetName()+" "+name)
				return c.SubResource(name).Patch(ctx, object, patch, options...)
			},
		}).Build()
	s.restart("")
	return s
}

// restart the process. It looks at pods of handlers in the namespace, if there is one.
func (s *stage) restart(handlers string) {
	s.reconciler = New(Options{
		Client: s.api, Live: s.api, Events: events.NewFakeRecorder(10), Clock: NewClock(s.clock), Grace: plan.DefaultGrace, Handlers: handlers,
	})
}

// reconcile runs once and returns the writes and when it wants to run again.
func (s *stage) reconcile() ([]string, time.Duration) {
	s.Helper()
	s.writes = nil
	result, err := s.reconciler.Reconcile(s.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "p"}})
	if err != nil {
		s.Fatal(err)
	}
	return s.writes, result.RequeueAfter
}

// TestAFirstReportAsksForATurn: a node without a NodeNetworkState is not granted
// anything, and with its first one it takes part.
func TestAFirstReportAsksForATurn(t *testing.T) {
	s := newStage(t, 1, on{name: "a", unreported: true})
	s.expect([]string{"p status"}, 0)
	state := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	if err := s.api.Create(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	if asked := s.reconciler.policiesOfState(t.Context(), state); len(asked) != 1 || asked[0].Name != "p" {
		t.Errorf("its first report asks for turns of %v", asked)
	}
	if stateChanges().Update(event.UpdateEvent{ObjectOld: state, ObjectNew: state}) {
		t.Error("each report asks for a turn")
	}
	s.clock.Step(statusPause)
	s.expect([]string{`a.p {"spec":{"approvedGeneration":3}}`, "p status"}, 0)
}

// TestTheFirstReportOfTheClusterAsksForATurnOfEveryPolicy: on the day of an installation no
// node has a handler yet, and nobody is given up for that. Once one reports, each policy has
// to come back when the others have had their time.
func TestTheFirstReportOfTheClusterAsksForATurnOfEveryPolicy(t *testing.T) {
	s := newStage(t, 1, on{name: "a", unreported: true})
	other := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "other", Labels: map[string]string{"zone": "other"}}}
	state := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	for _, object := range []client.Object{other, state} {
		if err := s.api.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	p := &v1.NodeNetworkConfigurationPolicy{}
	if err := s.api.Get(t.Context(), client.ObjectKey{Name: "p"}, p); err != nil {
		t.Fatal(err)
	}
	p.Spec.NodeSelector = map[string]string{"zone": "its own"}
	if err := s.api.Update(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if asked := s.reconciler.policiesOfState(t.Context(), state); len(asked) != 1 || asked[0].Name != "p" {
		t.Errorf("the first report asks for turns of %v", asked)
	}
	if asked := s.reconciler.policiesOfState(t.Context(), state); len(asked) != 0 {
		t.Errorf("a later report of a node that no policy selects asks for turns of %v", asked)
	}

	// The last one goes with its node.
	if err := s.api.Delete(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	s.reconciler.turnsOfStates().Delete(t.Context(), event.DeleteEvent{Object: state}, queue)
	if asked := s.reconciler.policiesOfState(t.Context(), state); len(asked) != 1 || asked[0].Name != "p" {
		t.Errorf("the first report after the last one had gone asks for turns of %v", asked)
	}
}

func (s *stage) report(node string, is v1.ConditionType) {
	s.Helper()
	e := &v1.NodeNetworkConfigurationEnactment{}
	if err := s.api.Get(s.Context(), client.ObjectKey{Name: node + ".p"}, e); err != nil {
		s.Fatal(err)
	}
	e.Status.PolicyGeneration = generation
	e.Status.Conditions = []v1.Condition{{Type: is, Status: metav1.ConditionTrue}}
	if err := s.api.Status().Update(s.Context(), e); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) expect(wantWrites []string, wantAgain time.Duration) {
	s.Helper()
	writes, again := s.reconcile()
	if diff := cmp.Diff(wantWrites, writes); diff != "" {
		s.Errorf("writes (-want +got):\n%s", diff)
	}
	if again != wantAgain {
		s.Errorf("runs again after %v, want %v", again, wantAgain)
	}
}

func TestOnlyWhatChangesIsWritten(t *testing.T) {
	s := newStage(t, 1, on{name: "a"}, on{name: "b", aborted: 2})
	s.expect([]string{`a.p {"spec":{"approvedGeneration":3}}`, "p status"}, 0)
	s.expect(nil, 0)

	s.report("a", v1.EnactmentFailing)
	s.expect([]string{`b.p {"spec":{"abortedGeneration":3}}`, "p status"}, 0)
	s.report("b", v1.EnactmentAborted)
	s.expect(nil, 0)

	s.report("a", v1.EnactmentAvailable)
	s.expect([]string{`b.p {"spec":{"abortedGeneration":null,"approvedGeneration":3}}`, "p status"}, 0)
}

func TestWhatBecomesEmptyLeavesTheStatus(t *testing.T) {
	s := newStage(t, 1)
	policy := &v1.NodeNetworkConfigurationPolicy{}
	if err := s.api.Get(t.Context(), client.ObjectKey{Name: "p"}, policy); err != nil {
		t.Fatal(err)
	}
	policy.Status.Counts = v1.PolicyCounts{Matched: 1, Available: 1}
	policy.Status.Plans = []v1.PolicyPlan{{Hash: "x", Disruption: v1.DisruptionNone, Nodes: 1, Example: "a"}}
	if err := s.api.Status().Update(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	s.expect([]string{"p status"}, 0)
	s.expect(nil, 0)
	if err := s.api.Get(t.Context(), client.ObjectKey{Name: "p"}, policy); err != nil {
		t.Fatal(err)
	}
	if policy.Status.Counts != (v1.PolicyCounts{}) || len(policy.Status.Plans) != 0 {
		t.Errorf("no node matches, and the status still says %+v, %+v", policy.Status.Counts, policy.Status.Plans)
	}
}

func TestAStatusNeverHitsAPolicyThatWasMadeAgain(t *testing.T) {
	s := newStage(t, 1, on{name: "a"})
	stale := &v1.NodeNetworkConfigurationPolicy{}
	if err := s.api.Get(t.Context(), client.ObjectKey{Name: "p"}, stale); err != nil {
		t.Fatal(err)
	}
	next := stale.DeepCopy()
	next.Spec.Priority = 7
	if err := s.api.Update(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	err := s.reconciler.writeStatus(t.Context(), plan.Input{Policy: stale}, plan.Output{StatusChanged: true, Status: v1.NodeNetworkConfigurationPolicyStatus{ObservedGeneration: 9}})
	if !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict", err)
	}
}

func TestAGrantOfARenderingIsWrittenAndTakenBack(t *testing.T) {
	older := &v1.CommittedPolicy{Generation: generation - 1, Hash: "old"}
	unchanged := on{name: "a", approved: generation - 1, reported: generation, shows: v1.EnactmentPending, hash: "old", has: older}
	stale := on{name: "b", approved: generation - 1, reported: generation, shows: v1.EnactmentPending, hash: "new", approvedHash: "long ago", has: older}
	s := newStage(t, 1, unchanged, stale)
	s.expect([]string{
		`a.p {"spec":{"approvedGeneration":3,"approvedHash":"old"}}`, `b.p {"spec":{"approvedGeneration":3,"approvedHash":null}}`, "p status",
	}, 0)
	s.expect(nil, 0)
}

func TestASoakingNodeIsLookedAtAgain(t *testing.T) {
	s := newStage(t, 1, configured("a"), on{name: "b"})
	s.clock.SetTime(noon)
	policy := &v1.NodeNetworkConfigurationPolicy{}
	if err := s.api.Get(t.Context(), client.ObjectKey{Name: "p"}, policy); err != nil {
		t.Fatal(err)
	}
	policy.Spec.Rollout = &v1.Rollout{SoakSeconds: 60}
	if err := s.api.Update(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	s.expect([]string{"p status"}, time.Minute)
	s.clock.Step(time.Minute)
	s.expect([]string{`b.p {"spec":{"approvedGeneration":3}}`, "p status"}, 0)
}

func TestTheCacheKeepsWhatAPlanReads(t *testing.T) {
	e := configured("a").enactment()
	e.Status.Plan = &v1.EnactmentPlan{Hash: "x", Disruption: v1.DisruptionReapply, Changes: []string{"a"}}
	e.Status.DesiredState = v1.NewState([]byte(`{}`))
	want := e.DeepCopy()
	want.Status.Plan.Changes, want.Status.DesiredState = nil, v1.State{}
	e.Status.Committed.DesiredState, e.Status.Committed.Priority = v1.NewState([]byte(`{}`)), 1
	for kind, options := range Cached() {
		if _, is := kind.(*v1.NodeNetworkConfigurationEnactment); !is {
			continue
		}
		got, err := options.Transform(e)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAStatusThatOnlyCountsWaitsASecondAndGrantsDoNot(t *testing.T) {
	s := newStage(t, 1, on{name: "a"}, on{name: "b"}, on{name: "c"})
	s.expect([]string{`a.p {"spec":{"approvedGeneration":3}}`, "p status"}, 0)

	s.clock.Step(300 * time.Millisecond)
	s.report("a", v1.EnactmentAvailable)
	s.expect([]string{`b.p {"spec":{"approvedGeneration":3}}`}, 700*time.Millisecond)
	s.clock.Step(700 * time.Millisecond)
	s.expect([]string{"p status"}, 0)

	s.clock.Step(100 * time.Millisecond)
	s.report("b", v1.EnactmentAvailable)
	s.expect([]string{`c.p {"spec":{"approvedGeneration":3}}`}, 900*time.Millisecond)
	s.report("c", v1.EnactmentAvailable)
	s.expect([]string{"p status"}, 0) // Available is news.
}

func TestAStatusThatAClockAheadHasWrittenIsNotWaitedFor(t *testing.T) {
	s := newStage(t, 1, on{name: "a"}, on{name: "b"}, on{name: "c"})
	s.clock.Step(5 * time.Minute)
	s.expect([]string{`a.p {"spec":{"approvedGeneration":3}}`, "p status"}, 0)
	s.clock.Step(-5 * time.Minute)
	s.report("a", v1.EnactmentAvailable)
	s.expect([]string{`b.p {"spec":{"approvedGeneration":3}}`, "p status"}, 0)
}

func TestAPolicyThatIsGoneOrGoingIsLeftAlone(t *testing.T) {
	s := newStage(t, 1, on{name: "a"})
	policy := &v1.NodeNetworkConfigurationPolicy{}
	if err := s.api.Get(t.Context(), client.ObjectKey{Name: "p"}, policy); err != nil {
		t.Fatal(err)
	}
	policy.Finalizers = []string{"example.org/keep"}
	if err := s.api.Update(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	if err := s.api.Delete(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	s.expect(nil, 0)
	if err := s.api.Get(t.Context(), client.ObjectKey{Name: "p"}, policy); err != nil {
		t.Fatal(err)
	}
	policy.Finalizers = nil
	if err := s.api.Update(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	s.expect(nil, 0)
}

func TestAPatchHoldsTheUIDOfWhatWasRead(t *testing.T) {
	patch, err := mergePatch(&v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{UID: "read"}}, "spec", 1)
	if err != nil {
		t.Fatal(err)
	}
	data, err := patch.Data(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"spec": 1.0, "metadata": map[string]any{"uid": "read"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyChangesThatAPlanDependsOnCauseOne(t *testing.T) {
	node := func(change func(*corev1.Node)) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"a": "b"}}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		change(n)
		return n
	}
	enactment := func(change func(*v1.NodeNetworkConfigurationEnactment)) *v1.NodeNetworkConfigurationEnactment {
		e := on{name: "n", approved: 1, reported: 1, shows: v1.EnactmentProgressing}.enactment()
		change(e)
		return e
	}
	unchangedNode, unchanged := node(func(*corev1.Node) {}), enactment(func(*v1.NodeNetworkConfigurationEnactment) {})
	tests := map[string]struct {
		before, after client.Object
		want          bool
	}{
		"a node's heartbeat does not": {unchangedNode, node(func(n *corev1.Node) {
			n.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(time.Unix(1, 0))
		}), false},
		"a node's label does":     {unchangedNode, node(func(n *corev1.Node) { n.Labels["a"] = "c" }), true},
		"a node's taint does":     {unchangedNode, node(func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "x"}} }), true},
		"a node's readiness does": {unchangedNode, node(func(n *corev1.Node) { n.Status.Conditions[0].Status = "Unknown" }), true},
		"what a plan does not read of an enactment does not": {unchanged, enactment(func(e *v1.NodeNetworkConfigurationEnactment) {
			e.Status.Conditions[0].Message = "still"
		}), false},
		"what a plan reads of an enactment does": {unchanged, enactment(func(e *v1.NodeNetworkConfigurationEnactment) {
			e.Status.Conditions[0].Type = v1.EnactmentAvailable
		}), true},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			changes := enactmentChanges()
			if _, ok := test.before.(*corev1.Node); ok {
				changes = nodeChanges()
			}
			if got := changes.Update(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after}); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
