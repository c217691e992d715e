package view

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestFailures(t *testing.T) {
	later := metav1.NewTime(now().Add(time.Minute))
	tests := map[string]struct {
		message string
		status  func(*v1.NodeNetworkConfigurationEnactmentStatus)
		want    []string
	}{
		"a lost probe": {
			"probing for 6s: ping 192.0.2.99: no answer",
			func(s *v1.NodeNetworkConfigurationEnactmentStatus) {
				s.GuardedBy, s.Rollback = []string{"dns", "ping 192.0.2.99"}, &v1.EnactmentRollback{Result: "RolledBack"}
			},
			[]string{
				"mtu on node1  Failing  step probing",
				"  evidence  probing for 6s: ping 192.0.2.99: no answer",
				"  guards    dns, ping 192.0.2.99",
				"  the node  it took the change back, everything is as before",
				"  again     not by itself: an edit of the policy is a new try",
				"  to do     what the probe asks for has to work with the change: correct the policy, or the probe",
			},
		},
		"a rollback that left something behind": {
			"applying: no", func(s *v1.NodeNetworkConfigurationEnactmentStatus) {
				s.Rollback = &v1.EnactmentRollback{Result: "RollbackIncomplete", Differences: []string{"interfaces[eth1].mtu: is 1400, should be 1500"}}
			},
			[]string{
				"mtu on node1  Failing  step applying",
				"  evidence  applying: no",
				"  the node  it took the change back, and not everything is as before",
				"  left      interfaces[eth1].mtu: is 1400, should be 1500",
				"  again     not by itself: an edit of the policy is a new try",
				"  to do     mend by hand what is left, then edit the policy",
			},
		},
		"an interface that is not there": {
			"interfaces[eth9] is not on this node, which has eth0; it is tried again once it is there Retrying 1/5",
			func(s *v1.NodeNetworkConfigurationEnactmentStatus) {
				s.Retry = &v1.EnactmentRetry{Awaits: []string{"eth9"}}
			},
			[]string{
				"mtu on node1  Failing  step checking",
				"  evidence  interfaces[eth9] is not on this node, which has eth0; it is tried again once it is there",
				"  the node  it changed nothing",
				"  again     once the node has eth9",
				"  to do     correct the name, or bring the interface onto the node",
			},
		},
		"what is tried again": {
			"arming: NetworkManager is restarting", func(s *v1.NodeNetworkConfigurationEnactmentStatus) {
				s.Retry = &v1.EnactmentRetry{Attempts: 2, After: &later}
			},
			[]string{
				"mtu on node1  Failing  step arming",
				"  evidence  arming: NetworkManager is restarting",
				"  the node  it changed nothing",
				"  again     at 12:01:30Z, by itself; attempts that failed: 2",
				"  to do     read the evidence, and correct the policy or the node",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			enactment := on("node1", v1.EnactmentFailing, tc.message)
			tc.status(&enactment.Status)
			found := Failures([]v1.NodeNetworkConfigurationEnactment{on("node2", v1.EnactmentAvailable, ""), enactment})
			if len(found) != 1 {
				t.Fatalf("found %d failures", len(found))
			}
			if diff := cmp.Diff(tc.want, found[0].Lines(NoPaint)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAdviceIsFoundByTheWordsOfTheNode(t *testing.T) {
	for evidence, want := range map[string]string{
		`interfaces[0]: unknown key "a"`:                                                                                 "lint",
		"the plan of this node, 1, is not one of spec.planHashes (2)":                                                    "pin",
		"policy a conflicts with policy b at interfaces[eth1].mtu":                                                       "priority",
		"probing for 9s: default-gateway: 192.0.2.99 did not answer a ping":                                              "defaultProbes",
		"probing for 9s: desired-state: reading the node's network back: too late":                                       "probeTimeoutSeconds",
		"interfaces[eth2]: NetworkManager has it disconnected, not activated":                                            "journalctl",
		"eth1 is missing (net1 of a pod stands on eth1: the kernel lets no macvlan or ipvlan and a controller share it)": "pods",
		"interfaces[b]: the kernel of this node cannot make interfaces of type bond":                                     "kernel",
	} {
		if got := toDo(Failure{Evidence: evidence}); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q in it", evidence, got, want)
		}
	}
}
