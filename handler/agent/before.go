package agent

import (
	"bytes"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// toldBefore is what was told of the originals last: they change with a commit only.
type toldBefore struct {
	known   bool
	raw     []byte
	before  []v1.Before
	omitted int32
}

// tellBefore puts into the status what was there before the policies. It goes out with
// whatever is written anyway: the originals change when a transaction ends.
func (a *Agent) tellBefore(status *v1.NodeNetworkStateStatus) {
	a.reported.former.of(a.record.Originals)
	a.reported.former.tell(status)
}

// of brings it up to date.
func (t *toldBefore) of(raw []byte) {
	if t.known && bytes.Equal(t.raw, raw) {
		return
	}
	originals, err := state.ParseOriginals(raw)
	if err != nil {
		originals = state.Originals{} // Nobody can undo it either: see remember.
	}
	t.known, t.raw = true, raw
	t.before, t.omitted = desired.TellBefore(originals, v1.BeforeBytes)
}

func (t *toldBefore) tell(status *v1.NodeNetworkStateStatus) {
	if desired.SameBefore(status.Before, t.before) {
		t.before = status.Before // As the API server spells it.
	}
	status.Before, status.BeforeOmitted = t.before, t.omitted
}
