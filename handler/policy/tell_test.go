package policy

import (
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

func TestWhoIsOverruledReadsWhy(t *testing.T) {
	for sentence, c := range map[string]struct {
		managers []string
		spec     desired.Spec
		want     string
	}{
		"policies own it": {
			[]string{"kubectl", "argo"},
			desired.Spec{Sources: []v1.DesiredSource{{Source: v1.Source{Policy: "a"}}, {Source: v1.Source{Policy: "b"}}}, Policy: "b"},
			"spec.desiredState was written by kubectl, argo and is replaced: the policies own it (a, b)",
		},
		"the last policy is leaving": {
			[]string{"kubectl"},
			desired.Spec{Policy: "a"},
			"spec.desiredState was written by kubectl and is replaced: policy a has to leave the node first, and what was written failed together with that; write it again when the policy's enactment is gone",
		},
		"nobody is known": {nil, desired.Spec{}, "spec.desiredState was written by somebody and is replaced: the policies own it (that match the node)"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := overruled(c.managers, &c.spec); got != c.want {
				t.Errorf("told %q, want %q", got, c.want)
			}
		})
	}
}
