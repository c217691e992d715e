package policy

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// live is an API server that has one policy, one NodeNetworkState or none, and an
// enactment or none.
type live struct {
	policy    v1.NodeNetworkConfigurationPolicy
	state     v1.NodeNetworkState
	enactment *v1.NodeNetworkConfigurationEnactment
}

func (l live) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	switch o := o.(type) {
	case *v1.NodeNetworkConfigurationPolicy:
		*o = l.policy
	case *v1.NodeNetworkState:
		if l.state.Name == "" {
			return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
		}
		*o = l.state
	case *v1.NodeNetworkConfigurationEnactment:
		if l.enactment == nil {
			return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
		}
		*o = *l.enactment
	default:
		return fmt.Errorf("reading %T: %w", o, errors.ErrUnsupported)
	}
	return nil
}

func (live) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.ErrUnsupported
}

// A policy has left the node, which the cache shows, and selects it again, which it
// does not show yet.
func TestAnEnactmentWhosePolicyIsBack(t *testing.T) {
	owner := []metav1.OwnerReference{{Kind: "NodeNetworkConfigurationPolicy", Name: "p", UID: "policy"}}
	committed := &v1.CommittedPolicy{Generation: 1, Hash: "h"}
	source := v1.DesiredSource{Source: v1.Source{Policy: "p", Generation: 1, Hash: "h"}}
	for sentence, c := range map[string]struct {
		status v1.NodeNetworkConfigurationEnactmentStatus
		change func(*live)
		gone   bool
	}{
		"goes where the node has given up what it had committed": {
			status: v1.NodeNetworkConfigurationEnactmentStatus{Committed: committed},
			gone:   true,
		},
		"stays where the node has it in its spec": {
			status: v1.NodeNetworkConfigurationEnactmentStatus{Committed: committed},
			change: func(l *live) { l.state.Spec.Sources = []v1.DesiredSource{source} },
		},
		"stays where the spec is newer than the one that was decided on": {
			status: v1.NodeNetworkConfigurationEnactmentStatus{Committed: committed},
			change: func(l *live) { l.state.Generation++ },
		},
		"stays where it tells how often the policy has failed": {
			status: v1.NodeNetworkConfigurationEnactmentStatus{Committed: committed, Retry: &v1.EnactmentRetry{Attempts: 3}},
		},
		"stays where nothing was ever committed": {},
		"goes where it is another policy of the name": {
			change: func(l *live) { l.policy.UID = "another" },
			gone:   true,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			api := live{
				policy: v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "policy", Generation: 3}},
				state:  v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "state", Generation: 5}},
			}
			g := &gathered{node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, input: desired.Input{Node: "n1", State: api.state.DeepCopy()}}
			if c.change != nil {
				c.change(&api)
			}
			g.input.Enactments = []v1.NodeNetworkConfigurationEnactment{{
				ObjectMeta: metav1.ObjectMeta{Name: "n1.p", Labels: map[string]string{v1.EnactmentPolicyLabel: "p"}, OwnerReferences: owner},
				Status:     c.status,
			}}
			got, err := New(Options{Live: api}).verifyReads(t.Context(), newMemory(), g, desired.Decision{Delete: []string{"n1.p"}})
			if err != nil || got != c.gone {
				t.Errorf("gone: %v (%v), want %v", got, err, c.gone)
			}
		})
	}
}

// decidedOn is what a decision about node n1 was made from.
func decidedOn(state *v1.NodeNetworkState, shown *v1.NodeNetworkConfigurationEnactment) *gathered {
	return &gathered{
		node:  &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}},
		input: desired.Input{Node: "n1", State: state, Enactments: []v1.NodeNetworkConfigurationEnactment{*shown}},
	}
}

// A process that has just started is shown a node's enactments as they were before
// one of them was deleted, and the policy selects the node again meanwhile.
func TestAPolicyComesAgainByTheEnactmentThatIsThere(t *testing.T) {
	shown := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
		Name: "n1.p", ResourceVersion: "7", Labels: map[string]string{v1.EnactmentPolicyLabel: "p", v1.EnactmentNodeLabel: "n1"},
	}}
	sources := []v1.DesiredSource{{Source: v1.Source{Policy: "p", Generation: 1, Hash: "h"}}}
	for sentence, c := range map[string]struct {
		there string // The version that is there, empty for none.
		has   []v1.DesiredSource
		known bool
	}{
		"it is as it is shown":             {there: "7", known: true},
		"it was written since":             {there: "8"},
		"it is gone":                       {},
		"it is gone, and the policy stays": {has: sources, known: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			api := live{}
			if c.there != "" {
				api.enactment = shown.DeepCopy()
				api.enactment.ResourceVersion = c.there
			}
			g := decidedOn(&v1.NodeNetworkState{Spec: v1.NodeNetworkStateSpec{Sources: c.has}}, shown)
			known, err := New(Options{Live: api}).verifyReads(t.Context(), newMemory(), g, desired.Decision{Spec: &desired.Spec{Sources: sources}})
			if err != nil || known != c.known {
				t.Errorf("known: %v (%v), want %v", known, err, c.known)
			}
		})
	}
}

// A process that has just started is shown neither a policy nor its enactment as they are:
// the policy was deleted and made anew, and what is in flight is the new one's.
func TestWhatIsInFlightIsGivenUpByTheEnactmentThatIsThere(t *testing.T) {
	shown := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
		Name: "n1.p", ResourceVersion: "7", Labels: map[string]string{v1.EnactmentPolicyLabel: "p", v1.EnactmentNodeLabel: "n1"},
	}}
	for sentence, c := range map[string]struct {
		there      string
		generation int64 // 0: the policy leaves.
		known      bool
	}{
		"a policy that leaves has the enactment that is shown":   {there: "7", known: true},
		"one that leaves has another one by now":                 {there: "8"},
		"one that changes was read live, so it may want another": {there: "8", generation: 2, known: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			api := live{enactment: shown.DeepCopy()}
			api.enactment.ResourceVersion = c.there
			spec := &desired.Spec{Policy: "p", UID: "policy", Generation: c.generation}
			if c.generation == 0 {
				api.policy.UID = "another"
			} else {
				api.policy.UID, api.policy.Generation = spec.UID, spec.Generation
			}
			g := decidedOn(&v1.NodeNetworkState{}, shown)
			known, err := New(Options{Live: api}).verifyReads(t.Context(), newMemory(), g, desired.Decision{GivesUp: []string{"p"}, Spec: spec})
			if err != nil || known != c.known {
				t.Errorf("known: %v (%v), want %v", known, err, c.known)
			}
		})
	}
}

// A process that has just started is shown a node's NodeNetworkState, which has been
// written since, made anew, or deleted.
func TestTheFirstStatusIsDecidedOnTheStateThatIsThere(t *testing.T) {
	at := func(uid types.UID, version string) v1.NodeNetworkState {
		return v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: uid, ResourceVersion: version}}
	}
	shown, none := at("state", "7"), v1.NodeNetworkState{}
	for sentence, c := range map[string]struct {
		shown, there v1.NodeNetworkState
		started      bool
		next         string // The version that is decided on next.
	}{
		"it is as it is shown":               {shown: shown, there: shown, started: true, next: "7"},
		"it was written since":               {shown: shown, there: at("state", "8"), next: "8"},
		"it was made anew":                   {shown: shown, there: at("another", "8"), next: "7"},
		"it is gone":                         {shown: shown, there: none, next: "7"},
		"it is there, and none is shown yet": {shown: none, there: shown},
		"there is none":                      {shown: none, there: none, started: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			g, m := &gathered{input: desired.Input{Node: "n1"}}, newMemory()
			if c.shown.Name != "" {
				g.input.State = c.shown.DeepCopy()
			}
			started, err := New(Options{Live: live{state: c.there}}).verifyReads(t.Context(), m, g, desired.Decision{Statuses: []desired.StatusWrite{{Name: "n1.p"}}})
			if err != nil || started != c.started || m.started != c.started {
				t.Errorf("started: %v, remembered %v (%v), want %v", started, m.started, err, c.started)
			}
			if g.input.State == nil {
				return
			}
			if next := m.newestState(c.shown.DeepCopy()); next.ResourceVersion != c.next {
				t.Errorf("decided next on version %s, want %s", next.ResourceVersion, c.next)
			}
		})
	}
}

// deleting is an API server that notes what a deletion asks of it.
type deleting struct {
	client.Client
	asked client.DeleteOptions
}

func (d *deleting) Delete(_ context.Context, _ client.Object, options ...client.DeleteOption) error {
	d.asked.ApplyOptions(options)
	return nil
}

// A cache that shows the past may have an enactment from before its policy was changing the
// node (seed 480000003992: its slot went to another node).
func TestAnEnactmentIsDeletedAsItWasRead(t *testing.T) {
	api := &deleting{}
	r := New(Options{Client: api})
	enactment := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{Name: "node1.p", UID: "uid", ResourceVersion: "7"}}
	m := &memory{deleted: map[types.UID]bool{}, enactments: map[string]writtenEnactment{}}
	if err := r.remove(t.Context(), m, enactment); err != nil {
		t.Fatal(err)
	}
	if only := api.asked.Preconditions; only == nil || *only.UID != "uid" || *only.ResourceVersion != "7" {
		t.Errorf("it is deleted whatever it says: %+v", only)
	}
}
