package apiserver

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func lacks(what string) { panic("apiserver: the model has no " + what) }

func getOptions(options []client.GetOption) client.GetOptions {
	o := client.GetOptions{}
	o.ApplyOptions(options)
	if o.Raw != nil {
		lacks(fmt.Sprintf("option of get: %+v", *o.Raw))
	}
	if o.DisableReadYourWritesConsistency {
		lacks("DisableReadYourWritesConsistency")
	}
	return o
}

func listOptions(options []client.ListOption) client.ListOptions {
	o := client.ListOptions{}
	o.ApplyOptions(options)
	if o.Raw != nil || o.Limit != 0 || o.Continue != "" || o.DisableReadYourWritesConsistency {
		lacks(fmt.Sprintf("option of list: %+v", o))
	}
	return o
}

func createOptions(options []client.CreateOption) (manager string) {
	o := client.CreateOptions{}
	o.ApplyOptions(options)
	if o.Raw != nil || len(o.DryRun) > 0 || o.FieldValidation != "" || o.DisableReadYourWritesConsistency {
		lacks(fmt.Sprintf("option of create: %+v", o))
	}
	return o.FieldManager
}

func updateOptions(options []client.UpdateOption) (manager string) {
	o := client.UpdateOptions{}
	o.ApplyOptions(options)
	if o.Raw != nil || len(o.DryRun) > 0 || o.FieldValidation != "" || o.DisableReadYourWritesConsistency {
		lacks(fmt.Sprintf("option of update: %+v", o))
	}
	return o.FieldManager
}

func patchOptions(options []client.PatchOption) (manager string) {
	o := client.PatchOptions{}
	o.ApplyOptions(options)
	if o.Raw != nil || len(o.DryRun) > 0 || o.Force != nil || o.FieldValidation != "" || o.DisableReadYourWritesConsistency {
		lacks(fmt.Sprintf("option of patch: %+v", o))
	}
	return o.FieldManager
}

// deleteOptions are what must hold, and whether cached reads need not wait for it.
func deleteOptions(options []client.DeleteOption) (only *metav1.Preconditions, unawaited bool) {
	o := client.DeleteOptions{}
	o.ApplyOptions(options)
	if o.Raw != nil || len(o.DryRun) > 0 || o.GracePeriodSeconds != nil || o.PropagationPolicy != nil {
		lacks(fmt.Sprintf("option of delete: %+v", o))
	}
	return o.Preconditions, o.DisableReadYourWritesConsistency
}

func labelSet(o client.Object) labels.Set { return o.GetLabels() }

// statusWriter writes the status subresource.
type statusWriter struct {
	update func(ctx context.Context, o client.Object, subresource, manager string) error
	patch  func(ctx context.Context, o client.Object, subresource string, patch client.Patch, manager string) error
}

func (*statusWriter) Create(context.Context, client.Object, client.Object, ...client.SubResourceCreateOption) error {
	panic("apiserver: the model has no create of a status")
}

func (*statusWriter) Apply(context.Context, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
	panic("apiserver: the model has no apply")
}

func (w *statusWriter) Update(ctx context.Context, o client.Object, options ...client.SubResourceUpdateOption) error {
	made := client.SubResourceUpdateOptions{}
	made.ApplyOptions(options)
	if made.SubResourceBody != nil {
		lacks("body of a subresource")
	}
	return w.update(ctx, o, "status", updateOptions([]client.UpdateOption{&made.UpdateOptions}))
}

func (w *statusWriter) Patch(ctx context.Context, o client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	made := client.SubResourcePatchOptions{}
	made.ApplyOptions(options)
	if made.SubResourceBody != nil {
		lacks("body of a subresource")
	}
	return w.patch(ctx, o, "status", patch, patchOptions([]client.PatchOption{&made.PatchOptions}))
}

// unmodelled is what of client.Client nobody needs.
type unmodelled struct{}

func (unmodelled) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	panic("apiserver: the model has no apply")
}

func (unmodelled) DeleteAllOf(context.Context, client.Object, ...client.DeleteAllOfOption) error {
	panic("apiserver: the model has no delete of all")
}

func (unmodelled) SubResource(name string) client.SubResourceClient {
	panic("apiserver: the model has no subresource " + name + " beside Status()")
}

func (unmodelled) Scheme() *runtime.Scheme     { panic("apiserver: the model has no scheme") }
func (unmodelled) RESTMapper() meta.RESTMapper { panic("apiserver: the model has no mapper") }

func (unmodelled) GroupVersionKindFor(o runtime.Object) (schema.GroupVersionKind, error) {
	return kinds()[place(o)].gvk(), nil
}

func (unmodelled) IsObjectNamespaced(o runtime.Object) (bool, error) {
	_ = place(o)
	return false, nil
}
