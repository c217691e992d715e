package cluster

import "time"

// startDelay is how long a kubelet takes after a boot until the handler runs.
const startDelay = 5 * time.Second

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
	n.cluster.World.After(startDelay, func() {
		if !n.held {
			n.StartHandler()
		}
	})
}
