package cluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/nmstate/kubernetes-nmstate/sim/network"
)

// AddSpare adds the next node of Options.Spare; nil when all have come.
func (c *Cluster) AddSpare() *Node {
	if len(c.spare) == 0 {
		return nil
	}
	next := c.spare[0]
	c.spare = c.spare[1:]
	return c.Add(next)
}

// withoutSpare takes the nodes that come later out of the plan.
func (c *Cluster) withoutSpare(all []network.Node) []network.Node {
	first := max(0, len(all)-c.options.Spare)
	c.spare = slices.Clone(all[first:])
	return all[:first]
}

// SetCable pulls a NIC's cable, or puts it back.
func (n *Node) SetCable(nic string, intact bool) {
	if n.Host.Link(nic) != nil && !n.removed {
		n.cluster.Network.SetCable(n.station, nic, intact)
	}
}

// SetReady has the kubelet say that the node is not Ready, or the truth again.
func (n *Node) SetReady(ready bool) {
	n.sick = !ready
	if n.sick && !n.removed {
		n.setReady(corev1.ConditionFalse)
	}
}

// ReplaceHandler ends the handler and starts another one, as an update of the
// DaemonSet does. A kubelet hears of the new pod, and that the old one is to end, from
// the API server only, so on a node that does not reach it nothing happens. The new one
// may be there earlier, but waits for the old one's lock on the journal.
func (n *Node) ReplaceHandler() {
	if n.handler == nil || n.held || n.removed || !n.reachesAPI() {
		return
	}
	p := n.handler.process
	n.handler = nil // Nobody starts it later.
	p.Kill()
	n.removePod()
	n.makePod()
	n.newPod()()
}

// HandlerRuns tells whether the node's handler has a process.
func (n *Node) HandlerRuns() bool { return n.handler != nil }
