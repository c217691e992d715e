package scale

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

// The whole of it is hack/bench.sh --only scale.
func TestARolloutCostsEachNodeTheSame(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	audit := filepath.Join(t.TempDir(), "audit.log")
	plane := controlplanetest.Start(t, os.Getenv, controlplane.Options{CRDs: "../../deploy/crds", AuditLog: audit})
	config, err := plane.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	bench, err := New(config, audit, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	costs, err := bench.Measure(t.Context(), 10, 30)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + Table(costs))
	// Of a new policy a node that waits for two seconds says so, once: between
	// two counts as small as these that may be a tenth already.
	edits := slices.DeleteFunc(costs, func(c Cost) bool { return c.What != "edit" })
	if err := Flat(edits); err != nil {
		t.Error(err)
	}
}

func TestFlatIsWithinTenPercent(t *testing.T) {
	cost := func(what string, nodes, requests int) Cost {
		return Cost{What: what, Nodes: nodes, Requests: map[string]int{"get": requests}}
	}
	for sentence, test := range map[string]struct {
		costs []Cost
		want  string
	}{
		"the same for each node is flat":           {costs: []Cost{cost("create", 10, 100), cost("create", 100, 1000)}},
		"a tenth more is flat":                     {costs: []Cost{cost("create", 10, 100), cost("create", 100, 1100)}},
		"more than that is not, whichever is more": {costs: []Cost{cost("edit", 10, 120), cost("edit", 100, 1000)}, want: "edit: 10.00 requests per node for 100 nodes, 12.00 for 10: not flat within 10 %"},
		"kinds are not compared with each other":   {costs: []Cost{cost("create", 10, 100), cost("edit", 10, 50)}},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := ""
			if err := Flat(test.costs); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("want %q, got %q", test.want, got)
			}
		})
	}
}
