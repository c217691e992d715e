package fault_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/fault"
)

func TestFaultsThatMeet(t *testing.T) {
	const at = 2 * time.Second
	tests := map[string]struct {
		plan fault.Plan
		want []string
	}{
		"two, while one lasts": {
			fault.Plan{{ID: 1, Kind: "nm-hang", Target: "node1", At: at, For: 3 * time.Second}, {ID: 2, Kind: "reboot", Target: "node1", At: 2 * at}},
			[]string{"nm-hang+reboot"},
		},
		"three, one soon after the other": {
			fault.Plan{{ID: 1, Kind: "reboot", Target: "node1", At: at}, {ID: 2, Kind: "drift", Target: "node1", At: at + 1}, {ID: 3, Kind: "crash", Target: "node1", At: at + 2}},
			[]string{"crash+drift", "crash+drift+reboot", "crash+reboot", "drift+reboot"},
		},
		"not on another node": {
			fault.Plan{{ID: 1, Kind: "reboot", Target: "node1", At: at}, {ID: 2, Kind: "drift", Target: "node2", At: at}}, nil,
		},
		"nor with one of its own kind": {
			fault.Plan{{ID: 1, Kind: "reboot", Target: "node1", At: at}, {ID: 2, Kind: "reboot", Target: "node1", At: at}}, nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, injector := toy(t, test.plan)
			var met []string
			for names := range injector.Met() {
				met = append(met, names)
			}
			slices.Sort(met)
			if !slices.Equal(met, test.want) {
				t.Errorf("%v, want %v", met, test.want)
			}
		})
	}
}

func TestWhatPeopleDoNeverMetUntilItDid(t *testing.T) {
	met := fault.Met{}
	for _, apart := range met.Apart() {
		names := strings.Split(apart, " while ")
		slices.Sort(names)
		met.Add(fault.Met{strings.Join(names, "+"): 1})
	}
	if apart := met.Apart(); len(apart) > 0 {
		t.Error(apart)
	}
	var table strings.Builder
	if err := met.Table(&table); err != nil || !strings.Contains(table.String(), "label-moved") {
		t.Error(err, table.String())
	}
}

func TestLeanKindsAreDrawnInLeanRunsOnly(t *testing.T) {
	for seed := range uint64(60) {
		for _, f := range drawnFor(seed, false) {
			if kind, _ := fault.Find(f.Kind); kind.Lean {
				t.Errorf("seed %d: %s", seed, f)
			}
		}
	}
}
