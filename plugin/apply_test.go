package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestApply(t *testing.T) {
	existing := policyOf(v1.PolicyAvailable, "", "")
	existing.Labels, existing.Spec.Priority = map[string]string{"team": "net"}, 7
	tests := map[string]struct {
		there []client.Object
		args  string
		code  int
		says  string
		// hashes and priority of the policy afterwards, nil where there is none.
		want *v1.NodeNetworkConfigurationPolicySpec
	}{
		"a new policy":                        {nil, "apply -f FILE", 0, "policy mtu: created", &v1.NodeNetworkConfigurationPolicySpec{Mode: "Apply", PlanHashes: []string{"0123456789abcdef"}}},
		"what was reviewed":                   {nil, "apply -f FILE --plan aa --plan bb", 0, "created; a node applies it only if its plan is aa or bb", &v1.NodeNetworkConfigurationPolicySpec{Mode: "Apply", PlanHashes: []string{"aa", "bb"}}},
		"the spec of the file, whole":         {[]client.Object{existing}, "apply -f FILE --plan aa", 0, "policy mtu:", &v1.NodeNetworkConfigurationPolicySpec{Mode: "Apply", PlanHashes: []string{"aa"}}},
		"only asked":                          {nil, "apply -f FILE --dry-run=server", 0, "created (server dry run: nothing is changed)", nil},
		"one plan for two policies":           {nil, "apply -f TWO --plan aa", 2, "--plan is for one policy", nil},
		"a file that a node would refuse":     {nil, "apply -f WRONG", 1, "mistakes found: 1", nil},
		"no file":                             {nil, "apply", 2, "which file?", nil},
		"a dry run that there is not":         {nil, "apply -f FILE --dry-run=client", 2, "there are none and server", nil},
		"a file that there is not":            {nil, "apply -f /nowhere", 1, "no such file", nil},
		"a policy without a name in the file": {nil, "apply -f NAMELESS", 1, "has no metadata.name", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files := strings.NewReplacer("FILE", fileOf(t, mtuPolicy), "TWO", fileOf(t, mtuPolicy+"---\n"+mtuPolicy),
				"WRONG", fileOf(t, strings.Replace(mtuPolicy, "mtu: 1400", "mut: 1400", 1)), "NAMELESS", fileOf(t, strings.Replace(mtuPolicy, "{name: mtu}", "{}", 1)))
			got, api := run(t, tc.there, "", strings.Fields(files.Replace(tc.args))...)
			if got.code != tc.code || !strings.Contains(got.out+got.err, tc.says) {
				t.Errorf("exit code %d, want %d\nout: %s\nerr: %s\nwant: %s", got.code, tc.code, got.out, got.err, tc.says)
			}
			var policy v1.NodeNetworkConfigurationPolicy
			err := api.Get(t.Context(), client.ObjectKey{Name: "mtu"}, &policy)
			if tc.want == nil {
				if err == nil {
					t.Error("it was written")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			policy.Spec.DesiredState = v1.State{}
			if diff := cmp.Diff(*tc.want, policy.Spec); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if tc.there != nil && policy.Labels["team"] != "net" {
				t.Error("its labels are lost")
			}
		})
	}
}
