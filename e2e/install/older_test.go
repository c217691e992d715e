package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

func objectsOf(t *testing.T, name string) (objects []*unstructured.Unstructured) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	decoder := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
}

// The kinds of the older project are replaced in place: what is in the cluster must be
// read, kept and written by the new ones, whose versions are other ones.
func TestWhatTheOlderProjectLeftIsTakenOver(t *testing.T) {
	i := newEmpty(t)
	i.must(Apply(t.Context(), i.admin, objectsOf(t, "testdata/older/crds.yaml")))
	left := objectsOf(t, "testdata/older/objects.yaml")
	for _, object := range left {
		status := object.DeepCopy()
		controlplanetest.Eventually(t, func(ctx context.Context) error {
			return client.IgnoreAlreadyExists(i.admin.Create(ctx, object.DeepCopy())) // Until the kind is served.
		})
		i.must(i.admin.Get(t.Context(), client.ObjectKeyFromObject(object), object))
		if status.Object["status"] != nil {
			object.Object["status"] = status.Object["status"]
			i.must(i.admin.Status().Update(t.Context(), object))
		}
	}
	i.must(i.admin.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}))

	i.apply(distributed)
	for _, was := range left {
		t.Run(id(was), func(t *testing.T) {
			for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
				is := &unstructured.Unstructured{}
				is.SetGroupVersionKind(schema.GroupVersionKind{Group: v1.GroupVersion.Group, Version: version, Kind: was.GetKind()})
				if version == "v1alpha1" && was.GetKind() == "NMState" {
					continue // Nor had the older project.
				}
				controlplanetest.Eventually(t, func(ctx context.Context) error {
					if err := i.admin.Get(ctx, client.ObjectKeyFromObject(was), is); err != nil {
						return err
					}
					if missing := lost(was.Object, is.Object); missing != "" {
						return fmt.Errorf("%s: %s", version, missing)
					}
					return nil
				})
				if is.GetUID() != was.GetUID() {
					t.Errorf("%s: it is another object", version)
				}
			}
			typed(t, i, was)
			// The API server checks the whole object when it is written next.
			touch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"touched":"yes"}}}`))
			now := was.DeepCopy()
			now.SetAPIVersion("nmstate.io/v1")
			if err := i.admin.Patch(t.Context(), now, touch); err != nil {
				t.Error(err)
			}
			if now.GetGeneration() != was.GetGeneration() {
				t.Errorf("generation %d, was %d: everything would be rolled out again", now.GetGeneration(), was.GetGeneration())
			}
			if now.Object["status"] != nil {
				if err := i.admin.Status().Update(t.Context(), now); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// lost is what of an object is not in another one.
func lost(was, is map[string]any) string {
	for _, part := range []string{"spec", "status"} {
		for key, value := range asMap(was[part]) {
			if difference := cmp.Diff(plain(value), plain(asMap(is[part])[key])); difference != "" {
				return part + "." + key + " (-was +is): " + difference
			}
		}
	}
	return ""
}

func asMap(value any) map[string]any {
	fields, _ := value.(map[string]any)
	return fields
}

func plain(value any) (out any) {
	raw, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		return err.Error()
	}
	return out
}

// typed reads it as our programs do.
func typed(t *testing.T, i *installed, was *unstructured.Unstructured) {
	t.Helper()
	var object client.Object
	switch was.GetKind() {
	case "NodeNetworkConfigurationPolicy":
		object = &v1.NodeNetworkConfigurationPolicy{}
	case "NodeNetworkConfigurationEnactment":
		object = &v1.NodeNetworkConfigurationEnactment{}
	case "NodeNetworkState":
		object = &v1.NodeNetworkState{}
	default:
		object = &v1.NMState{}
	}
	if err := i.admin.Get(t.Context(), client.ObjectKeyFromObject(was), object); err != nil {
		t.Error(err)
	}
}
