package view

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/golden"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func now() time.Time { return time.Date(2026, 11, 24, 12, 0, 30, 0, time.UTC) }

// policyOf is at generation 2, with this condition and kstatus's reason beside it.
func policyOf(kind v1.ConditionType, message string, goesOn v1.ConditionReason) *v1.NodeNetworkConfigurationPolicy {
	p := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "mtu", Generation: 2}}
	p.Status.ObservedGeneration, p.Status.Counts.Matched, p.Status.Nodes = 2, 3, "1/3"
	p.Status.Conditions = []v1.Condition{{Type: kind, Status: metav1.ConditionTrue, Message: message}}
	if goesOn != "" {
		p.Status.Conditions = append(p.Status.Conditions, v1.Condition{Type: v1.Reconciling, Status: metav1.ConditionTrue, Reason: goesOn})
	}
	return p
}

// taken are the slots that the policy's status tells.
func taken(policy *v1.NodeNetworkConfigurationPolicy, of int32, holders ...string) *v1.NodeNetworkConfigurationPolicy {
	policy.Status.Slots = &v1.PolicySlots{Limit: of, Taken: int32(len(holders)), Holders: holders}
	return policy
}

// on is the enactment of a node that was approved, with this condition.
func on(node string, kind v1.ConditionType, message string) v1.NodeNetworkConfigurationEnactment {
	e := v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{Name: node + ".mtu", Labels: map[string]string{v1.EnactmentPolicyLabel: "mtu", v1.EnactmentNodeLabel: node}}}
	e.Status.PolicyGeneration = 2
	e.Status.Conditions = []v1.Condition{{Type: kind, Status: metav1.ConditionTrue, Message: message}}
	if kind != v1.EnactmentPending && kind != v1.EnactmentAborted {
		e.Spec.ApprovedGeneration = 2
	}
	return e
}

func objectsOf(enactments ...v1.NodeNetworkConfigurationEnactment) Objects {
	return Objects{Enactments: enactments}
}

// TestTree tells what a person sees, in testdata. To see what a change does to it:
// make golden, git diff.
func TestTree(t *testing.T) {
	one := int32(1)
	tests := map[string]func() Policy{
		"one node is being probed and another one waits": func() Policy {
			policy := policyOf(v1.PolicyProgressing, "Policy is progressing 1/3 nodes finished, 1 pending", v1.ReasonConfigurationProgressing)
			objects := objectsOf(on("node1", v1.EnactmentAvailable, ""), on("node2", v1.EnactmentProgressing, "Applying desired state"), on("node3", v1.EnactmentPending, "Waiting for progressing nodes to finish"))
			objects.States = []v1.NodeNetworkState{{ObjectMeta: metav1.ObjectMeta{Name: "node2"}}}
			objects.States[0].Status.Transaction = &v1.Transaction{Phase: "Probing", Policy: "mtu", Since: metav1.NewTime(now().Add(-12 * time.Second)), GuardedBy: []string{"dns", "api-server"}, WaitingFor: []string{"api-server"}}
			return Of(taken(policy, 2, "node2"), objects, now())
		},
		"a failed policy and the nodes that it spares": func() Policy {
			policy := policyOf(v1.PolicyDegraded, "1/3 nodes failed to configure, 2 nodes aborted configuration", "")
			policy.Status.Message = "node1: probing for 6s: api-server: no answer"
			return Of(taken(policy, 2, "node1"), objectsOf(on("node1", v1.EnactmentFailing, "probing for 6s: api-server: no answer"), on("node2", v1.EnactmentAborted, ""), on("node3", v1.EnactmentAborted, "")), now())
		},
		"nodes that are spared and have not read that yet": func() Policy {
			policy := policyOf(v1.PolicyDegraded, "1/3 nodes failed to configure, 2 nodes aborted configuration", "")
			policy.Status.Message = "node1: probing for 6s: api-server: no answer"
			waits, late := on("node2", v1.EnactmentPending, "Waiting for progressing nodes to finish"), on("node3", v1.EnactmentPending, "")
			for _, spared := range []*v1.NodeNetworkConfigurationEnactment{&waits, &late} {
				spared.Spec.AbortedGeneration, spared.Spec.AbortedCause = 2, policy.Status.Message
			}
			late.Status.PolicyGeneration = 1
			return Of(taken(policy, 2, "node1"), objectsOf(on("node1", v1.EnactmentFailing, "probing for 6s: api-server: no answer"), waits, late), now())
		},
		"paused after the canary": func() Policy {
			policy := policyOf(v1.PolicyProgressing, "Policy is progressing 1/3 nodes finished, 2 pending: paused after 1 canary nodes", v1.ReasonPaused)
			policy.Spec.Rollout = &v1.Rollout{Canary: &one, PauseAfterCanary: true}
			return Of(taken(policy, 2), objectsOf(on("node1", v1.EnactmentAvailable, ""), on("node2", v1.EnactmentPending, "Waiting for a person"), on("node3", v1.EnactmentPending, "Waiting for a person")), now())
		},
		"a node that still soaks keeps its slot": func() Policy {
			policy := policyOf(v1.PolicyProgressing, "Policy is progressing 1/3 nodes finished", v1.ReasonSoaking)
			policy.Spec.Rollout = &v1.Rollout{SoakSeconds: 60}
			soaks := on("node1", v1.EnactmentAvailable, "")
			soaks.Status.Committed = &v1.CommittedPolicy{Generation: 2, Since: metav1.NewTime(now().Add(-20 * time.Second))}
			return Of(taken(policy, 2, "node1"), objectsOf(soaks), now())
		},
		"a change that a person has to confirm": func() Policy {
			policy := policyOf(v1.PolicyProgressing, "Policy is progressing 0/1 nodes finished", v1.ReasonConfigurationProgressing)
			return Of(taken(policy, 2, "node1"), objectsOf(on("node1", v1.EnactmentProgressing, "Applying desired state: waiting for confirmation until 12:05:00Z: kubectl annotate")), now())
		},
		"a change that a person has confirmed, which the node has not read yet": func() Policy {
			policy := policyOf(v1.PolicyProgressing, "Policy is progressing 0/3 nodes finished", v1.ReasonConfigurationProgressing)
			policy.Annotations = map[string]string{v1.ConfirmAnnotation: "2"}
			return Of(taken(policy, 2, "node1"), objectsOf(on("node1", v1.EnactmentProgressing, "Applying desired state: waiting for confirmation until 12:05:00Z: kubectl annotate")), now())
		},
		"a change whose last generation a person has confirmed": func() Policy {
			policy := policyOf(v1.PolicyProgressing, "Policy is progressing 0/3 nodes finished", v1.ReasonConfigurationProgressing)
			policy.Annotations = map[string]string{v1.ConfirmAnnotation: "1"}
			return Of(taken(policy, 2, "node1"), objectsOf(on("node1", v1.EnactmentProgressing, "Applying desired state: waiting for confirmation until 12:05:00Z: kubectl annotate")), now())
		},
		"a change that a person has to confirm, and of which the policy does not tell yet": func() Policy {
			policy := policyOf(v1.PolicyProgressing, "Policy is progressing 0/1 nodes finished, 1 pending", v1.ReasonConfigurationProgressing)
			return Of(taken(policy, 2), objectsOf(on("node1", v1.EnactmentProgressing, "Applying desired state: waiting for confirmation until 12:05:00Z: kubectl annotate")), now())
		},
		"many nodes in one phase are folded": func() Policy {
			policy := policyOf(v1.PolicyAvailable, "30/30 nodes successfully configured", "")
			var all []v1.NodeNetworkConfigurationEnactment
			for i := range 30 {
				all = append(all, on("node"+string(rune('A'+i)), v1.EnactmentAvailable, ""))
			}
			return Of(taken(policy, 2), objectsOf(all...), now())
		},
		"a generation that nobody has looked at": func() Policy {
			policy := policyOf(v1.PolicyAvailable, "3/3 nodes successfully configured", "")
			policy.Generation = 3
			return Of(policy, objectsOf(on("node1", v1.EnactmentAvailable, "")), now())
		},
	}
	for name, made := range tests {
		t.Run(name, func(t *testing.T) {
			policy := made()
			end, why := policy.End()
			lines := append(Tree(policy, Folded, NoPaint), "--wait: "+[]string{"done", "goes on", "waits for a person", "failed"}[end]+": "+why)
			golden.Assert(t, strings.Join(lines, "\n")+"\n", name+".golden")
		})
	}
}

func TestChangesTellsOnlyWhatIsNew(t *testing.T) {
	before := Of(policyOf(v1.PolicyProgressing, "working", v1.ReasonConfigurationProgressing), objectsOf(on("node1", v1.EnactmentPending, "waits"), on("node2", v1.EnactmentPending, "waits")), now())
	after := Of(taken(policyOf(v1.PolicyProgressing, "working", v1.ReasonConfigurationProgressing), 2, "node1"), objectsOf(on("node1", v1.EnactmentProgressing, ""), on("node2", v1.EnactmentPending, "waits")), now())
	want := []string{"mtu: slots 1 of 2 taken: node1", "mtu: node1 Changing"}
	if diff := cmp.Diff(want, Changes(&before, after)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if again := Changes(&after, after); len(again) > 0 {
		t.Errorf("nothing changed, and it says %q", again)
	}
	if first := Changes(nil, after); len(first) != 5 {
		t.Errorf("the first look says %q", first)
	}
}
