package cluster

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// podNamespace is that of the handlers' pods.
	podNamespace = "nmstate"
	// readyAfter is how long a handler takes until its kubelet says that it is Ready: its
	// caches are filled, and the readiness probe comes every five seconds.
	readyAfter = 3 * time.Second
)

// makePod is the DaemonSet controller, which makes a pod for each node but those that it
// is kept away from.
func (n *Node) makePod() {
	if n.bare {
		return
	}
	n.podMade++
	n.podReady = false
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: podNamespace, Name: n.podName(), Labels: map[string]string{"app.kubernetes.io/name": "nmstate-handler"}},
		Spec:       corev1.PodSpec{NodeName: n.Name},
	}
	if err := n.cluster.API.As("daemonset").Create(n.cluster.ctx, pod); err != nil {
		panic(fmt.Sprintf("cluster: making the pod of node %s: %v", n.Name, err))
	}
}

func (n *Node) podName() string { return fmt.Sprintf("nmstate-handler-%s-%d", n.Name, n.podMade) }

// removePod is an update of the DaemonSet, or the garbage collector where the node is gone.
func (n *Node) removePod() {
	if n.bare {
		return
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: podNamespace, Name: n.podName()}}
	if err := n.cluster.API.As("daemonset").Delete(n.cluster.ctx, pod); err != nil {
		panic(fmt.Sprintf("cluster: removing the pod of node %s: %v", n.Name, err))
	}
}

// tellPod writes what a kubelet, or the node controller of a node that is not heard of,
// says of the pod, if it is new. Of a node that is taken over nobody tells the truth.
func (n *Node) tellPod() {
	w := n.cluster.World
	heard := n.Host.On() && n.reachesAPI()
	if n.removed || n.bare || n.taken || !heard && w.Elapsed()-n.heard < graceful {
		return
	}
	ready := heard && n.handler != nil && w.Elapsed()-n.started >= readyAfter
	if ready == n.podReady {
		return
	}
	pod, _ := n.cluster.API.Look(&corev1.Pod{}, n.podName()).(*corev1.Pod)
	if pod == nil {
		return
	}
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	next := pod.DeepCopy()
	next.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(w.Now())}}
	if err := n.cluster.API.As("kubelet").Status().Patch(n.cluster.ctx, next, client.MergeFrom(pod)); err != nil {
		panic(fmt.Sprintf("cluster: telling of the pod of node %s: %v", n.Name, err))
	}
	n.podReady = ready
	w.Trace(n.Name, "node", "pod Ready="+string(status))
}
