package idle

import (
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestWhichPolicyAChangeIsFor(t *testing.T) {
	of := func(policy, hash string) v1.DesiredSource {
		return v1.DesiredSource{Source: v1.Source{Policy: policy, Generation: 1, Hash: hash}}
	}
	committed := []v1.DesiredSource{of("a", "h"), of("b", "h")}
	for name, c := range map[string]struct {
		spec v1.NodeNetworkStateSpec
		want string
	}{
		"one has changed": {v1.NodeNetworkStateSpec{Sources: []v1.DesiredSource{of("a", "h"), of("b", "i")}}, "b"},
		"one comes":       {v1.NodeNetworkStateSpec{Sources: []v1.DesiredSource{of("a", "h"), of("b", "h"), of("c", "h")}}, "c"},
		"one has changed, and another comes back": {v1.NodeNetworkStateSpec{Policy: "b", Sources: []v1.DesiredSource{of("z", "h"), of("a", "h"), of("b", "i")}}, "b"},
		"one leaves":                               {v1.NodeNetworkStateSpec{Policy: "b", Sources: []v1.DesiredSource{of("a", "h")}}, ""},
		"one leaves, and another comes back":       {v1.NodeNetworkStateSpec{Policy: "b", Sources: []v1.DesiredSource{of("z", "h"), of("a", "h")}}, "z"},
		"somebody has written the sources by hand": {v1.NodeNetworkStateSpec{Policy: "a", Sources: []v1.DesiredSource{of("a", "h"), of("b", "i")}}, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ChangedPolicy(c.spec.Policy, c.spec.Sources, committed); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
