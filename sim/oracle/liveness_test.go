package oracle

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
)

func TestQuiet(t *testing.T) {
	quiet := func(s *stage, happen func()) {
		s.store(s.nns("n1", true, wanted, 2))
		s.tell("n1", Quiet{})
		s.run(time.Minute)
		happen()
		s.tell("n1", Quiet{Over: true})
	}
	away := func(s *stage) {
		node := readyNode("n1")
		node.Status.Conditions[0].Status = corev1.ConditionFalse
		s.wrote("kubelet", node, "status")
	}
	// givesUp is a policy that counts a node as not managed, which joined so long before.
	givesUp := func(s *stage, joined time.Duration) {
		node := s.objects["Node/n1"]
		delete(s.objects, "Node/n1")
		s.wrote("kubelet", node, "meta")
		s.run(joined)
		s.tell("n1", Quiet{})
		told := s.policy(1).DeepCopy()
		told.Status.Counts.NotManaged = 1
		s.wrote("controllers-1", told, "status")
		s.tell("n1", Quiet{Over: true})
	}
	// succeeds is a policy that came so long ago, when one of its name was still on trial.
	succeeds := func(s *stage, ago time.Duration) {
		p := s.policy(1)
		p.UID = "another"
		delete(s.objects, "NodeNetworkConfigurationPolicy/p")
		s.wrote("kubectl", p, "spec")
		s.store(s.enacted("n1", 1, v1.EnactmentProgressing))
		s.run(ago)
		quiet(s, func() {
			told := p.DeepCopy()
			told.Status.Counts.Pending = 1
			s.wrote("controllers-1", told, "status")
		})
	}
	judge(t, func() Oracle { return newQuiet() }, one, map[string]history{
		"nothing happens": {play: func(s *stage) { quiet(s, func() {}) }},
		"a status is written": {want: "nothing has happened", play: func(s *stage) {
			quiet(s, func() { s.wrote("handler/n1", s.nns("n1", true, wanted, 2), "status") })
		}},
		"a status is written with another time only": {want: "nothing of it is new", play: func(s *stage) {
			s.store(s.enacted("n1", 1, v1.EnactmentAvailable))
			next := s.enacted("n1", 1, v1.EnactmentAvailable)
			next.Status.Conditions[0].LastHeartbeatTime = metav1.Now()
			s.wrote("handler/n1", next, "status")
		}},
		"a node has not been Ready for a while, and may be given up": {play: func(s *stage) {
			away(s)
			quiet(s, func() { s.wrote("controllers-1", s.nns("n1", true, wanted, 2), "status") })
		}},
		"a node has just been given up, which is told in this moment": {play: func(s *stage) {
			away(s)
			s.run(nodeGrace)
			quiet(s, func() { s.wrote("controllers-1", s.nns("n1", true, wanted, 2), "status") })
		}},
		"a node has not been Ready for long, and the first policy for it came just now": {play: func(s *stage) {
			away(s)
			s.run(nodeGrace + grantLag)
			p := s.policy(1)
			delete(s.objects, "NodeNetworkConfigurationPolicy/p")
			s.wrote("kubectl", p, "spec")
			quiet(s, func() { s.wrote("controllers-1", s.nns("n1", true, wanted, 2), "status") })
		}},
		"a node has not been Ready for long": {want: "nothing has happened", play: func(s *stage) {
			away(s)
			s.run(nodeGrace + grantLag)
			quiet(s, func() { s.wrote("controllers-1", s.nns("n1", true, wanted, 2), "status") })
		}},
		"a node has just joined, and is given up before it reports":    {play: func(s *stage) { givesUp(s, time.Minute) }},
		"a node that joined long ago is given up":                      {want: "nothing has happened", play: func(s *stage) { givesUp(s, nodeGrace+grantLag) }},
		"a change of a deleted policy of the same name may have ended": {play: func(s *stage) { succeeds(s, nodeGrace) }},
		"it has ended long ago":                                        {want: "nothing has happened", play: func(s *stage) { succeeds(s, time.Hour) }},
		"a person writes": {play: func(s *stage) {
			quiet(s, func() { s.wrote("kubectl", s.nns("n1", true, wanted, 2), "status") })
		}},
		"the host changes": {want: "network has changed", play: func(s *stage) {
			quiet(s, func() { s.hosts["n1"].revision++ })
		}},
		"a lease comes that a link was waiting for, and is told": {play: func(s *stage) {
			s.hosts["n1"].network = `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","ipv4":{"enabled":true,"dhcp":true}}]}`
			quiet(s, func() {
				s.hosts["n1"].revision++
				s.wrote("handler/n1", s.nns("n1", true, wanted, 2), "status")
			})
		}},
		"a lease comes that a link was waiting for, and is told twice": {want: "nothing has happened", play: func(s *stage) {
			s.hosts["n1"].network = `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","ipv4":{"enabled":true,"dhcp":true}}]}`
			quiet(s, func() {
				s.hosts["n1"].revision++
				s.wrote("handler/n1", s.nns("n1", true, wanted, 2), "status")
				s.wrote("handler/n1", s.nns("n1", true, wanted, 2), "status")
			})
		}},
		"a link waits for its lease, none comes, and the node reports": {want: "nothing has happened", play: func(s *stage) {
			s.hosts["n1"].network = `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","ipv4":{"enabled":true,"dhcp":true}}]}`
			quiet(s, func() { s.wrote("handler/n1", s.nns("n1", true, wanted, 2), "status") })
		}},
		"a link that has its lease changes": {want: "network has changed", play: func(s *stage) {
			s.hosts["n1"].network = `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up",
				"ipv4":{"enabled":true,"dhcp":true,"address":[{"ip":"192.0.2.5","prefix-length":24}]}}]}`
			quiet(s, func() { s.hosts["n1"].revision++ })
		}},
		"a spec is written while a link waits for its lease": {want: "nothing has happened", play: func(s *stage) {
			s.hosts["n1"].network = `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","ipv4":{"enabled":true,"dhcp":true}}]}`
			quiet(s, func() { s.wrote("handler/n1", s.nns("n1", true, wanted, 3), "spec") })
		}},
		"something is tried again": {play: func(s *stage) {
			e := s.enacted("n1", 1, v1.EnactmentFailing)
			e.Status.Retry = &v1.EnactmentRetry{Attempts: 3, After: &metav1.Time{}}
			s.store(e)
			quiet(s, func() { s.hosts["n1"].revision++ })
		}},
	})
}

func TestLiveness(t *testing.T) {
	told := func(s *stage, is v1.ConditionType, counts v1.PolicyCounts) {
		p := s.policy(1)
		p.Status.ObservedGeneration, p.Status.Counts = 1, counts
		s.store(s.nns("n1", true, wanted, 2))
		s.store(s.enacted("n1", 1, is))
	}
	drifted := func(s *stage, action, controller string) {
		told(s, v1.EnactmentAvailable, v1.PolicyCounts{Matched: 1, Available: 1})
		nns := s.nns("n1", true, `{"interfaces":[{"name":"eth1","ipv4":{"enabled":true}},{"name":"br1","type":"linux-bridge"}]}`, 2)
		nns.Status.Drift = []v1.Drift{{Path: "interfaces[eth1].ipv4.address", Action: action}}
		s.store(nns)
		s.hosts["n1"].network = `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","controller":"` + controller + `"}]}`
	}
	lowered := func(s *stage, action, eth1 string) {
		told(s, v1.EnactmentAvailable, v1.PolicyCounts{Matched: 1, Available: 1})
		nns := s.nns("n1", true, `{"interfaces":[{"name":"eth1"`+eth1+`},{"name":"eth1.100","type":"vlan","mtu":1400,"vlan":{"base-iface":"eth1","id":100}}]}`, 2)
		nns.Status.Drift = []v1.Drift{{Path: "interfaces[eth1.100].mtu", Expected: "1400", Found: "1300", Action: action}}
		s.store(nns)
		s.hosts["n1"].network = `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":1300},{"name":"eth1.100","type":"vlan","state":"up","mtu":1300,"vlan":{"base-iface":"eth1","id":100}}]}`
	}
	bare := func(s *stage, counted int32) {
		s.hosts["n1"].bare = true
		s.store(s.nns("n2", true, wanted, 2))
		s.store(readyNode("n1"))
		p := s.policy(1)
		p.Status.ObservedGeneration, p.Status.Counts.NotManaged = 1, counted
	}
	// misled is a node whose name servers have drifted, once a correction was tried.
	misled := func(s *stage, action string, passed ...string) {
		told(s, v1.EnactmentAvailable, v1.PolicyCounts{Matched: 1, Available: 1})
		nns := s.nns("n1", true, `{"dns-resolver":{"config":{"server":["192.0.2.253"]}}}`, 2)
		nns.Status.Drift = []v1.Drift{{Path: "dns-resolver.config.server", Expected: "192.0.2.253", Action: action}}
		s.store(nns)
		correction := change(gateway, probe.DNS)
		correction.Correction = []string{"dns-resolver"}
		s.try("n1", correction)
		s.prove("n1", passed...)
		s.end("n1", RolledBack)
		s.close("n1", v1.TransactionRolledBack)
	}
	judge(t, func() Oracle { return liveness{} }, one, map[string]history{
		"name servers drifted, and answer nobody":                {play: func(s *stage) { misled(s, "Damped", gateway) }},
		"name servers drifted, answer nobody, and are corrected": {want: "drift of dns-resolver", play: func(s *stage) { misled(s, "Correcting", gateway) }},
		"name servers drifted, and answer":                       {want: "drift of dns-resolver", play: func(s *stage) { misled(s, "Damped", gateway, probe.DNS) }},
		"all is told":                                            {play: func(s *stage) { told(s, v1.EnactmentAvailable, v1.PolicyCounts{Matched: 1, Available: 1}) }},
		"a failure is told":                                      {play: func(s *stage) { told(s, v1.EnactmentFailing, v1.PolicyCounts{Matched: 1, Failing: 1}) }},
		"a node says nothing":                                    {want: "node n1 is not done", play: func(s *stage) { told(s, "", v1.PolicyCounts{Matched: 1}) }},
		"a node has no enactment": {want: "no enactment", play: func(s *stage) {
			s.policy(1)
			s.store(s.nns("n1", true, wanted, 2))
		}},
		"the policy says something else": {want: "its status counts", play: func(s *stage) {
			told(s, v1.EnactmentFailing, v1.PolicyCounts{Matched: 1, Available: 1})
		}},
		"a node without a handler is counted": {play: func(s *stage) { bare(s, 1) }},
		"the controllers tell that a policy is refused on a node without a handler": {play: func(s *stage) {
			bare(s, 0)
			s.store(s.enacted("n1", 1, v1.EnactmentFailing))
			p := s.policy(1)
			p.Status.ObservedGeneration, p.Status.Counts = 1, v1.PolicyCounts{Failing: 1}
		}},
		"a node without a handler is waited for": {want: "1 nodes have no handler, and it counts 0", play: func(s *stage) { bare(s, 0) }},
		"a transaction is open": {want: "is open", play: func(s *stage) {
			told(s, v1.EnactmentAvailable, v1.PolicyCounts{Matched: 1, Available: 1})
			s.hosts["n1"].entry = change()
		}},
		"a node lacks something since its clock jumped": {want: "lacks something", play: func(s *stage) {
			told(s, v1.EnactmentAvailable, v1.PolicyCounts{Matched: 1, Available: 1})
			s.tell("n1", Fault{Kind: "clock-jump", On: true})
			s.tell("n1", Fault{Kind: "clock-jump", End: true})
		}},
		"a NIC's address drifted": {want: "drift of interfaces[eth1]", play: func(s *stage) { drifted(s, "Damped", "") }},
		"a NIC's address drifted, and the node is out of reach since: it cannot tell how that went": {play: func(s *stage) {
			drifted(s, "Correcting", "")
			s.hosts["n1"].cut = true
		}},
		"a NIC's address drifted, since somebody gave it to a bridge": {play: func(s *stage) { drifted(s, "Damped", "br9") }},
		"its route drifted, since somebody gave it to a VRF": {play: func(s *stage) {
			drifted(s, "Damped", "vrf0")
			s.objects["NodeNetworkState/n1"].(*v1.NodeNetworkState).Status.Drift = []v1.Drift{
				{Path: "routes.config", Expected: "203.0.113.0/24 via 198.51.100.1 dev eth1 metric 5", Action: "Damped"},
			}
		}},
		"a VLAN's MTU drifted, since somebody lowered its NIC's":                 {play: func(s *stage) { lowered(s, "Damped", "") }},
		"a VLAN's MTU drifted, and is corrected":                                 {want: "drift of interfaces[eth1.100]", play: func(s *stage) { lowered(s, "Correcting", "") }},
		"a VLAN's MTU drifted, and its NIC's is the policy's as well":            {want: "drift of interfaces[eth1.100]", play: func(s *stage) { lowered(s, "Damped", `,"mtu":1500`) }},
		"it is in somebody's bridge, and corrected":                              {want: "drift of interfaces[eth1]", play: func(s *stage) { drifted(s, "Correcting", "br9") }},
		"it is in a bridge that the desired state names, which it should not be": {want: "drift of interfaces[eth1]", play: func(s *stage) { drifted(s, "Damped", "br1") }},
		"the policy has left the node": {want: "does not select", play: func(s *stage) {
			told(s, v1.EnactmentAvailable, v1.PolicyCounts{})
			s.policy(1).Spec.NodeSelector = map[string]string{"nobody": "has"}
		}},
	})
}

func readyNode(name string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
}

// A node that was cut off in the middle of an older generation.
func TestLivenessOfWhoWaitsForANodeOutOfReach(t *testing.T) {
	waits := func(s *stage, cut bool) {
		s.store(s.nns("n1", true, wanted, 2))
		s.store(s.nns("n2", true, wanted, 2))
		s.store(s.enacted("n2", 1, v1.EnactmentProgressing))
		s.hosts["n2"].cut = cut
		s.store(readyNode("n1"))
		p := s.policy(1)
		p.Generation, p.Status.ObservedGeneration = 2, 2
		pending := s.enacted("n1", 0, v1.EnactmentPending)
		pending.Status.PolicyGeneration = 2
		s.store(pending)
	}
	judge(t, func() Oracle { return liveness{} }, three[:2], map[string]history{
		"it has the only slot":        {play: func(s *stage) { waits(s, true) }},
		"it is in reach, and goes on": {want: "node n1 is not done", play: func(s *stage) { waits(s, false) }},
		"somebody has taken it over, and it keeps the slot that it was granted": {play: func(s *stage) {
			waits(s, false)
			s.hosts["n2"].taken = true
		}},
		"somebody has taken it over, and it takes a slot that it was never granted": {want: "node n1 is not done", play: func(s *stage) {
			waits(s, false)
			s.hosts["n2"].taken = true
			s.store(s.enacted("n2", 0, v1.EnactmentProgressing))
			one := readyNode("n1")
			one.Labels = map[string]string{"zone": "a"}
			s.store(one)
			s.Look(&v1.NodeNetworkConfigurationPolicy{}, "p").(*v1.NodeNetworkConfigurationPolicy).Spec.NodeSelector = one.Labels
		}},
		"it begins no more, since a policy takes its place": {play: func(s *stage) {
			waits(s, true)
			s.store(s.enacted("n2", 1, v1.EnactmentPending))
		}},
		"it has failed, so it has no slot of the newer one": {want: "node n1 is not done", play: func(s *stage) {
			waits(s, true)
			s.store(s.enacted("n2", 1, v1.EnactmentFailing))
		}},
		"the rollout is paused after its canary, and another node fails": {play: func(s *stage) {
			waits(s, true)
			s.store(s.enacted("n2", 1, v1.EnactmentFailing))
			p, canary := s.policy(1), int32(1)
			p.Generation, p.Status.ObservedGeneration, p.Status.Counts = 2, 2, v1.PolicyCounts{Available: 1}
			p.Spec.Rollout = &v1.Rollout{Canary: &canary, PauseAfterCanary: true}
			p.Status.Conditions = []v1.Condition{{Type: v1.PolicyDegraded, Status: metav1.ConditionTrue}}
		}},
		"it was told to wait, and cannot say so": {play: func(s *stage) {
			waits(s, true)
			aborted := s.enacted("n2", 1, v1.EnactmentAborted)
			aborted.Status.PolicyGeneration = 2
			s.store(aborted)
			done := s.enacted("n1", 2, v1.EnactmentAvailable)
			done.Status.PolicyGeneration = 2
			s.store(done)
			p := s.policy(1)
			p.Generation, p.Status.ObservedGeneration, p.Status.Counts = 2, 2, v1.PolicyCounts{Available: 1}
		}},
	})
}

// Where no policy is left nobody else would wait for it.
func TestLivenessOfANodeThatHasNotToldOfItsDesiredState(t *testing.T) {
	state := func(observed int64) func(*stage) {
		return func(s *stage) {
			nns := s.nns("n1", true, wanted, 2)
			nns.Status.ObservedGeneration = observed
			s.store(nns)
		}
	}
	judge(t, func() Oracle { return liveness{} }, three[:1], map[string]history{
		"it is at it": {want: "node n1: it has not told what became of generation 2", play: state(1)},
		"it has told": {play: state(2)},
		"it is away": {play: func(s *stage) {
			state(1)(s)
			s.hosts["n1"].cut = true
		}},
	})
}
