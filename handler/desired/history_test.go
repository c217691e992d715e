package desired

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// TestRandomHistories: whatever people, the rollout, the state handler and
// crashes do, no spec differs from what is committed by more than one policy
// (checked at every write), and once they stop the node comes to rest with
// what its policies say.
func TestRandomHistories(t *testing.T) {
	for seed := range int64(600) {
		r := rand.New(rand.NewSource(seed))
		w := newWorld(t)
		w.state.Status.CurrentState = v1.NewState([]byte(`{"interfaces":[{"name":"e1","mtu":1500,"state":"up"}]}`))
		for range 20 + r.Intn(60) {
			w.happen(r)
		}
		w.rest()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// happen lets one random thing happen.
func (w *world) happen(r *rand.Rand) {
	name := string(rune('a' + r.Intn(4)))
	_, exists := w.policies[name]
	switch r.Intn(16) {
	case 0, 1:
		w.policy(name, string(randomState(r).JSON()), int32(r.Intn(2)))
		w.policies[name].OnDelete = []string{"", v1.OnDeleteRevert}[r.Intn(2)]
	case 2:
		w.remove(name)
	case 3:
		if exists {
			w.policies[name].Generation++
		}
	case 4:
		w.deselected[name] = !w.deselected[name]
	case 5:
		if r.Intn(2) == 0 {
			w.letLeave()
		}
		if w.enactments[v1.EnactmentName(node, name)] != nil && exists {
			w.approve(name)
		}
	case 6:
		w.now = w.now.Add(time.Duration(r.Intn(10)) * time.Second)
	case 7, 8:
		w.randomOutcome(r)
	case 9:
		managed := r.Intn(2) == 0
		if was := w.state.Spec.Managed; was == nil || *was != managed {
			w.state.Spec.Managed = &managed
			w.state.Generation++
		} else if !managed {
			w.sayNotManaged()
		}
	case 10:
		w.interfere(r, name)
	case 11, 12, 13:
		if exists {
			w.happenTo(r, name)
		}
	default:
		// A crash after any of the decision's writes.
		w.write(w.decide(), r.Intn(4))
	}
}

// happenTo changes one thing about a policy.
func (w *world) happenTo(r *rand.Rand, name string) {
	p := w.policies[name]
	switch r.Intn(7) {
	case 0:
		p.OnDelete = []string{"", "Retain", "Revert"}[r.Intn(3)]
		p.DefaultProbes = []string{"", "Drop"}[r.Intn(2)]
		p.Generation++
	case 1:
		p.Drift = []string{"", "Correct", "Report"}[r.Intn(3)]
		p.Generation++
	case 2:
		p.Mode = []string{"", "Apply", ModePlan}[r.Intn(3)]
		p.Generation++
	case 3:
		p.PlanHashes = nil
		if e := w.enactments[v1.EnactmentName(node, name)]; e != nil && e.Status.Plan != nil && r.Intn(3) > 0 {
			p.PlanHashes = []string{e.Status.Plan.Hash}
		}
		p.Generation++
	case 4, 5: // A variable has another value on the node.
		w.rendered(name, string(randomState(r).JSON()))
	case 6:
		if e := w.enactments[v1.EnactmentName(node, name)]; e != nil {
			e.Spec.ApprovedHash = e.Status.Hash
		}
	}
}

// interfere does what people should not do.
func (w *world) interfere(r *rand.Rand, policy string) {
	switch r.Intn(4) {
	case 0:
		delete(w.enactments, v1.EnactmentName(node, policy))
	case 1:
		w.state.Spec.DesiredState = v1.NewState(randomState(r).JSON())
		w.state.Generation++
	case 2:
		w.state.Spec.DesiredState, w.state.Spec.Sources = v1.State{}, nil
		w.state.Generation++
	}
}

func (w *world) randomOutcome(r *rand.Rand) {
	if managed := w.state.Spec.Managed; !w.pending() || (managed != nil && !*managed) {
		return
	}
	results := []v1.TransactionResult{
		v1.TransactionCommitted, v1.TransactionCommitted, v1.TransactionRefused,
		v1.TransactionRolledBack, v1.TransactionRollbackIncomplete, v1.TransactionSuperseded,
	}
	if result := results[r.Intn(len(results))]; r.Intn(3) > 0 {
		w.handle("Idle", result, r.Intn(2) == 0, "something failed")
	} else {
		w.handle("Probing", "", false, "")
	}
}

// letLeave grants what waits to leave.
func (w *world) letLeave() {
	for _, e := range w.enactments {
		if e.Status.WaitsToLeave && !e.Spec.Leave {
			w.leave(e.Policy())
			w.writes++
		}
	}
}

// rest lets everything go well until nothing is written any more.
func (w *world) rest() {
	yes := true
	w.state.Spec.Managed = &yes
	w.state.Generation++
	for range 200 {
		before := w.writes
		w.settle()
		w.letLeave()
		for name := range w.policies {
			e := w.enactments[v1.EnactmentName(node, name)]
			if e != nil && ownerUID(e) == w.policies[name].UID && e.Spec.ApprovedGeneration != w.policies[name].Generation {
				w.approve(name)
				w.writes++
			}
			if e != nil && e.Spec.ApprovedHash != e.Status.Hash {
				e.Spec.ApprovedHash = e.Status.Hash
				w.writes++
			}
		}
		if w.pending() {
			w.handle("Idle", v1.TransactionCommitted, false, "")
			w.writes++
		}
		if w.writes == before {
			if d := w.decide(); d.RequeueAfter == 0 {
				w.checkRest()
				return
			}
			w.now = w.now.Add(5 * time.Minute)
		}
	}
	w.t.Errorf("no rest after 200 rounds: %+v", w.decide())
}

// checkRest: every policy is Available or says why not, the spec is the merge
// of those that are, and nothing else is left.
func (w *world) checkRest() {
	var available []Contribution
	for _, name := range slices.Sorted(maps.Keys(w.policies)) {
		if w.deselected[name] {
			continue
		}
		p, status := w.policies[name], w.enactment(name).Status
		switch line := standing(status); {
		case strings.HasPrefix(line, fmt.Sprintf("g%d Available", p.Generation)):
			available = append(available, Contribution{
				Policy: name, Generation: p.Generation, Hash: p.Hash, Priority: p.Priority, Created: p.Created, State: p.State,
			})
		case strings.HasPrefix(line, fmt.Sprintf("g%d Failing", p.Generation)), strings.HasPrefix(line, fmt.Sprintf("g%d Planned", p.Generation)):
			if status.Committed != nil && (status.Committed.Hash != p.Hash || p.Mode == ModePlan) {
				if held := (&member{name: name}).heldFrom(status.Committed); held != nil {
					available = append(available, *held)
				}
			}
		default:
			w.t.Errorf("policy %s at rest: %s", name, line)
		}
	}
	for name := range w.enactments {
		policy := strings.TrimPrefix(name, node+".")
		if w.policies[policy] == nil || w.deselected[policy] {
			w.t.Errorf("enactment %s is left", name)
		}
	}
	want := fold(available)
	w.checkSources(want)
	if len(available) == 0 && len(w.state.Spec.Sources) == 0 {
		return // What is written by hand then stays.
	}
	if diff := cmp.Diff(string(want.state.JSON()), orEmptyDocument(w.state.Spec.DesiredState)); diff != "" {
		w.t.Errorf("the node's state is not what its policies say:\n%s", diff)
	}
	if !sameDocument([]byte(orEmptyDocument(w.state.Spec.DesiredState)), []byte(orEmptyDocument(v1.NewState(w.applied)))) {
		w.t.Errorf("the node has %s and should have %s", w.applied, w.state.Spec.DesiredState.Raw)
	}
}

// checkSources: the spec says whose each leaf is and what becomes of it.
func (w *world) checkSources(want aggregate) {
	owned := want.owned()
	if len(w.state.Spec.Sources) != len(want.members) {
		w.t.Errorf("sources %v of %v", w.state.Spec.Sources, want.members)
		return
	}
	for i, source := range w.state.Spec.Sources {
		p := w.policies[source.Policy]
		if source.Policy != want.members[i].Policy || p.Mode != ModePlan && (source.OnDelete != p.OnDelete || source.Drift != p.Drift || source.DefaultProbes != p.DefaultProbes) {
			w.t.Errorf("source %+v of policy %s (%s, %s, %s)", source, p.Name, p.OnDelete, p.Drift, p.DefaultProbes)
		}
		if diff := cmp.Diff(state.WrittenPaths(owned[i]), source.Paths); diff != "" {
			w.t.Errorf("paths of policy %s:\n%s", p.Name, diff)
		}
	}
}

func orEmptyDocument(s v1.State) string {
	if s.IsZero() {
		return "{}"
	}
	return string(s.Raw)
}
