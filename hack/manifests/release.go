package manifests

import (
	"fmt"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nmstate/kubernetes-nmstate/e2e/install"
)

// developed is how deploy/ names the images, with the name and a tag behind it.
const developed = "localhost/kubernetes-nmstate/"

// Release are the manifests of a release, by the names of their files: each installs with
// one kubectl apply -f.
func Release(root, prefix, version string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, folder := range map[string]string{
		"kubernetes-nmstate.yaml":             "overlays/distributed",
		"kubernetes-nmstate-centralized.yaml": "overlays/centralized",
		"kubernetes-nmstate-operator.yaml":    "operator",
		"kubernetes-nmstate-monitoring.yaml":  "components/monitoring",
		"kubernetes-nmstate-page.yaml":        "components/page",
		"kubernetes-nmstate-openshift.yaml":   "components/openshift",
	} {
		objects, err := install.Build(filepath.Join(root, "deploy", folder))
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			if err := released(object, strings.TrimSuffix(prefix, "/")+"/", version); err != nil {
				return nil, err
			}
		}
		if files[name], err = encode(objects); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// released makes the images of a workload those of the release.
func released(object *unstructured.Unstructured, prefix, version string) error {
	path := []string{"spec", "template", "spec", "containers"}
	containers, found, err := unstructured.NestedSlice(object.Object, path...)
	if err != nil || !found {
		return err
	}
	for _, container := range containers {
		fields := container.(map[string]any)
		image, _ := fields["image"].(string)
		name, is := strings.CutPrefix(strings.TrimSuffix(image, ":devel"), developed)
		if !is {
			return fmt.Errorf("%s %s has the image %s, which is not one of ours", object.GetKind(), object.GetName(), image)
		}
		fields["image"] = prefix + name + ":" + version
	}
	return unstructured.SetNestedSlice(object.Object, containers, path...)
}
