package cluster

import "time"

const (
	// startDelay is how long a kubelet takes after a boot until it could run the handler.
	startDelay = 5 * time.Second
	// asksAgain is how often it asks for the pods that it is to run.
	asksAgain = 3 * time.Second
)

// Reboot ends everything on the node and brings it up again when it has taken
// that long. A power cut is the same: hosts have no orderly shutdown.
func (n *Node) Reboot(takes time.Duration) {
	n.PowerOff()
	n.cluster.World.After(takes, n.PowerOn)
}

// PowerOff ends everything on the node.
func (n *Node) PowerOff() {
	n.cluster.World.Trace(n.Name, "host", "power off")
	n.Host.PowerOff()
	n.off = true
	if n.handler != nil {
		n.handler.process.Kill()
	}
}

// PowerOn boots the node.
func (n *Node) PowerOn() {
	if n.removed || n.Host.On() {
		return
	}
	n.off = false
	n.Host.PowerOn()
	n.cluster.World.Trace(n.Name, "host", "booted")
	n.cluster.World.After(startDelay, n.newPod())
}

// HasPod tells whether the kubelet knows of the handler's pod.
func (n *Node) HasPod() bool { return n.admitted }

// IsBare tells whether no handler ever runs on the node.
func (n *Node) IsBare() bool { return n.bare }

// IsTaken tells whether somebody has taken the node over.
func (n *Node) IsTaken() bool { return n.taken }

// newPod is a kubelet that has no pod of the handler: it is told of one by the API
// server only, so until it has reached that the node has no handler, whatever
// state it is in.
func (n *Node) newPod() (ask func()) {
	n.admitted = false
	n.pods++
	pod := n.pods
	ask = func() {
		switch {
		case n.removed || n.pods != pod || !n.Host.On():
			return
		case !n.reachesAPI():
			n.cluster.World.After(asksAgain, ask)
			return
		}
		n.admitted = true
		if !n.held {
			n.StartHandler()
		}
	}
	return ask
}
