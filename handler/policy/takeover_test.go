package policy

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// notAgain resolves no captures: on a node that has what the policy made they would come
// out as something else.
type notAgain struct{}

func (notAgain) Resolve(context.Context, []byte, state.State) (state.State, map[string]state.State, error) {
	return state.State{}, nil, errors.New("captures are resolved again")
}

func TestAnEnactmentOfTheOlderProjectIsTakenOver(t *testing.T) {
	const rendered = `{"interfaces":[{"mtu":1400,"name":"eth1","state":"up","type":"ethernet"}]}`
	made := metav1.NewTime(time.Unix(1000, 0))
	captured := v1.NodeNetworkConfigurationPolicySpec{
		Capture:      map[string]string{"nic": `interfaces.name == "eth1"`},
		DesiredState: v1.NewState([]byte(`{"interfaces":[{"name":"{{ capture.nic.interfaces.0.name }}","type":"ethernet","state":"up","mtu":1400}]}`)),
	}
	for sentence, tt := range map[string]struct {
		spec     v1.NodeNetworkConfigurationPolicySpec
		captured bool
		made     metav1.Time
		takeOver bool
	}{
		"a policy that says it all":             {spec: v1.NodeNetworkConfigurationPolicySpec{DesiredState: v1.NewState([]byte(rendered))}, made: made, takeOver: true},
		"one with captures, which it has shown": {spec: captured, captured: true, made: made, takeOver: true},
		"one that says something else by now":   {spec: v1.NodeNetworkConfigurationPolicySpec{DesiredState: v1.NewState([]byte(`{"interfaces":[{"name":"eth2"}]}`))}, made: made},
		"one that came after it":                {spec: v1.NodeNetworkConfigurationPolicySpec{DesiredState: v1.NewState([]byte(rendered))}, made: metav1.NewTime(time.Unix(2000, 0))},
	} {
		t.Run(sentence, func(t *testing.T) {
			scheme := runtime.NewScheme()
			for _, add := range []func(*runtime.Scheme) error{v1.AddToScheme, corev1.AddToScheme} {
				if err := add(scheme); err != nil {
					t.Fatal(err)
				}
			}
			older := &v1.NodeNetworkConfigurationEnactment{
				ObjectMeta: metav1.ObjectMeta{
					Name: "n1.p", UID: "older", CreationTimestamp: made, Labels: map[string]string{v1.EnactmentNodeLabel: "n1", v1.EnactmentPolicyLabel: "p"},
					OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n1", UID: "node"}},
				},
				Status: v1.NodeNetworkConfigurationEnactmentStatus{
					PolicyGeneration: 1, DesiredState: v1.NewState([]byte(rendered)),
					Conditions: []v1.Condition{{Type: v1.EnactmentAvailable, Status: metav1.ConditionTrue}},
				},
			}
			nns := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "n1", Generation: 1}}
			nns.Status.CurrentState, nns.Status.BridgeVLANFiltering = v1.NewState([]byte(rendered)), new(true)
			api := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(older, nns).WithObjects(
				&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "node"}}, nns, older,
				&v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "policy", Generation: 1, CreationTimestamp: tt.made}, Spec: tt.spec},
			).Build()
			r := New(Options{Client: api, Live: api, Node: "n1", Clock: clocktesting.NewFakePassiveClock(time.Unix(3000, 0)), Captures: notAgain{}})
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "n1"}}); err != nil {
				t.Fatal(err)
			}
			var got v1.NodeNetworkConfigurationEnactment
			if err := api.Get(t.Context(), client.ObjectKey{Name: "n1.p"}, &got); err != nil {
				t.Fatal(err)
			}
			if !ownedBy(&got, &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{UID: "policy"}}) || got.UID == "older" {
				t.Errorf("the enactment is still the older project's: %+v", got.ObjectMeta)
			}
			if _, is := got.Annotations[v1.TakenOverAnnotation]; is != tt.takeOver {
				t.Errorf("taken over: %v, want %v", is, tt.takeOver)
			}
			if shown := string(got.Status.DesiredState.Raw); tt.captured && shown != rendered {
				t.Errorf("it shows %q at once, want what the older one has shown: %s", shown, rendered)
			}
		})
	}
}
