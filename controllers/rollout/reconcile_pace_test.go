package rollout

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// many are nodes n000 and so on, none of which has begun.
func many(count int) []on {
	nodes := make([]on, count)
	for i := range nodes {
		nodes[i] = on{name: fmt.Sprintf("n%03d", i)}
	}
	return nodes
}

func TestAPolicyOfManyNodesRestsBetweenTwoPlans(t *testing.T) {
	s := newStage(t, 1, many(manyNodes)...)
	rest := manyNodes * restPerNode
	s.expect([]string{`n000.p {"spec":{"approvedGeneration":3}}`, "p status"}, 0)
	s.report("n000", v1.EnactmentAvailable)
	s.clock.Step(time.Millisecond)
	s.expect(nil, rest-time.Millisecond)
	s.clock.Step(rest - time.Millisecond)
	s.expect([]string{`n001.p {"spec":{"approvedGeneration":3}}`}, statusPause-rest)

	s.clock.Step(statusPause) // The first change after a rest waits for nothing.
	s.report("n001", v1.EnactmentAvailable)
	s.expect([]string{`n002.p {"spec":{"approvedGeneration":3}}`, "p status"}, 0)
}

func TestAPolicyOfFewNodesDoesNotRest(t *testing.T) {
	s := newStage(t, 1, many(manyNodes-1)...)
	s.expect([]string{`n000.p {"spec":{"approvedGeneration":3}}`, "p status"}, 0)
	s.report("n000", v1.EnactmentAvailable)
	s.expect([]string{`n001.p {"spec":{"approvedGeneration":3}}`}, statusPause)
}

// TestAPlanThatFailedDoesNotRest: the queue spaces the tries, and forgets how often it
// has where a turn succeeds by doing nothing.
func TestAPlanThatFailedDoesNotRest(t *testing.T) {
	s := newStage(t, 1, many(manyNodes)...)
	s.refused = map[string]bool{"n000.p": true}
	request := reconcile.Request{NamespacedName: types.NamespacedName{Name: "p"}}
	for range 2 {
		if result, err := s.reconciler.Reconcile(t.Context(), request); err == nil {
			t.Fatalf("a grant is not written, and the turn says %+v", result)
		}
	}
}
