package agent

import (
	"bytes"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// toldBefore is what was told of the originals last: they change with a commit only.
type toldBefore struct {
	raw     []byte
	before  []v1.Before
	omitted int32
}

// tellBefore puts into the status what was there before the policies. It goes out with
// whatever is written anyway: the originals change when a transaction ends.
func (a *Agent) tellBefore(status *v1.NodeNetworkStateStatus) {
	raw := a.record.Originals
	if a.former == nil || !bytes.Equal(a.former.raw, raw) {
		originals, err := state.ParseOriginals(raw)
		if err != nil {
			originals = state.Originals{} // Nobody can undo it either: see remember.
		}
		before, omitted := desired.TellBefore(originals, v1.BeforeBytes)
		a.former = &toldBefore{raw: raw, before: before, omitted: omitted}
	}
	if desired.SameBefore(status.Before, a.former.before) {
		a.former.before = status.Before // As the API server spells it.
	}
	status.Before, status.BeforeOmitted = a.former.before, a.former.omitted
}
