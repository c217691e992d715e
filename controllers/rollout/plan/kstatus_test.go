package plan

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Tools that wait judge a policy by kstatus's rules, which know nothing of our
// conditions.
func TestToolsUnderstandAPolicysStatus(t *testing.T) {
	at := func(name string, shows v1.ConditionType) on {
		return on{name: name, approved: generation, reported: generation, shows: showing(shows)}
	}
	for sentence, c := range map[string]struct {
		nodes []on
		want  status.Status
	}{
		"while nodes change it is in progress":  {[]on{at("a", v1.EnactmentAvailable), at("b", v1.EnactmentProgressing)}, status.InProgressStatus},
		"once all are configured it is current": {[]on{at("a", v1.EnactmentAvailable), at("b", v1.EnactmentAvailable)}, status.CurrentStatus},
		"with a failing node it has failed":     {[]on{at("a", v1.EnactmentFailing), at("b", v1.EnactmentAvailable)}, status.FailedStatus},
		"without a node there is nothing to do": {[]on{{name: "a", elsewhere: true, bare: true}}, status.CurrentStatus},
	} {
		t.Run(sentence, func(t *testing.T) {
			policy := v1.NodeNetworkConfigurationPolicy{
				ObjectMeta: metav1.ObjectMeta{Name: "p", Generation: generation},
				Status:     decided(t, inputOf(intstr.FromString("50%"), c.nodes)).Status,
			}
			tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&policy)
			if err != nil {
				t.Fatal(err)
			}
			got, err := status.Compute(&unstructured.Unstructured{Object: tree})
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != c.want {
				t.Errorf("kstatus says %s: %s, want %s", got.Status, got.Message, c.want)
			}
		})
	}
}
