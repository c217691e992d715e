package rollout

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// ofPlane makes nodes those of the control plane.
func (s *stage) ofPlane(label string, names ...string) {
	s.Helper()
	for _, name := range names {
		node := &corev1.Node{}
		if err := s.api.Get(s.Context(), client.ObjectKey{Name: name}, node); err != nil {
			s.Fatal(err)
		}
		node.Labels = map[string]string{label: ""}
		if err := s.api.Update(s.Context(), node); err != nil {
			s.Fatal(err)
		}
	}
}

func (s *stage) granted() []string {
	var names []string
	for _, write := range s.writes {
		if name, data, _ := strings.Cut(write, " "); strings.Contains(data, `"approvedGeneration"`) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func TestNodesOfTheControlPlaneAreGrantedOneByOne(t *testing.T) {
	for _, label := range []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master", "node-role.kubernetes.io/etcd"} {
		s := newStage(t, 4, on{name: "a"}, on{name: "b"}, on{name: "c"}, on{name: "d"})
		s.ofPlane(label, "a", "b", "c")
		s.reconcile()
		if diff := cmp.Diff([]string{"a.p", "d.p"}, s.granted()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", label, diff)
		}
	}
}

func TestANodeThatAnotherPolicyChangesCountsAsAway(t *testing.T) {
	s := newStage(t, 4, on{name: "a"}, on{name: "b"}, on{name: "c"})
	s.ofPlane("node-role.kubernetes.io/control-plane", "a", "b", "c")
	other := on{name: "b", approved: 1, reported: 1, shows: v1.EnactmentProgressing}.enactment()
	other.Name, other.Labels[v1.EnactmentPolicyLabel] = "b.other", "other"
	if err := s.api.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	s.reconcile()
	if diff := cmp.Diff([]string{"b.p"}, s.granted()); diff != "" {
		t.Errorf("granted (-want +got):\n%s", diff)
	}

	var got []string
	for _, request := range s.reconciler.policiesOfEnactment(t.Context(), other) {
		got = append(got, request.Name)
	}
	if diff := cmp.Diff([]string{"other", "p"}, got); diff != "" {
		t.Errorf("the end of the other policy's change concerns (-want +got):\n%s", diff)
	}
	elsewhere := on{name: "z"}.enactment()
	elsewhere.OwnerReferences = []metav1.OwnerReference{{Kind: "Node", Name: "z"}}
	if requests := s.reconciler.policiesOfEnactment(t.Context(), elsewhere); len(requests) != 1 {
		t.Errorf("an enactment of another node concerns %v, want its own policy", requests)
	}
}
