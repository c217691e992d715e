package cluster

import (
	"fmt"
	"maps"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/sim/host"
	"github.com/nmstate/kubernetes-nmstate/sim/network"
)

const (
	// heartbeat is how often a kubelet tells that its node lives, and
	// graceful how long the node controller waits before it believes that it
	// does not (Kubernetes' defaults).
	heartbeat = 10 * time.Second
	graceful  = 40 * time.Second
)

// Node is a host with its Node object, its kubelet and its handler.
type Node struct {
	Name string
	Host *host.Host

	cluster *Cluster
	station network.Station
	labels  map[string]string
	// api is where the node's processes find the API server.
	api netip.AddrPort
	// handler is the process that runs; nil for none. Held: nobody restarts it.
	handler *handler
	held    bool
	// admitted: the kubelet has its pod, and restarts the container by itself; pods
	// counts them.
	admitted bool
	pods     int
	// off: the machine has no power, so nobody restarts anything.
	off bool
	// crashes in a row, for the kubelet's back-off.
	crashes int
	// heard is when the kubelet last reached the API server.
	heard   time.Duration
	removed bool
	// podMade counts the pods that the DaemonSet has made for the node; podReady is what
	// the last one says. started is when the handler was, the last time.
	podMade  int
	podReady bool
	started  time.Duration
	// bare: nothing ever starts a handler.
	bare bool
	// taken: somebody has taken it over, and its handler never comes back.
	taken bool
	// sick: its kubelet says that it is not Ready.
	sick bool
}

// register makes the Node object as a kubelet does at its start.
func (n *Node) register() {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: map[string]string{corev1.LabelHostname: n.Name}}}
	maps.Copy(node.Labels, n.labels)
	c := n.cluster.API.As("kubelet")
	if err := c.Create(n.cluster.ctx, node); err != nil {
		panic(fmt.Sprintf("cluster: registering node %s: %v", n.Name, err))
	}
	n.heard = n.cluster.World.Elapsed()
	n.setReady(corev1.ConditionTrue)
	n.cluster.World.Trace(n.Name, "node", "added")
	n.makePod()
	n.beat()
}

// beat is the kubelet's and the node controller's view, every heartbeat. It
// writes only what changes: leases are not modelled.
func (n *Node) beat() {
	if n.removed {
		return
	}
	w := n.cluster.World
	switch {
	case n.sick && n.Host.On() && n.reachesAPI():
		n.heard = w.Elapsed()
		n.setReady(corev1.ConditionFalse)
	case n.Host.On() && n.reachesAPI():
		n.heard = w.Elapsed()
		n.setReady(corev1.ConditionTrue)
	case w.Elapsed()-n.heard >= graceful:
		n.setReady(corev1.ConditionUnknown)
	}
	n.tellPod()
	w.After(heartbeat, n.beat)
}

func (n *Node) reachesAPI() bool { return n.cluster.Network.ReachesAPI(n.station, n.api) == nil }

func (n *Node) setReady(status corev1.ConditionStatus) {
	node, _ := n.cluster.API.Look(&corev1.Node{}, n.Name).(*corev1.Node)
	if node == nil {
		return
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == status {
			return
		}
	}
	next := node.DeepCopy()
	next.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastTransitionTime: metav1.NewTime(n.cluster.World.Now())}}
	if err := n.cluster.API.As("kubelet").Status().Patch(n.cluster.ctx, next, client.MergeFrom(node)); err != nil {
		panic(fmt.Sprintf("cluster: readiness of node %s: %v", n.Name, err))
	}
	n.cluster.World.Trace(n.Name, "node", "Ready="+string(status))
}
