package desired

import (
	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Cut is what is told of a state that would take more than so many bytes, and what is
// said of what is left out: both together are within the limit.
func Cut(whole state.State, limit int, named ...string) (state.State, *v1.Truncated) {
	kept, omissions := state.Cut(whole, limit, named...)
	truncated := &v1.Truncated{}
	truncated.Size, truncated.Hash = state.ReportMark(whole)
	for _, one := range omissions {
		truncated.Omitted = append(truncated.Omitted, v1.Omitted{Section: one.Section, Type: one.Type, Count: int64(one.Count), Names: one.Names})
	}
	return kept, truncated
}
