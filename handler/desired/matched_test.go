package desired

import (
	"strings"
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// turns lets the world's decisions be carried out until there are none.
func (w *world) turns() {
	w.t.Helper()
	for range 10 {
		d := w.decide()
		if d.Empty() {
			return
		}
		w.write(d, 100)
	}
	w.t.Fatal("it does not come to rest")
}

func TestAMatchOfNothingIsAvailableAndSaysSo(t *testing.T) {
	w := newWorld(t)
	w.policy("a", `{}`, 0)
	w.policies["a"].MatchesNothing = true
	w.turns()
	w.approve("a")
	w.turns()
	w.handle("Idle", v1.TransactionCommitted, false, "")
	w.turns()
	const want = `g1 Available "successfully reconciled: no interface of this node matches spec.match" committed=g1`
	if got := standing(w.enactment("a").Status); got != want {
		t.Errorf("got %s", got)
	}
}

// What waits has no rendering yet: that of the generation before would be
// taken for its own by the next process.
func TestAGenerationThatWaitsDoesNotShowTheRenderingBefore(t *testing.T) {
	w := newWorld(t)
	w.policy("a", `interfaces: [{name: eth1}]`, 0)
	w.policies["a"].MatchedInterfaces = []string{"eth1"}
	w.policies["a"].Variables = map[string]string{"x": "1"}
	w.turns()
	w.approve("a")
	w.turns()
	shown := w.enactment("a").Status
	if shown.Hash == "" || strings.Join(shown.MatchedInterfaces, " ") != "eth1" || shown.Variables["x"] != "1" {
		t.Errorf("shown %+v", shown)
	}
	p := w.policies["a"]
	p.Generation++
	p.Rendering, p.MatchedInterfaces, p.Variables, p.Waiting = Rendering{}, nil, nil, "Waiting for something"
	w.turns()
	shown = w.enactment("a").Status
	if shown.PolicyGeneration != 2 || !shown.DesiredState.IsZero() || shown.Hash != "" || shown.MatchedInterfaces != nil || shown.Variables != nil {
		t.Errorf("shown %+v", shown)
	}
}
