//go:build linux

package page

import (
	"fmt"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// bonded is what a node with a bond over two switches reports.
const bonded = `{"interfaces":[
	{"name":"eth0","type":"ethernet","state":"up","mtu":1500,"mac-address":"02:00:00:00:01:01","controller":"bond0","lldp":{"enabled":true,"neighbors":[[{"system-name":"tor-a"},{"chassis-id":"02:00:00:00:00:0a"},{"port-id":"swp7"}]]}},
	{"name":"eth1","type":"ethernet","state":"up","mtu":1500,"mac-address":"02:00:00:00:01:01","controller":"bond0","lldp":{"enabled":true,"neighbors":[[{"system-name":"tor-b"},{"chassis-id":"02:00:00:00:00:0b"},{"port-id":"swp7"}]]}},
	{"name":"eth2","type":"ethernet","state":"up","mtu":1500,"mac-address":"02:00:00:00:01:03","controller":"br1"},
	{"name":"bond0","type":"bond","state":"up","mtu":1500,"link-aggregation":{"mode":"active-backup","port":["eth0","eth1"]}},
	{"name":"bond0.100","type":"vlan","state":"up","mtu":1500,"vlan":{"base-iface":"bond0","id":100},"ipv4":{"enabled":true,"address":[{"ip":"192.0.2.11","prefix-length":24}]}},
	{"name":"bond0.200","type":"vlan","state":"up","mtu":1400,"vlan":{"base-iface":"bond0","id":200},"controller":"br1"},
	{"name":"br1","type":"linux-bridge","state":"up","mtu":1400,"bridge":{"port":[{"name":"eth2"},{"name":"bond0.200"}]},"ipv4":{"enabled":true,"address":[{"ip":"198.51.100.11","prefix-length":24}]}}],
	"routes":{"running":[{"destination":"0.0.0.0/0","next-hop-interface":"bond0.100","next-hop-address":"192.0.2.1","table-id":254}]}}`

// put makes an object with its status.
func put(t *testing.T, api client.Client, object client.Object) {
	t.Helper()
	full, is := object.DeepCopyObject().(client.Object)
	if !is {
		t.Fatalf("%T is no object", object)
	}
	if err := api.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	full.SetResourceVersion(object.GetResourceVersion())
	if err := api.Status().Update(t.Context(), full); err != nil {
		t.Fatal(err)
	}
}

func nodeState(name string) *v1.NodeNetworkState {
	nns := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: name}}
	nns.Status.CurrentState = v1.NewState([]byte(bonded))
	nns.Status.Conditions = []v1.Condition{{Type: v1.StateAvailable, Status: metav1.ConditionTrue, Reason: v1.ReasonReported}}
	return nns
}

// fleet makes a rollout in the middle, one node that failed, drift, a plan, and as many
// nodes as are missing to a thousand.
func fleet(t *testing.T, api client.Client) {
	t.Helper()
	raw, err := os.ReadFile("../../docs/demos/state.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var demo v1.NodeNetworkState
	if err := yaml.UnmarshalStrict(raw, &demo); err != nil {
		t.Fatal(err)
	}
	demo.ObjectMeta = metav1.ObjectMeta{Name: "node1"}
	put(t, api, &demo)
	ago := func(seconds int) metav1.Time {
		return metav1.NewTime(time.Now().Add(-time.Duration(seconds) * time.Second).Truncate(time.Second))
	}
	drifted := nodeState("node2")
	drifted.Spec.Sources = []v1.DesiredSource{{Source: v1.Source{Policy: "storage", Generation: 1, Hash: "1"}, Paths: []string{"interfaces[br1]", "interfaces[bond0.100].mtu"}}}
	drifted.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","mtu":1500}]}`))
	drifted.Status.Before = []v1.Before{{Of: "interfaces[br1]", Was: v1.NewState([]byte(`{"state":"up","mtu":9000}`)), Unset: []string{"description"}}}
	drifted.Status.Drift = []v1.Drift{{Path: "interfaces[br1].mtu", Expected: "1500", Found: "1400", Policy: "storage", Action: "Reported", Since: ago(90)}}
	drifted.Status.History = []v1.PastTransaction{
		{Ended: ago(300), Since: ago(304), Policy: "storage", PolicyGeneration: 1, Result: v1.TransactionCommitted},
		{Ended: ago(900), Since: ago(910), Policy: "storage", PolicyGeneration: 1, Result: v1.TransactionRolledBack, Message: "probing for 6s: dns: no answer"},
	}
	put(t, api, drifted)
	for i := 3; i <= 1000; i++ {
		put(t, api, nodeState(fmt.Sprintf("node%d", i)))
	}
	policies(t, api, ago)
}

// putCareful makes a policy whose change on a node waits for a person.
func putCareful(t *testing.T, api client.Client, node string) {
	t.Helper()
	careful := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "careful"}}
	careful.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[{"name":"eth1","mtu":1400}]}`))
	careful.Status.ObservedGeneration = 1
	careful.Status.Conditions = []v1.Condition{{Type: v1.PolicyProgressing, Status: metav1.ConditionTrue, Reason: v1.ReasonConfigurationProgressing}}
	put(t, api, careful)
	waits := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{Name: node + ".careful", Labels: map[string]string{v1.EnactmentPolicyLabel: "careful", v1.EnactmentNodeLabel: node}}}
	waits.Spec.ApprovedGeneration, waits.Status.PolicyGeneration = 1, 1
	waits.Status.Conditions = []v1.Condition{{Type: v1.EnactmentProgressing, Status: metav1.ConditionTrue, Reason: "Test", Message: "Applying desired state: waiting for confirmation until 23:59:59Z: kubectl annotate"}}
	put(t, api, waits)
}

func policies(t *testing.T, api client.Client, ago func(int) metav1.Time) {
	t.Helper()
	storage := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "storage"}}
	storage.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","mtu":1500}]}`))
	storage.Status.ObservedGeneration, storage.Status.Nodes = 1, "1/4"
	storage.Status.Slots = &v1.PolicySlots{Limit: 2, Taken: 2, Holders: []string{"node3", "node4"}}
	storage.Status.Conditions = []v1.Condition{
		{Type: v1.PolicyProgressing, Status: metav1.ConditionTrue, Reason: v1.ReasonConfigurationProgressing, Message: "Policy is progressing 1/4 nodes finished, 1 pending"},
		{Type: v1.Reconciling, Status: metav1.ConditionTrue, Reason: v1.ReasonConfigurationProgressing},
	}
	put(t, api, storage)
	putCareful(t, api, "node6")
	later := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "later"}}
	later.Spec.DesiredState, later.Spec.Mode = storage.Spec.DesiredState, "Plan"
	later.Status.ObservedGeneration = 1
	later.Status.Conditions = []v1.Condition{{Type: v1.Planned, Status: metav1.ConditionTrue, Reason: "Planned"}}
	put(t, api, later)
	on := func(node, policy string, kind v1.ConditionType, message string, began, ended int) *v1.NodeNetworkConfigurationEnactment {
		e := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{Name: node + "." + policy, Labels: map[string]string{v1.EnactmentPolicyLabel: policy, v1.EnactmentNodeLabel: node}}}
		e.Spec.ApprovedGeneration, e.Status.PolicyGeneration = 1, 1
		e.Status.Conditions = []v1.Condition{
			{Type: kind, Status: metav1.ConditionTrue, Reason: "Test", Message: message, LastTransitionTime: ago(ended)},
		}
		if kind != v1.EnactmentPending {
			e.Status.Conditions = append(e.Status.Conditions, v1.Condition{Type: v1.EnactmentPending, Status: metav1.ConditionFalse, LastTransitionTime: ago(began)})
		}
		return e
	}
	put(t, api, on("node2", "storage", v1.EnactmentAvailable, "successfully reconciled", 120, 110))
	put(t, api, on("node3", "storage", v1.EnactmentFailing, "probing for 6s: dns: no answer", 105, 80))
	put(t, api, on("node4", "storage", v1.EnactmentProgressing, "Applying desired state", 40, 40))
	put(t, api, on("node5", "storage", v1.EnactmentPending, "Waiting for progressing nodes to finish", 1, 1))
	for _, node := range []string{"node2", "node3"} {
		planned := on(node, "later", v1.Planned, "", 9, 9)
		planned.Status.Plan = &v1.EnactmentPlan{Hash: "796f18c27b3f5cd9", Disruption: "LinkFlap", Interfaces: []v1.PlannedInterface{{Name: "br1", Disruption: "LinkFlap", Reason: "its MTU changes", Changes: []string{"mtu: 1400 -> 1500"}}}}
		put(t, api, planned)
	}
}
