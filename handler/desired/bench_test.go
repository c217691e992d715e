package desired

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// manyPolicies is a node on which policies x interfaces are committed.
func manyPolicies(b *testing.B, policies, interfaces int) (Input, []Contribution) {
	in := Input{Node: node, Now: time.Unix(1_000_000, 0), State: &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Generation: 7}}}
	in.State.Status.ObservedGeneration = 7
	var all []Contribution
	for p := range policies {
		text := "interfaces:\n"
		for i := range interfaces {
			text += fmt.Sprintf("- {name: eth%d.%d, type: vlan, state: up, mtu: 1400, vlan: {id: %d, base-iface: eth%d}, ipv4: {enabled: true, address: [{ip: 10.%d.%d.1, prefix-length: 24}]}}\n", p, i, i+2, p, p, i)
		}
		rendering, err := Render(stateOf(b, text).JSON(), 0, true)
		if err != nil {
			b.Fatal(err)
		}
		name := fmt.Sprintf("policy-%03d", p)
		policy := Policy{Name: name, UID: types.UID(name), Generation: 1, Created: in.Now, Rendering: rendering}
		in.Policies = append(in.Policies, policy)
		m := member{name: name, policy: &policy}
		held := m.rendered()
		all = append(all, held)
		m.commit(held, nil, in.Now)
		m.status.PolicyGeneration, m.status.ObservedGeneration, m.status.Hash = 1, 1, rendering.Hash
		m.status.DesiredState = rendering.Document
		m.show(successRow(), in.Now)
		in.Enactments = append(in.Enactments, v1.NodeNetworkConfigurationEnactment{
			ObjectMeta: metav1.ObjectMeta{
				Name: v1.EnactmentName(node, name), Generation: 1,
				OwnerReferences: []metav1.OwnerReference{{Kind: policyKind, Name: name, UID: policy.UID}},
			},
			Spec:   v1.NodeNetworkConfigurationEnactmentSpec{ApprovedGeneration: 1},
			Status: m.status,
		})
	}
	merged := fold(all)
	in.State.Spec.DesiredState, in.State.Spec.Sources = v1.NewState(merged.state.JSON()), (&turn{in: in}).sourcesOf(merged)
	return in, all
}

func BenchmarkMerge100Policies1000Interfaces(b *testing.B) {
	_, all := manyPolicies(b, 100, 10)
	b.ReportAllocs()
	for b.Loop() {
		Merge(all)
	}
}

func BenchmarkDecideQuiet100Policies1000Interfaces(b *testing.B) {
	in, _ := manyPolicies(b, 100, 10)
	b.ReportAllocs()
	for b.Loop() {
		if d := Decide(in); !d.Empty() {
			b.Fatalf("not quiet: %v", d.Notes)
		}
	}
}

func BenchmarkDecideNextPolicyOf100(b *testing.B) {
	in, _ := manyPolicies(b, 100, 10)
	in.Policies[50].Hash = "changed"
	in.Enactments[50].Spec.ApprovedHash = "changed"
	b.ReportAllocs()
	for b.Loop() {
		if d := Decide(in); d.Spec == nil || d.Spec.Policy != "policy-050" {
			b.Fatalf("not chosen: %v", d.Notes)
		}
	}
}

func BenchmarkDecideOnePolicy(b *testing.B) {
	in, _ := manyPolicies(b, 1, 1)
	b.ReportAllocs()
	for b.Loop() {
		Decide(in)
	}
}
