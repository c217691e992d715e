package rollout

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestAnEnactmentWhoseNameIsTaken(t *testing.T) {
	const cause = "a: its enactment cannot be made: another node or policy has the name a.p; delete that enactment"
	for sentence, tt := range map[string]struct {
		labels  map[string]string
		failing int32
		message string
	}{
		"by one that is about nothing":     {failing: 1, message: cause},
		"by one of another node":           {labels: map[string]string{v1.EnactmentPolicyLabel: "p", v1.EnactmentNodeLabel: "b"}, failing: 1, message: cause},
		"by one of another policy":         {labels: map[string]string{v1.EnactmentPolicyLabel: "q", v1.EnactmentNodeLabel: "a"}, failing: 1, message: cause},
		"by itself, which is as it should": {labels: map[string]string{v1.EnactmentPolicyLabel: "p", v1.EnactmentNodeLabel: "a"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t, 2, on{name: "a"}, on{name: "b"})
			other := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{Name: "a.p"}}
			if err := s.api.Delete(t.Context(), other.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			other.Labels = tt.labels
			if err := s.api.Create(t.Context(), other); err != nil {
				t.Fatal(err)
			}
			s.reconcile()
			policy := &v1.NodeNetworkConfigurationPolicy{}
			if err := s.api.Get(t.Context(), client.ObjectKey{Name: "p"}, policy); err != nil {
				t.Fatal(err)
			}
			degraded := v1.FindCondition(policy.Status.Conditions, v1.PolicyDegraded)
			if policy.Status.Counts.Failing != tt.failing || policy.Status.Message != tt.message || (degraded.Status == metav1.ConditionTrue) != (tt.failing > 0) {
				t.Errorf("%d failing, Degraded %s, %q", policy.Status.Counts.Failing, degraded.Status, policy.Status.Message)
			}
		})
	}
}
