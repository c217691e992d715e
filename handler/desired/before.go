package desired

import (
	"bytes"
	"fmt"
	"slices"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Bounds of a part of the originals that is told.
const (
	longestOf = 128
	mostUnset = 512
)

// TellBefore is what is told of the originals, within a limit of bytes: sections first,
// then interfaces by name.
func TellBefore(originals state.Originals, limit int) (before []v1.Before, omitted int32) {
	left := limit
	for _, part := range originals.Parts() {
		of := part.Of.String()
		size := len(of) + len(part.JSON)
		for _, path := range part.Unset {
			size += len(path)
		}
		if size > left || len(part.Unset) > mostUnset || len(before) >= v1.BeforeLimit || len(of) > longestOf {
			omitted++
			continue
		}
		left -= size
		before = append(before, v1.Before{Of: of, Was: v1.NewState(part.JSON), Unset: part.Unset})
	}
	return before, omitted
}

// SameBefore tells whether two say the same: the API server may spell JSON anew.
func SameBefore(a, b []v1.Before) bool {
	return slices.EqualFunc(a, b, func(a, b v1.Before) bool {
		return a.Of == b.Of && slices.Equal(a.Unset, b.Unset) && (bytes.Equal(a.Was.Raw, b.Was.Raw) || state.SameJSON(a.Was.Raw, b.Was.Raw))
	})
}

// OriginalsOf is what a node tells of the time before its policies.
func OriginalsOf(status *v1.NodeNetworkStateStatus) (state.Originals, error) {
	var parts []state.OriginalPart
	for _, one := range status.Before {
		parts = append(parts, state.OriginalPart{Of: state.ParsePath(one.Of), JSON: one.Was.Raw, Unset: one.Unset})
	}
	originals, err := state.OriginalsOf(parts)
	if err != nil {
		return state.Originals{}, fmt.Errorf("reading what was there before the policies: %w", err)
	}
	return originals, nil
}
