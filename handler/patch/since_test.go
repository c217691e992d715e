package patch_test

import (
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/patch"
)

func TestAPatchNamesTheVersionThatWasReadAndWhatChanged(t *testing.T) {
	read := &v1.NodeNetworkState{}
	read.Name, read.ResourceVersion = "node1", "7"
	read.Labels = map[string]string{"gone": "x", "same": "x"}
	changed := read.DeepCopy()
	delete(changed.Labels, "gone")
	changed.Status.AppliedHash = "new"
	got, err := patch.Since{Read: read}.Data(changed)
	want := `{"metadata":{"labels":{"gone":null},"resourceVersion":"7"},"status":{"appliedHash":"new"}}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	read.ResourceVersion = ""
	if _, err := (patch.Since{Read: read}).Data(changed); err == nil {
		t.Error("an object that was never read has no version: it would be overwritten whatever became of it")
	}
}
