package agent

import (
	"slices"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// outage is a change that cost the node a probe. Tried again it would be another
// outage (design §2, rule 5).
type outage struct {
	hash    string
	sources []v1.Source
}

// wasOutage tells whether the node's desired state is, in a newer generation, the
// change that was lost last: somebody wrote it and it was put right, or the node
// was set aside and back, all while the node was cut off. The outcome is that of
// the newer generation, too, so that the policy handler takes it back.
func (a *Agent) wasOutage(nns *v1.NodeNetworkState, hash string) (bool, error) {
	last := a.record.Last
	if a.outage.hash != hash || last == nil || !last.Final || !slices.Equal(a.outage.sources, v1.PlainSources(nns.Spec.Sources)) {
		a.outage = outage{}
		return false, nil
	}
	if last.Generation == nns.Generation {
		return false, nil // As it was told.
	}
	again := last.DeepCopy()
	again.Generation = nns.Generation
	a.record.Last = again
	a.unreported = true
	a.poke()
	return true, a.Journal.Close(a.record)
}
