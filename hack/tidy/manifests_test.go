package tidy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/hack/manifests"
)

// A manifest that follows from deploy/ is out of date at once when somebody changes
// deploy/ alone, and the operator would install the older one.
func TestWhatIsMadeOfTheManifestsIsCurrent(t *testing.T) {
	files, err := manifests.Files(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Error(err)
		}
		if difference := cmp.Diff(string(want), string(got)); difference != "" {
			t.Errorf("%s does not follow from deploy/: run make generate and commit it (-made +committed):\n%s", name, difference)
		}
	}
}
