package policy

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/patch"
)

// operation of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// patchOf writes what changed in one part of an object, "spec" or "status", if
// nobody else has written the object meanwhile. To a merge patch null is "take
// this key out" (RFC 7396), so that a state with a null of its own would arrive
// without it: then the part is replaced as a whole.
func patchOf(old client.Object, part string, content any, states ...v1.State) client.Patch {
	if !hasNull(states) {
		return patch.Since{Read: old}
	}
	var tree any
	mustUnmarshal(mustMarshal(content), &tree)
	dropZero(tree)
	return client.RawPatch(types.JSONPatchType, mustMarshal([]operation{
		{"replace", "/metadata/resourceVersion", old.GetResourceVersion()},
		{"add", "/" + part, tree},
	}))
}

// hasNull may find one in a text, which does no harm.
func hasNull(states []v1.State) bool {
	for _, one := range states {
		if bytes.Contains(one.Raw, []byte("null")) {
			return true
		}
	}
	return false
}

// dropZero leaves out the times that are not set, which Go writes as null. What
// an nmstate state says stays.
func dropZero(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			switch {
			case item == nil:
				delete(value, key)
			case key != "desiredState":
				dropZero(item)
			}
		}
	case []any:
		for _, item := range value {
			dropZero(item)
		}
	}
}

func mustMarshal(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil { // They are our own types, and states came from JSON.
		panic(fmt.Sprintf("writing %T as JSON: %v", value, err))
	}
	return raw
}

func mustUnmarshal(raw []byte, into any) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		panic(fmt.Sprintf("reading back our own JSON: %v", err))
	}
}
