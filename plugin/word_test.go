package main

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestWords(t *testing.T) {
	held := policyOf(v1.PolicyProgressing, "paused", v1.ReasonPaused)
	held.Spec.Rollout = &v1.Rollout{PauseAfterCanary: true}
	early := policyOf(v1.PolicyProgressing, "canary", v1.ReasonCanary)
	early.Spec.Rollout = &v1.Rollout{PauseAfterCanary: true}
	both := policyOf(v1.PolicyProgressing, "paused", v1.ReasonPaused)
	both.Spec.Rollout = &v1.Rollout{PauseAfterCanary: true, Paused: true}
	works := policyOf(v1.PolicyProgressing, "works", v1.ReasonConfigurationProgressing)
	waits := []client.Object{works, enactmentOf("node1", v1.EnactmentProgressing, confirmUntil)}
	failed := policyOf(v1.PolicyDegraded, "1/2 nodes failed", "")
	said := policyOf(v1.PolicyDegraded, "1/2 nodes failed", "")
	said.Spec.Mode = "Apply"
	planned := policyOf(v1.Planned, "", "")
	planned.Spec.Mode = modePlan
	unseen := policyOf(v1.PolicyDegraded, "", "")
	unseen.Generation = 2
	fails := []client.Object{enactmentOf("node1", v1.EnactmentFailing, "no"), enactmentOf("node2", v1.EnactmentAborted, "")}
	tests := map[string]struct {
		objects []client.Object
		args    string
		code    int
		says    string
		holds   func(*v1.NodeNetworkConfigurationPolicy) bool
	}{
		"a change is confirmed": {waits, "confirm mtu", 0, "policy mtu: generation 1 is confirmed, the change is kept on node1\n", func(p *v1.NodeNetworkConfigurationPolicy) bool {
			return p.Annotations[v1.ConfirmAnnotation] == "1"
		}},
		"a dry run confirms nothing": {waits, "confirm mtu --dry-run=server", 0, "server dry run", func(p *v1.NodeNetworkConfigurationPolicy) bool {
			return len(p.Annotations) == 0
		}},
		"nobody waits for a confirmation": {[]client.Object{works}, "confirm mtu", 1, "no node waits", func(p *v1.NodeNetworkConfigurationPolicy) bool {
			return len(p.Annotations) == 0
		}},
		"a rollout is paused":     {[]client.Object{works}, "pause mtu", 0, "policy mtu: paused", func(p *v1.NodeNetworkConfigurationPolicy) bool { return p.Spec.Rollout.Paused }},
		"it is paused already":    {[]client.Object{both}, "pause mtu", 0, "paused already", nil},
		"a canary pause is ended": {[]client.Object{held}, "resume mtu", 0, "policy mtu: resumed", func(p *v1.NodeNetworkConfigurationPolicy) bool { return !p.Spec.Rollout.PauseAfterCanary }},
		"of two pauses one is ended": {[]client.Object{both}, "resume mtu", 0, "it pauses after the canary nodes", func(p *v1.NodeNetworkConfigurationPolicy) bool {
			return !p.Spec.Rollout.Paused && p.Spec.Rollout.PauseAfterCanary
		}},
		"a pause that is to come stays": {[]client.Object{early}, "resume mtu", 1, "is not paused yet", func(p *v1.NodeNetworkConfigurationPolicy) bool {
			return p.Spec.Rollout.PauseAfterCanary
		}},
		"nothing is paused":          {[]client.Object{works}, "resume mtu", 0, "it is not paused", nil},
		"a dry run that there isn't": {[]client.Object{works}, "pause mtu --dry-run=client", 2, "there are none and server", nil},
		"a failed policy is tried again": {append(fails, failed), "retry mtu", 0, "policy mtu: generation 2 is a new try on node1, node2\n", func(p *v1.NodeNetworkConfigurationPolicy) bool {
			return p.Spec.Mode == "Apply"
		}},
		"and again": {append(fails, said), "retry mtu", 0, "is a new try on node1, node2", func(p *v1.NodeNetworkConfigurationPolicy) bool { return p.Spec.Mode == "" }},
		"one that fails nowhere is not tried again": {[]client.Object{failed}, "retry mtu", 0, "it fails on no node", func(p *v1.NodeNetworkConfigurationPolicy) bool { return p.Spec.Mode == "" }},
		"a plan is not tried again":                 {[]client.Object{planned}, "retry mtu", 1, "nothing to try", func(p *v1.NodeNetworkConfigurationPolicy) bool { return p.Spec.Mode == modePlan }},
		"an edit is a new try already":              {append(fails, unseen), "retry mtu", 0, "generation 2 is a new try already", func(p *v1.NodeNetworkConfigurationPolicy) bool { return p.Spec.Mode == "" }},
		"no policy is named":                        {nil, "confirm", 2, "accepts 1 arg", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			for _, object := range tc.objects {
				objects = append(objects, object.DeepCopyObject().(client.Object))
			}
			got, api := run(t, objects, "", strings.Fields(tc.args)...)
			if got.code != tc.code || !strings.Contains(got.out+got.err, tc.says) {
				t.Errorf("exit code %d, want %d\n%s%s\nwant: %s", got.code, tc.code, got.out, got.err, tc.says)
			}
			if tc.holds == nil {
				return
			}
			var policy v1.NodeNetworkConfigurationPolicy
			if err := api.Get(t.Context(), client.ObjectKey{Name: "mtu"}, &policy); err != nil {
				t.Fatal(err)
			}
			if !tc.holds(&policy) {
				t.Errorf("the policy is %+v %+v", policy.Annotations, policy.Spec.Rollout)
			}
		})
	}
}

func TestLint(t *testing.T) {
	tests := map[string]struct {
		input, args string
		code        int
		out, err    string
	}{
		"what is right":      {"interfaces: []\n", "lint -f -", 0, "", "documents checked: 1, mistakes found: 0"},
		"what is wrong":      {"a: 1\n", "lint -f -", 1, "-:1: unknown key \"a\"", "mistakes found: 1"},
		"for a script":       {"a: 1\n", "lint -f - -o json", 1, `"line": 1`, ""},
		"a kind of others":   {"kind: Pod\n", "lint -f -", 0, "", "-: a Pod is not checked"},
		"no file":            {"", "lint", 2, "", "which file?"},
		"a file that is not": {"", "lint -f /nowhere.yaml", 1, "", "reading what to check"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, _ := run(t, nil, tc.input, strings.Fields(tc.args)...)
			if got.code != tc.code || !strings.Contains(got.out, tc.out) || !strings.Contains(got.err, tc.err) {
				t.Errorf("exit code %d, want %d\nout: %s\nerr: %s", got.code, tc.code, got.out, got.err)
			}
		})
	}
}
