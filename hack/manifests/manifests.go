package manifests

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/nmstate/kubernetes-nmstate/e2e/install"
)

// modes are the overlays that the operator can install.
var modes = []string{"distributed", "centralized"}

const header = "# Made from deploy/ by make generate: do not edit.\n"

// Files are the generated files of a checkout, by their path in it.
func Files(root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	var installed []*unstructured.Unstructured
	var each [][]*unstructured.Unstructured
	for _, mode := range modes {
		all, err := charted(filepath.Join(root, "deploy", "overlays", mode))
		if err != nil {
			return nil, err
		}
		objects := operands(all)
		if files["controllers/install/manifests/"+mode+".yaml"], err = encode(objects); err != nil {
			return nil, err
		}
		installed, each = append(installed, objects...), append(each, all)
	}
	chart, err := chartFiles(root, each[0], each[1])
	if err != nil {
		return nil, err
	}
	maps.Copy(files, chart)
	rights, err := rightsToInstall(installed)
	if err != nil {
		return nil, err
	}
	files["deploy/operator/rights.yaml"], err = encode(rights)
	return files, err
}

// operands are what the operator installs of an overlay: not the kinds, which people's
// policies go with, not the namespace, in which the operator runs itself, and not what
// people may do, which it would have to be able to do itself.
func operands(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool {
		return o.GetKind() == "ClusterRole" && o.GetLabels()["rbac.authorization.k8s.io/aggregate-to-admin"] != ""
	})
}

// charted are what the chart has of an overlay: Helm has its own ways with kinds and with
// the namespace.
func charted(folder string) ([]*unstructured.Unstructured, error) {
	objects, err := install.Build(folder)
	if err != nil {
		return nil, err
	}
	objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == "CustomResourceDefinition" || o.GetKind() == "Namespace"
	})
	// Rights and admission policies come before the pods that they are about.
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return stage(a) - stage(b) })
	return objects, nil
}

func stage(object *unstructured.Unstructured) int {
	switch object.GetKind() {
	case "Deployment", "DaemonSet":
		return 1
	}
	return 0
}

func encode(objects []*unstructured.Unstructured) ([]byte, error) {
	var text bytes.Buffer
	text.WriteString(header)
	for i, object := range objects {
		raw, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, fmt.Errorf("printing %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		if i > 0 {
			text.WriteString("---\n")
		}
		text.Write(raw)
	}
	return text.Bytes(), nil
}
