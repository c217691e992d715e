package v1_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// strange are values that a schema and Go may read differently. One object that a typed
// reader cannot read keeps all readers of its kind from reading any.
func strange(props apiextensionsv1.JSONSchemaProps) []any {
	numbers := []any{1e30, -1e30, int64(1 << 31), int64(-1<<31 - 1), 1.5}
	switch {
	case props.XIntOrString:
		return append(numbers, "99999999999", "99999999999%")
	case props.Type == "integer" || props.Type == "number":
		return numbers
	case props.Format != "date-time":
		return nil
	}
	return []any{
		"2026-01-02t03:04:05Z", "2026-01-02T03:04:05z", "2026-01-02 03:04:05Z", "2026-01-02T03:04:05", "2026-02-30T03:04:05Z", "2026-13-02T03:04:05Z",
		"2026-01-02T24:00:00Z", "2026-01-02T03:04:60Z", "2026-01-02T03:04:05,5Z", "2026-01-02T03:04:05.1234567890123Z", "2026-01-02T03:04:05+99:99",
		"2026-01-02T03:04:05+0100", "+2026-01-02T03:04:05Z", "", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-01-02T03:04:05.123456+01:00",
	}
}

// reads: whatever the API server takes in an object, a typed reader can read.
func reads(t *testing.T, api client.Client) {
	files, err := filepath.Glob("../../deploy/crds/nmstate.io_*.yaml")
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files (%v), want 4", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(raw, &crd); err != nil {
			t.Fatal(err)
		}
		kind := v1.GroupVersion.WithKind(crd.Spec.Names.Kind)
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		object.SetName("readable")
		if err := api.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		for _, version := range crd.Spec.Versions {
			if version.Storage { // All versions have the same fields.
				readsAll(t, api, object, version.Schema.OpenAPIV3Schema)
			}
		}
		if err := api.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

func readsAll(t *testing.T, api client.Client, object *unstructured.Unstructured, props *apiextensionsv1.JSONSchemaProps) {
	tried, taken := 0, 0
	for _, part := range []string{"spec", "status"} {
		withEach(props.Properties[part], func(value any, path string) {
			tried++
			patch, err := json.Marshal(map[string]any{part: value})
			if err != nil {
				t.Fatal(err)
			}
			got := object.DeepCopy()
			if part == "status" {
				err = api.Status().Patch(t.Context(), got, client.RawPatch(types.MergePatchType, patch), client.DryRunAll)
			} else {
				err = api.Patch(t.Context(), got, client.RawPatch(types.MergePatchType, patch), client.DryRunAll)
			}
			if err != nil {
				return
			}
			taken++
			typed, err := api.Scheme().New(object.GroupVersionKind())
			if err != nil {
				t.Fatal(err)
			}
			raw, err := got.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(raw, typed); err != nil {
				t.Errorf("%s %s%s: the API server takes what nobody can read: %v", object.GetKind(), part, path, err)
			}
		})
	}
	t.Logf("%s: %d values tried, %d taken", object.GetKind(), tried, taken)
	if tried < 10 || taken == 0 {
		t.Errorf("%s: %d values tried, %d taken: this looks at nothing", object.GetKind(), tried, taken)
	}
}

// withEach visits values of the schema in which one leaf is strange and everything
// else that is required ordinary.
func withEach(props apiextensionsv1.JSONSchemaProps, visit func(value any, path string)) {
	switch {
	case props.Type == "object" && len(props.Properties) > 0:
		for _, key := range slices.Sorted(maps.Keys(props.Properties)) {
			withEach(props.Properties[key], func(value any, path string) {
				object := ordinary(props).(map[string]any)
				object[key] = value
				visit(object, "."+key+path)
			})
		}
	case props.Type == "object" && props.AdditionalProperties != nil && props.AdditionalProperties.Schema != nil:
		withEach(*props.AdditionalProperties.Schema, func(value any, path string) { visit(map[string]any{"k": value}, ".k"+path) })
	case props.Type == "array" && props.Items != nil && props.Items.Schema != nil:
		withEach(*props.Items.Schema, func(value any, path string) { visit([]any{value}, "[0]"+path) })
	default:
		for _, value := range strange(props) {
			visit(value, fmt.Sprintf(": %#v", value))
		}
	}
}

// ordinary is a value that the schema takes.
func ordinary(props apiextensionsv1.JSONSchemaProps) any {
	switch {
	case len(props.Enum) > 0:
		var value any
		_ = json.Unmarshal(props.Enum[0].Raw, &value) // It was read once.
		return value
	case props.Type == "object":
		object := map[string]any{}
		for _, key := range props.Required {
			object[key] = ordinary(props.Properties[key])
		}
		return object
	case props.Type == "array":
		return []any{}
	case props.Type == "integer", props.Type == "number":
		return 1.0
	case props.Type == "boolean":
		return true
	case props.Format == "date-time":
		return "2026-01-02T03:04:05Z"
	}
	return "x"
}
