package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// planning is a cluster whose only node answers a policy in mode Plan like this.
func planning(t *testing.T, answer func(*v1.NodeNetworkConfigurationPolicy) v1.EnactmentPlan, there ...client.Object) client.Client {
	t.Helper()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(there...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, api client.WithWatch, object client.Object, options ...client.CreateOption) error {
			policy, is := object.(*v1.NodeNetworkConfigurationPolicy)
			if is && policy.Spec.Mode == modePlan && answer != nil {
				policy.Status.Conditions = []v1.Condition{{Type: v1.Planned, Status: metav1.ConditionTrue}}
				plan := answer(policy)
				enactment := enactmentOf("node1", v1.Planned, "")
				enactment.Name, enactment.Labels[v1.EnactmentPolicyLabel] = "node1."+policy.Name, policy.Name
				enactment.Status.PolicyGeneration, enactment.Status.Plan = 0, &plan
				if err := api.Create(ctx, enactment); err != nil {
					return err
				}
			}
			return api.Create(ctx, object, options...)
		},
	}).Build()
}

// runOn runs a command against a cluster.
func runOn(ctx context.Context, api client.Client, args ...string) ran {
	var out, errOut bytes.Buffer
	p := newPlugin(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, clock.RealClock{})
	p.connect = func() (client.Client, error) { return api, nil }
	p.follow = func(context.Context, string) (client.Reader, <-chan struct{}, error) { return api, nil, nil }
	cmd := p.command()
	cmd.SetArgs(args)
	code := p.code(cmd.ExecuteContext(ctx))
	return ran{out.String(), errOut.String(), code}
}

const mtuPolicy = `apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: mtu}
spec:
  mode: Apply
  planHashes: [0123456789abcdef]
  desiredState: {interfaces: [{name: eth1, type: ethernet, state: up, mtu: 1400}]}
`

func fileOf(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestPlanLeavesNothingBehind(t *testing.T) {
	changes := v1.EnactmentPlan{Hash: "aa", Disruption: v1.DisruptionReapply, Interfaces: []v1.PlannedInterface{{Name: "eth1", Disruption: v1.DisruptionReapply, Reason: "settings change", Changes: []string{"mtu: 1500 -> 1400"}}}}
	same := v1.EnactmentPlan{Hash: "bb", Disruption: v1.DisruptionNone}
	existing := policyOf(v1.PolicyAvailable, "", "")
	existing.Spec.PlanHashes = []string{"1"}
	planned := policyOf(v1.Planned, "", "")
	planned.Spec.Mode = modePlan
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tests := map[string]struct {
		ctx    context.Context
		answer *v1.EnactmentPlan
		there  []client.Object
		args   string
		code   int
		out    string
		err    string
		// made: policies in mode Plan are made for it.
		made int
	}{
		"a file that changes something":        {nil, &changes, nil, "plan -f FILE", 1, "mtu: 1500 -> 1400", "", 1},
		"a file that changes nothing":          {nil, &same, nil, "plan -f FILE", 0, "nothing would change on 1 node", "", 1},
		"an edit of a policy":                  {nil, &changes, []client.Object{existing}, "plan -f FILE -o json", 1, `"hash": "aa"`, "", 1},
		"a policy that is there":               {nil, &same, []client.Object{existing}, "plan mtu", 0, "nothing would change", "", 1},
		"a policy in mode Plan":                {nil, nil, []client.Object{planned}, "plan mtu", 0, "mtu  no plan", "", 0},
		"nodes that do not answer":             {nil, nil, nil, "plan -f FILE --timeout 1ms", 2, "mtu  no plan", "no answer after 1ms", 1},
		"somebody ends it":                     {ended, nil, nil, "plan -f FILE", 2, "", "interrupted", 1},
		"a policy that there is not":           {nil, nil, nil, "plan mtu", 2, "", "reading policy mtu", 0},
		"a file that a node would refuse":      {nil, nil, nil, "plan -f WRONG", 2, "", `unknown key "mut"`, 0},
		"a file without a policy":              {nil, nil, nil, "plan -f EMPTY", 2, "", "there is no policy in it", 0},
		"neither a file nor a policy":          {nil, nil, nil, "plan", 2, "", "give -f FILE or the name", 0},
		"no time at all":                       {nil, nil, nil, "plan mtu --timeout 0s", 2, "", "want more than 0", 0},
		"an output that there is not":          {nil, nil, nil, "plan mtu -o wide", 2, "", "there are json and yaml", 0},
		"a file and a policy at the same time": {nil, nil, nil, "plan mtu -f FILE", 2, "", "give -f FILE or the name", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var made []v1.NodeNetworkConfigurationPolicy
			var api client.Client
			answer := func(policy *v1.NodeNetworkConfigurationPolicy) v1.EnactmentPlan { return *tc.answer }
			if tc.answer == nil {
				answer = nil
			}
			api = interceptor.NewClient(planning(t, answer, tc.there...).(client.WithWatch), interceptor.Funcs{
				Create: func(ctx context.Context, api client.WithWatch, object client.Object, options ...client.CreateOption) error {
					if ctx.Err() != nil {
						return ctx.Err()
					}
					made = append(made, *object.(*v1.NodeNetworkConfigurationPolicy))
					return api.Create(ctx, object, options...)
				},
				Delete: func(ctx context.Context, api client.WithWatch, object client.Object, options ...client.DeleteOption) error {
					if ctx.Err() != nil {
						return ctx.Err()
					}
					return api.Delete(ctx, object, options...)
				},
			})
			ctx := t.Context()
			if tc.ctx != nil {
				ctx = tc.ctx
			}
			args := strings.NewReplacer("FILE", fileOf(t, mtuPolicy), "WRONG", fileOf(t, strings.Replace(mtuPolicy, "mtu: 1400", "mut: 1400", 1)), "EMPTY", fileOf(t, "kind: Pod\napiVersion: v1\n")).Replace(tc.args)
			got := runOn(ctx, api, strings.Fields(args)...)
			if got.code != tc.code || !strings.Contains(got.out, tc.out) || !strings.Contains(got.err, tc.err) {
				t.Errorf("exit code %d, want %d\nout: %s\nwant: %s\nerr: %s\nwant: %s", got.code, tc.code, got.out, tc.out, got.err, tc.err)
			}
			if len(made) != tc.made {
				t.Errorf("policies made: %d, want %d", len(made), tc.made)
			}
			for _, one := range made {
				if one.Spec.Mode != modePlan || one.Annotations[v1.PlanOfAnnotation] != "mtu" || len(one.Spec.PlanHashes) > 0 || !strings.HasPrefix(one.Name, "mtu-plan-") {
					t.Errorf("it made %s: mode %s, annotations %v", one.Name, one.Spec.Mode, one.Annotations)
				}
			}
			var left v1.NodeNetworkConfigurationPolicyList
			if err := api.List(t.Context(), &left); err != nil {
				t.Fatal(err)
			}
			if len(left.Items) != len(tc.there) {
				t.Errorf("policies left: %v", left.Items)
			}
			for _, one := range left.Items {
				if one.ResourceVersion != "999" {
					t.Errorf("policy %s was written", one.Name)
				}
			}
		})
	}
}
