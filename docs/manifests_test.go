package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

const deploy = "../deploy"

// resources are the files that the kustomization of a folder lists, and those
// of the folders that it lists, relative to deploy/.
func resources(t *testing.T, folder string) []string {
	t.Helper()
	var kustomization struct{ Resources []string }
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(deploy, folder, "kustomization.yaml"))), &kustomization); err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, name := range kustomization.Resources {
		if name = filepath.Join(folder, name); strings.HasSuffix(name, ".yaml") {
			files = append(files, name)
		} else {
			files = append(files, resources(t, name)...)
		}
	}
	return files
}

func TestTheKustomizationsListEveryManifest(t *testing.T) {
	var manifests []string
	err := fs.WalkDir(os.DirFS(deploy), ".", func(name string, entry fs.DirEntry, err error) error {
		if entry.IsDir() && slices.Contains([]string{"overlays", "components", "operator"}, name) {
			return fs.SkipDir // Their own files are patches, and what is there for who asks for it.
		}
		if !entry.IsDir() && strings.HasSuffix(name, ".yaml") && entry.Name() != "kustomization.yaml" {
			manifests = append(manifests, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{".", "overlays/centralized"} {
		listed := resources(t, folder)
		slices.Sort(listed)
		if difference := cmp.Diff(manifests, listed); difference != "" {
			t.Errorf("files of deploy/ (-there +listed by %s):\n%s", folder, difference)
		}
	}
}

func TestTheAPIServerTakesEveryManifest(t *testing.T) {
	plane := controlplanetest.Start(t, os.Getenv, controlplane.Options{CRDs: filepath.Join(deploy, "crds")})
	api := controlplanetest.Client(t, plane, client.Options{})
	strict := client.WithFieldValidation(api, "Strict")
	create := func(name string, options ...client.CreateOption) {
		for _, object := range objects(t, name) {
			object.SetResourceVersion("") // That of the report's own cluster.
			if err := strict.Create(t.Context(), &object, options...); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, name := range resources(t, ".") {
		if !strings.HasPrefix(name, "crds/") { // These are installed.
			create(filepath.Join(deploy, name))
		}
	}
	for _, name := range append(examples(t), "demos/state.yaml", filepath.Join(deploy, "operator/nmstate.yaml")) {
		create(name, client.DryRunAll)
	}
}

func TestEveryTopologyIsUnderstood(t *testing.T) {
	for _, name := range examples(t) {
		if len(objects(t, name)) > 0 {
			continue
		}
		if _, err := lab.LoadTopology(name); err != nil {
			t.Error(err)
		}
	}
}
