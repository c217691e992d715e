package desired

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// many interfaces that a policy names, each with what makes a line of a plan.
func many(count int) state.State {
	var list []any
	for i := range count {
		list = append(list, map[string]any{"name": fmt.Sprintf("vlan%d", i), "type": "vlan", "state": "up", "mtu": json.Number("1400"),
			"description": strings.Repeat("x", 200), "vlan": map[string]any{"base-iface": "eth1", "id": json.Number(fmt.Sprint(i))}})
	}
	return state.FromTree(map[string]any{"interfaces": list})
}

func TestAPlanOfVeryManyInterfacesIsWithinItsBound(t *testing.T) {
	wanted := many(1500)
	got := Plan(wanted, wanted, stateOf(t, plannedNode), Undone{})
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", len(raw))
	if len(raw) > 256<<10 || len(got.Interfaces) != maxPlannedInterfaces {
		t.Errorf("%d interfaces in %d bytes", len(got.Interfaces), len(raw))
	}
	if last := got.Changes[len(got.Changes)-1]; last != "and 1300 more interfaces" {
		t.Errorf("the last line is %q", last)
	}
	tree := wanted.Tree()
	tree["interfaces"].([]any)[1499].(map[string]any)["mtu"] = json.Number("1401")
	other := state.FromTree(tree)
	if Plan(other, other, stateOf(t, plannedNode), Undone{}).Hash == got.Hash {
		t.Error("a change of what is left out has the same hash")
	}
}

func TestAPolicyThatNoEnactmentHoldsIsRefusedByName(t *testing.T) {
	if _, err := Render(many(1500).JSON(), 0, true); err != nil {
		t.Errorf("1,500 interfaces are refused: %v", err)
	}
	_, err := Render(many(2500).JSON(), 0, true)
	if err == nil || !strings.Contains(err.Error(), "divide it into several policies") {
		t.Errorf("error %v", err)
	}
}

// Each policy fits, and so does what the node has of the first; with the second one its
// NodeNetworkState would not.
func TestAPolicyForWhichTheNodesStateHasNoRoomIsRefusedAndTheOthersStay(t *testing.T) {
	part := func(name string) Policy {
		tree := many(1300).Tree()
		for _, one := range tree["interfaces"].([]any) {
			one.(map[string]any)["name"] = name + one.(map[string]any)["name"].(string)
		}
		made, err := Render(state.FromTree(tree).JSON(), 0, true)
		if err != nil {
			t.Fatal(err)
		}
		return Policy{Name: name, UID: "u", Generation: 1, Rendering: made}
	}
	first, second := part("a"), part("b")
	enactment := func(p Policy, committed *v1.CommittedPolicy) v1.NodeNetworkConfigurationEnactment {
		return v1.NodeNetworkConfigurationEnactment{
			ObjectMeta: metav1.ObjectMeta{Name: v1.EnactmentName("node1", p.Name), Labels: map[string]string{v1.EnactmentPolicyLabel: p.Name},
				OwnerReferences: []metav1.OwnerReference{{Kind: policyKind, Name: p.Name, UID: p.UID}}},
			Spec:   v1.NodeNetworkConfigurationEnactmentSpec{ApprovedGeneration: 1},
			Status: v1.NodeNetworkConfigurationEnactmentStatus{PolicyGeneration: 1, Hash: p.Hash, Committed: committed},
		}
	}
	source := v1.Source{Policy: "a", Generation: 1, Hash: first.Hash}
	in := Input{
		Node: "node1", NodeUID: "n", Now: time.Unix(1000, 0), Policies: []Policy{first, second},
		Enactments: []v1.NodeNetworkConfigurationEnactment{
			enactment(first, &v1.CommittedPolicy{Generation: 1, Hash: first.Hash, DesiredState: first.Document}), enactment(second, nil),
		},
		State: &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Generation: 1},
			Spec:   v1.NodeNetworkStateSpec{DesiredState: first.Document, Sources: []v1.DesiredSource{{Source: source}}},
			Status: v1.NodeNetworkStateStatus{ObservedGeneration: 1, AppliedSources: []v1.Source{source}, CurrentState: v1.NewState([]byte(`{"interfaces":[]}`))}},
	}
	decision := Decide(in)
	if decision.Spec != nil && decision.Spec.size() > maxSpec {
		t.Errorf("a spec of %d bytes is written", decision.Spec.size())
	}
	said := ""
	for _, write := range decision.Statuses {
		for _, c := range write.Status.Conditions {
			if c.Type == v1.EnactmentFailing && c.Status == yes {
				said += write.Name + ": " + c.Message
			}
		}
	}
	if !strings.HasPrefix(said, "node1.b: with policy b what the node's policies set comes to ") || !strings.Contains(said, "has room for 786432") {
		t.Errorf("said %q", said)
	}
}

func TestAThousandPoliciesFitOnANode(t *testing.T) {
	var all []Contribution
	for i := range 1000 {
		one := map[string]any{"name": fmt.Sprintf("vlan%d", i), "type": "vlan", "state": "up", "mtu": json.Number("1400"),
			"vlan": map[string]any{"base-iface": "eth1", "id": json.Number(fmt.Sprint(i))},
			"ipv4": map[string]any{"enabled": true, "dhcp": false, "address": []any{map[string]any{"ip": fmt.Sprintf("10.%d.%d.1", i/256, i%256), "prefix-length": json.Number("24")}}}}
		made, err := Render(state.FromTree(map[string]any{"interfaces": []any{one}}).JSON(), 0, true)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Contribution{Policy: fmt.Sprintf("policy-%d", i), Generation: 1, Hash: made.Hash, State: made.State})
	}
	merged := fold(all)
	made := &turn{in: Input{State: &v1.NodeNetworkState{}}, byName: map[string]*member{}}
	size := made.specOf(merged, nil).size()
	t.Logf("%d bytes", size)
	if len(merged.members) != 1000 || size > maxSpec {
		t.Errorf("%d policies come to %d bytes", len(merged.members), size)
	}
}
