package desired

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Tools that wait (kustomize, Flux, Argo) judge an object by kstatus's rules,
// which know nothing of our conditions.
func TestToolsUnderstandEveryRow(t *testing.T) {
	for sentence, c := range map[string]struct {
		row  row
		want status.Status
	}{
		"one that is being applied is not finished":  {progressingRow(), status.InProgressStatus},
		"one that waits for a person is not":         {waitingRow("confirmation"), status.InProgressStatus},
		"one that waits for its turn is not":         {pendingRow("slots"), status.InProgressStatus},
		"one that failed and is tried again is not":  {retryingRow("x", 1), status.InProgressStatus},
		"one that failed for good has failed":        {failedRow("x"), status.FailedStatus},
		"one that is not begun any more has failed":  {abortedRow("node1.p"), status.FailedStatus},
		"one that is configured is what it shall be": {successRow(), status.CurrentStatus},
		"one that was to be planned is, once it is":  {plannedRow("x"), status.CurrentStatus},
	} {
		t.Run(sentence, func(t *testing.T) {
			enactment := v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{Name: "node1.p", Generation: 3}}
			enactment.Status.ObservedGeneration = 3
			enactment.Status.Conditions = c.row.onto(nil, metav1.Now())
			tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&enactment)
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
