package desired

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// TestTheOrderOfEventsDoesNotMatter: the same policies come to the same node,
// in whatever order they came, were labelled in and out, had others beside
// them for a while, and whenever the handler crashed.
func TestTheOrderOfEventsDoesNotMatter(t *testing.T) {
	for seed := range int64(150) {
		r := rand.New(rand.NewSource(seed))
		var states []state.State
		for range 4 {
			states = append(states, randomState(r))
		}
		first := ""
		for history := range 6 {
			got := arrive(t, r, states)
			if first == "" {
				first = got
			}
			if diff := cmp.Diff(first, got); diff != "" || t.Failed() {
				t.Fatalf("seed %d, history %d:\n%s", seed, history, diff)
			}
		}
	}
}

// arrive lets the policies come in random order and tells what comes of it.
func arrive(t *testing.T, r *rand.Rand, states []state.State) string {
	w := newWorld(t)
	begin := w.now
	for _, i := range r.Perm(len(states)) {
		name := string(rune('a' + i))
		w.policy(name, string(states[i].JSON()), int32(i%2))
		w.policies[name].Created = begin.Add(time.Duration(i) * time.Second)
		w.policies[name].OnDelete = []string{"", "Revert"}[i%2]
		for range r.Intn(8) {
			w.progress(r, name)
		}
	}
	delete(w.policies, "passing")
	clear(w.deselected)
	w.rest()
	var out strings.Builder
	fmt.Fprintln(&out, orEmptyDocument(w.state.Spec.DesiredState))
	for _, s := range w.state.Spec.Sources {
		fmt.Fprintln(&out, s.Policy, s.OnDelete, s.Paths)
	}
	for i := range states {
		name := string(rune('a' + i))
		line, _, _ := strings.Cut(standing(w.enactment(name).Status), " committed=")
		fmt.Fprintln(&out, name, line)
	}
	return out.String()
}

// progress is anything but a failure or an edit.
func (w *world) progress(r *rand.Rand, name string) {
	switch r.Intn(6) {
	case 0:
		w.deselected[name] = !w.deselected[name]
	case 1:
		w.policy("passing", string(randomState(r).JSON()), 2)
	case 2:
		delete(w.policies, "passing")
	case 3:
		if e := w.enactments[v1.EnactmentName(node, name)]; e != nil {
			w.approve(name)
		}
	case 4:
		if w.pending() {
			w.handle("Idle", v1.TransactionCommitted, false, "")
		}
	default:
		w.write(w.decide(), r.Intn(4))
	}
}
