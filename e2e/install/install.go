package install

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const fieldOwner = client.FieldOwner("kubectl")

// Build is what kustomize makes of a folder, in the order in which the objects
// need each other.
func Build(folder string) ([]*unstructured.Unstructured, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	built, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, fmt.Errorf("building %s: %w", folder, err)
	}
	var objects []*unstructured.Unstructured
	for _, resource := range built.Resources() {
		object := &unstructured.Unstructured{}
		raw, err := resource.MarshalJSON()
		if err == nil {
			err = object.UnmarshalJSON(raw)
		}
		if err != nil {
			return nil, fmt.Errorf("building %s: %s: %w", folder, resource.CurId(), err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// Apply applies the objects on the server's side and goes through all of them,
// so that the error names each that was refused.
func Apply(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	strict := client.WithFieldValidation(c, "Strict")
	var refused []error
	for _, object := range objects {
		apply := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
		if err := strict.Apply(ctx, apply, fieldOwner, client.ForceOwnership); err != nil {
			refused = append(refused, fmt.Errorf("applying %s %s: %w", object.GetKind(), object.GetName(), err))
		}
	}
	return errors.Join(refused...)
}

// Remove deletes the objects, the last one first. One that is not there is no
// error.
func Remove(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	for _, object := range slices.Backward(objects) {
		err := c.Delete(ctx, object.DeepCopy())
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}
