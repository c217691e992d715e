package skipped

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/ginkgo/v2/types"
)

func spec(state types.SpecState, message string, names ...string) types.SpecReport {
	last := len(names) - 1
	return types.SpecReport{
		State: state, Failure: types.Failure{Message: message},
		ContainerHierarchyTexts: names[:last], LeafNodeText: names[last],
	}
}

func TestLines(t *testing.T) {
	for sentence, c := range map[string]struct {
		specs []types.SpecReport
		want  string
	}{
		"no spec, no line": {},
		"a spec that passed or failed has no line": {
			specs: []types.SpecReport{spec(types.SpecStatePassed, "", "passes"), spec(types.SpecStateFailed, "want a, got b", "fails")},
		},
		"a spec that another run of the suite has was skipped for no reason": {
			specs: []types.SpecReport{spec(types.SpecStateSkipped, "", "not chosen")},
		},
		// hack/testsummary reads these.
		"a skipped spec has its reason and its whole name on a line of its own": {
			specs: []types.SpecReport{
				spec(types.SpecStateSkipped, "needs bond:\n  no (such)\tlink\n", "Example", "103-bond comes (late)"),
				spec(types.SpecStatePassed, "", "passes"),
				spec(types.SpecStateSkipped, "needs vrf: not supported", "Example", "vrf"),
			},
			want: "\n[SKIPPED] needs bond: no (such) link (spec: Example 103-bond comes (late))" +
				"\n[SKIPPED] needs vrf: not supported (spec: Example vrf)",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Lines(types.Report{SpecReports: c.specs})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
