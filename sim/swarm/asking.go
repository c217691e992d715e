package swarm

import (
	"math/rand/v2"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/sim/fault"
)

// asking has half of the lean runs ask a person for a word, and people do something
// else to the nodes that wait for it.
func (r *Run) asking(stream *rand.Rand) {
	if !chance(stream, 50) {
		return
	}
	p := &people{r: stream, cluster: r.Cluster, until: r.Safety}
	at := between(stream, time.Minute, r.Safety-10*time.Minute)
	asked := p.draft(p.subject())
	seconds := pick[int32](stream, 120, 300)
	asked.spec.Mode, asked.spec.PlanHashes, asked.spec.DefaultProbes = "", nil, ""
	asked.spec.Probes = []v1.Probe{{Type: v1.ProbeConfirm, TimeoutSeconds: &seconds}}
	p.add(Action{At: at, Verb: Apply, Name: "asked", What: asked.what + ", to be confirmed", Spec: &asked.spec})
	if chance(stream, 60) {
		p.add(Action{At: at + between(stream, 10*time.Second, 4*time.Minute), Verb: Confirm, Name: "asked"})
	}
	r.Actions = inOrder(append(r.Actions, p.actions...))
	for _, node := range r.Cluster.Nodes {
		kind, _ := fault.Find(pick(stream, fault.ByPeople()...))
		f := fault.Fault{ID: len(r.Faults) + 1, Kind: kind.Name, Target: node.Name, At: at + between(stream, time.Second, 2*time.Minute)}
		if !kind.Instant() {
			f.For = between(stream, kind.Least, kind.Most)
		}
		r.Faults = append(r.Faults, f)
	}
}
