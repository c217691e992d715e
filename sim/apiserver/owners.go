package apiserver

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// stateSize is roughly what the object's states take.
func stateSize(o client.Object) int {
	switch o := o.(type) {
	case *v1.NodeNetworkState:
		return len(o.Spec.DesiredState.Raw) + len(o.Status.CurrentState.Raw)
	case *v1.NodeNetworkConfigurationPolicy:
		return len(o.Spec.DesiredState.Raw)
	case *v1.NodeNetworkConfigurationEnactment:
		size := len(o.Status.DesiredState.Raw)
		if o.Status.Committed != nil {
			size += len(o.Status.Committed.DesiredState.Raw)
		}
		for _, c := range o.Status.CapturedStates {
			size += len(c.State.Raw)
		}
		return size
	}
	return 0
}

// fieldOwners are, for each path in a NodeNetworkState's desired state, who
// wrote it last: all that the product reads of managed fields. An object is
// its first writer's as long as it is there, whoever writes what is in it.
type fieldOwners map[string]string

// wrote notes what a write to the object itself changed.
func (f *fieldOwners) wrote(k *kind, r request, before, after client.Object) {
	next, is := after.(*v1.NodeNetworkState)
	if !is || r.subresource != "" {
		return
	}
	now := paths(next.Spec.DesiredState.Raw)
	then := map[string]string{}
	if before != nil {
		then = paths(before.(*v1.NodeNetworkState).Spec.DesiredState.Raw)
	}
	kept := fieldOwners{}
	for path, value := range now {
		owner, known := (*f)[path]
		if !known || then[path] != value {
			owner = r.manager
		}
		kept[path] = owner
	}
	*f = kept
}

// paths of a state, with their values: a list is one value, as for every server
// without a schema of it.
func paths(raw []byte) map[string]string {
	found := map[string]string{}
	var walk func(path string, raw json.RawMessage)
	walk = func(path string, raw json.RawMessage) {
		var tree map[string]json.RawMessage
		if !isObject(raw) || utiljson.Unmarshal(raw, &tree) != nil {
			found[path] = string(raw)
			return
		}
		found[path] = "{"
		for name, value := range tree {
			walk(path+"\x00"+name, value)
		}
	}
	if len(raw) > 0 {
		walk("desiredState", raw)
	}
	return found
}

// managed makes the managed fields as a client sees them.
func (f fieldOwners) managed() []metav1.ManagedFieldsEntry {
	trees := map[string]map[string]any{}
	for path, owner := range f {
		tree := trees[owner]
		if tree == nil {
			tree = map[string]any{}
			trees[owner] = tree
		}
		at := tree
		for _, name := range append([]string{"spec"}, strings.Split(path, "\x00")...) {
			below, ok := at["f:"+name].(map[string]any)
			if !ok {
				below = map[string]any{}
				at["f:"+name] = below
			}
			at = below
		}
	}
	var made []metav1.ManagedFieldsEntry
	for _, owner := range slices.Sorted(maps.Keys(trees)) {
		raw, err := utiljson.Marshal(trees[owner])
		if err != nil {
			panic(err)
		}
		made = append(made, metav1.ManagedFieldsEntry{
			Manager: owner, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: v1.GroupVersion.String(),
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(raw)),
		})
	}
	return made
}
