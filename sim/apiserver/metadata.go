package apiserver

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// metadataOf is the kind of which an object or a list is the metadata only, -1 for
// none that the model has. A manager has a cache of its own for metadata; in the model
// it is the one of the whole objects, so both lag alike.
func metadataOf(o runtime.Object) int {
	switch o.(type) {
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
	default:
		return -1
	}
	gvk := o.GetObjectKind().GroupVersionKind()
	if gvk.GroupVersion() == v1.GroupVersion && strings.TrimSuffix(gvk.Kind, "List") == "NodeNetworkState" {
		return states
	}
	return -1
}

// fillInto puts objects into a list of their type, or their metadata into a list of that.
func (k *kind) fillInto(list client.ObjectList, objects []client.Object) {
	partial, is := list.(*metav1.PartialObjectMetadataList)
	if !is {
		k.fill(list, objects)
		return
	}
	partial.Items = make([]metav1.PartialObjectMetadata, len(objects))
	for i, o := range objects {
		meta, _, _ := k.parts(o)
		partial.Items[i].ObjectMeta = *meta
		partial.Items[i].SetGroupVersionKind(k.gvk())
	}
}
