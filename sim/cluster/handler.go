package cluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nmstate/kubernetes-nmstate/handler/agent"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/policy"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
	"github.com/nmstate/kubernetes-nmstate/sim/network"
	"github.com/nmstate/kubernetes-nmstate/sim/trace"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Back-off of a kubelet for a container that ends (CrashLoopBackOff).
const (
	firstRestart = time.Second
	lastRestart  = 5 * time.Minute
)

// handler is a node's handler process, wired as the program is.
type handler struct {
	process *world.Process
	node    *Node
	agent   *agent.Agent
	policy  *policy.Reconciler // nil in centralized mode
}

// parts are what a handler is made of, daemon or single pass.
func (n *Node) parts(p *world.Process, c client.Client, live client.Reader, events policy.Recorder) (*handler, error) {
	cl := n.cluster
	prober := cl.Network.Prober(p, n.station, network.ProberOptions{
		API: n.api, Node: n.Name, Ready: func(ctx context.Context) (bool, error) { return ready(ctx, c, n.Name) },
	})
	filters := true
	c, live = cl.options.Watch.Client(p, n.Name, c), cl.options.Watch.Live(p, n.Name, live)
	options := agent.Options{
		Node: n.Name, Client: c, Live: live, Backend: n.Host.Backend(p), Prober: prober,
		Journal: n.Host.Journal(p), Boot: n.Host.Boot(p), Foreign: n.Host.Keeper(p), Clock: p.Clock(),
		Spawn:  func(task func()) { p.Go("task", task) },
		Window: cl.options.Window, Version: "sim", BridgeVLANFiltering: &filters, Kernel: n.Host.LinkTypes(p),
		NetworkManager: func(context.Context) agent.Daemon { return agent.Daemon{Version: "1.52.0"} }, Commands: true,
		Heard: n.Host.Heard,
	}
	cl.options.Watch.Agent(p, &options)
	state, err := agent.New(options)
	if err != nil {
		return nil, err
	}
	h := &handler{process: p, node: n, agent: state}
	if cl.mode == Distributed {
		h.policy = policy.New(policy.Options{
			Client: c, Live: live, Node: n.Name, Clock: p.Clock(), Events: events, Protected: desired.DefaultProtected(),
			Whole: state.Whole, Commands: true,
		})
	}
	return h, nil
}

// StartHandler starts the node's handler, unless it runs, or the kubelet has not
// reached the API server since the boot.
func (n *Node) StartHandler() {
	if n.handler != nil || n.removed || n.bare || n.taken || !n.admitted || !n.Host.On() {
		return
	}
	cl := n.cluster
	p := cl.World.Process("handler/" + n.Name)
	n.handler = &handler{process: p, node: n}
	p.OnDeath(func() { n.ended(p) })
	cl.World.Trace(p.Name, trace.Start, "")
	p.Go("main", func() { n.daemon(p) })
	n.started = cl.World.Elapsed()
	cl.World.After(readyAfter, n.tellPod)
}

// daemon is what the program does: take back what an earlier process left, which
// needs no API server, and beside it begin once the caches are filled.
func (n *Node) daemon(p *world.Process) {
	cl := n.cluster
	ctx := logf.IntoContext(cl.ctx, trace.Logger(p))
	connection := cl.API.Connect(p, apiserver.ConnectionOptions{
		Reach: n.reachesAPI, LostAfter: apiserver.HandlerLostAfter, DialTimeout: apiserver.HandlerDialTimeout, UserAgent: "nmstate-handler",
	})
	cache := connection.Cache(policy.CacheOptions(n.Name))
	h, err := n.parts(p, connection.Client(cache), connection.Live(), cl.Events.Recorder(p))
	if err != nil {
		cl.World.Trace(p.Name, trace.Error, err.Error())
		p.Kill()
	}
	n.handler = h
	p.Go("recover", func() {
		if err := h.agent.Recover(ctx); err != nil {
			cl.World.Trace(p.Name, trace.Error, "recover: "+err.Error())
		}
	})
	controllers := []*controller{newController(ctx, p, h.agent.Controller(), h.agent)}
	if h.policy != nil {
		if err := h.policy.Index(ctx, cache); err != nil {
			panic(err)
		}
		controllers = append(controllers, newController(ctx, p, h.policy.Controller(), h.policy))
	}
	if err := begin(ctx, cache, controllers); err != nil {
		return
	}
	request := reconcile.Request{NamespacedName: types.NamespacedName{Name: n.Name}}
	queue := controllers[0].queue
	queue.Add(request)
	for h.agent.Wait(ctx, forever) {
		queue.Add(request)
	}
}

// forever is longer than any run.
const forever = 10 * 365 * 24 * time.Hour

// hostChanged is what the handler's watcher tells.
func (n *Node) hostChanged(kind host.Kind) {
	h := n.handler
	if h == nil || h.agent == nil {
		return
	}
	if kind == host.NetworkChanged {
		h.agent.NetworkChanged()
	} else {
		h.agent.NetworkManagerRestarted()
	}
	h.process.Wake()
}

// ended has the kubelet start the handler again, later and later; it asks nobody
// for that.
func (n *Node) ended(p *world.Process) {
	if n.handler == nil || n.handler.process != p {
		return
	}
	n.handler = nil
	n.tellPod()
	if n.held || n.removed || n.off {
		return
	}
	wait := min(lastRestart, firstRestart<<min(n.crashes, 10))
	n.crashes++
	n.cluster.World.After(wait, func() {
		if !n.held {
			n.StartHandler()
		}
	})
	n.cluster.World.After(10*time.Minute, func() { n.crashes = max(0, n.crashes-1) })
}

// KillHandler is kill -9 of the handler; the kubelet starts it again.
func (n *Node) KillHandler() {
	if n.handler != nil {
		n.handler.process.Kill()
	}
}

// HoldHandler ends the handler and keeps it away until StartHandler.
func (n *Node) HoldHandler() {
	n.held = true
	n.KillHandler()
}

// TakeOver ends the handler for good: somebody else has the node.
func (n *Node) TakeOver() {
	n.taken = true
	n.KillHandler()
}

// ReleaseHandler starts a handler that was held.
func (n *Node) ReleaseHandler() {
	n.held = false
	n.StartHandler()
}

func ready(ctx context.Context, c client.Reader, name string) (bool, error) {
	var node corev1.Node
	if err := c.Get(ctx, client.ObjectKey{Name: name}, &node); err != nil {
		return false, err
	}
	return isReady(&node), nil
}

func isReady(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
