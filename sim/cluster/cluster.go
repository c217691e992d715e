package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
	"github.com/nmstate/kubernetes-nmstate/sim/network"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Mode is where the policy handler runs, as the programs' --mode.
type Mode string

// The modes.
const (
	Distributed Mode = "distributed"
	Centralized Mode = "centralized"
)

// Options of a cluster.
type Options struct {
	// Topology of the network; its nodes are the cluster's.
	Topology network.Topology
	Mode     Mode
	// Replicas of the controllers; 2 if zero.
	Replicas int
	// Window is the handlers' --probe-window; 2 minutes if zero.
	Window time.Duration
	// Lacks are the types of links that the hosts' kernels cannot make.
	Lacks []string
	// Labels of nodes, by name.
	Labels map[string]map[string]string
	// Bare are nodes on which no handler ever runs.
	Bare []string
	// Spare is how many of the topology's last nodes are there only after
	// AddSpare.
	Spare int
	// Watch sees what goes through the ports; nil for nobody.
	Watch Watcher
}

// Cluster is everything that is simulated in one world.
type Cluster struct {
	World    *world.World
	API      *apiserver.Store
	Events   *apiserver.Events
	Network  *network.Cluster
	Replicas []*Replica

	ctx     context.Context //nolint:containedctx // The run's own; it never ends.
	options Options
	mode    Mode
	nodes   []*Node // in the order of their coming
	leader  *Replica
	// leaderSince is when it, or the one before, was elected.
	leaderSince time.Duration
	spare       []network.Node
	// words are what the hosts' nmstate has read: many are brought to the same.
	words *host.Words
	// leaseFree is when the last leader's Lease runs out.
	leaseFree time.Duration
}

// New makes a cluster that starts at once. ctx is the root of all contexts of
// the run.
func New(ctx context.Context, w *world.World, options Options) *Cluster {
	if options.Replicas == 0 {
		options.Replicas = 2
	}
	if options.Window == 0 {
		options.Window = 2 * time.Minute
	}
	if options.Mode == "" {
		options.Mode = Distributed
	}
	if options.Watch == nil {
		options.Watch = nobody{}
	}
	c := &Cluster{
		World: w, API: apiserver.New(w), Events: &apiserver.Events{}, Network: network.Build(w, options.Topology),
		ctx: ctx, options: options, mode: options.Mode, words: host.NewWords(),
	}
	for _, plan := range c.withoutSpare(c.Network.Nodes) {
		c.Add(plan)
	}
	for i := range options.Replicas {
		c.Replicas = append(c.Replicas, &Replica{Name: replicaName(i), cluster: c})
	}
	for _, r := range c.Replicas {
		r.start()
	}
	return c
}

// Add makes a node by the plan of a topology, with its handler.
func (c *Cluster) Add(plan network.Node) *Node {
	n := &Node{Name: plan.Name, cluster: c, admitted: true, bare: slices.Contains(c.options.Bare, plan.Name), labels: c.options.Labels[plan.Name], api: plan.API}
	n.Host = host.New(c.World, plan.Name, host.Options{NICs: plan.HostNICs(), Lacks: c.options.Lacks, Words: c.words})
	n.Host.OnChange = n.hostChanged
	n.station = c.Network.Join(plan, n.Host)
	c.nodes = append(c.nodes, n)
	c.options.Watch.Added(n)
	n.register()
	n.StartHandler()
	return n
}

// Nodes are those of the cluster, by the order of their coming.
func (c *Cluster) Nodes() []*Node { return c.nodes }

// Node finds one by name; nil for none.
func (c *Cluster) Node(name string) *Node {
	if i := slices.IndexFunc(c.nodes, func(n *Node) bool { return n.Name == name }); i >= 0 {
		return c.nodes[i]
	}
	return nil
}

// Remove is kubectl delete node, and its machine switched off.
func (c *Cluster) Remove(name string) {
	n := c.Node(name)
	if n == nil {
		return
	}
	n.removed = true
	n.HoldHandler()
	n.Host.PowerOff()
	c.Network.Remove(n.station)
	n.removePod()
	c.nodes = slices.DeleteFunc(c.nodes, func(o *Node) bool { return o == n })
	if err := c.API.As("kubectl").Delete(c.ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}); client.IgnoreNotFound(err) != nil {
		panic(fmt.Sprintf("cluster: removing node %s: %v", name, err))
	}
	c.World.Trace(name, "node", "removed")
}

// Mode that new processes run in.
func (c *Cluster) Mode() Mode { return c.mode }

// SwitchMode restarts every process in the other mode, the controllers first.
func (c *Cluster) SwitchMode(mode Mode) {
	c.mode = mode
	c.World.Trace("", "phase", "mode "+string(mode))
	for _, r := range c.Replicas {
		r.Kill()
	}
	for _, n := range c.nodes {
		n.KillHandler()
	}
}

// Context is the root of the run's contexts.
func (c *Cluster) Context() context.Context { return c.ctx }
