package patch

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Since is a merge patch (RFC 7386) of what differs from Read, an object as it was read.
type Since struct{ Read client.Object }

// Type implements client.Patch.
func (Since) Type() types.PatchType { return types.MergePatchType }

// Data implements client.Patch.
func (s Since) Data(changed client.Object) ([]byte, error) {
	return client.MergeFromWithOptions(s.Read, client.MergeFromWithOptimisticLock{}).Data(changed)
}
