package desired

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
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
		m.commit(held, proof{}, in.Now)
		m.status.PolicyGeneration, m.status.ObservedGeneration, m.status.Hash = 1, 1, rendering.Hash
		m.status.DesiredState = rendering.Document
		m.show(successRow(), in.Now)
		in.Enactments = append(in.Enactments, v1.NodeNetworkConfigurationEnactment{
			ObjectMeta: metav1.ObjectMeta{
				Name: v1.EnactmentName(node, name), Generation: 1, Labels: map[string]string{v1.EnactmentPolicyLabel: name},
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

// BenchmarkRenderAndMerge100Policies1000Interfaces is all that a node computes
// of 100 policies that it has not seen, each of which matches ten of the 1000
// interfaces that it reports.
func BenchmarkRenderAndMerge100Policies1000Interfaces(b *testing.B) {
	report := "interfaces:\n"
	for i := range 1000 {
		report += fmt.Sprintf("- {name: eth%d.%d, type: ethernet, state: up, mtu: 1500, driver: ixgbe, mac-address: \"02:00:00:00:00:01\", ipv4: {enabled: true, address: [{ip: 10.0.0.1, prefix-length: 24}]}}\n", i/10, i%10)
	}
	current := stateOf(b, report)
	wanted := stateOf(b, `interfaces: [{type: ethernet, state: up, mtu: "{{ var.mtu }}", description: "{{ match.name }} of rack {{ var.rack }}", ipv4: {enabled: true, dhcp: true}}]`).JSON()
	mtu, rack := "1400", "7"
	variables := map[string]v1.Variable{"mtu": {Default: &mtu}, "rack": {Default: &rack}}
	on := &corev1.Node{}
	b.ReportAllocs()
	for b.Loop() {
		var all []Contribution
		for p := range 100 {
			values, err := Variables(variables, on)
			if err != nil {
				b.Fatal(err)
			}
			matched, err := Match([]v1.InterfaceRule{{Name: fmt.Sprintf("eth%d.*", p), Driver: "ixgbe"}}, current, DefaultProtected())
			if err != nil {
				b.Fatal(err)
			}
			expanded, err := Expand(wanted, Templates{Variables: values, Matching: true, Matched: matched})
			if err != nil {
				b.Fatal(err)
			}
			rendering, err := Render(expanded, 0, true)
			if err != nil {
				b.Fatal(err)
			}
			all = append(all, Contribution{Policy: fmt.Sprint(p), Hash: rendering.Hash, State: rendering.State})
		}
		if merged, conflicts := Merge(all); len(conflicts) > 0 || len(merged.Interfaces()) != 1000 {
			b.Fatalf("%d interfaces, conflicts %v", len(merged.Interfaces()), conflicts)
		}
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
