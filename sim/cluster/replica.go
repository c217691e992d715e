package cluster

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/nmstate/kubernetes-nmstate/controllers/cached"
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout"
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout/plan"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/policy"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
	"github.com/nmstate/kubernetes-nmstate/sim/trace"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Leader election, with client-go's defaults: how long a Lease is believed in
// after its holder was last heard of, and how long a holder goes on without it.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
)

// Replica is one instance of the controllers.
type Replica struct {
	Name string
	// Cut: it cannot reach the API server.
	Cut bool

	cluster *Cluster
	process *world.Process // nil while it is down
	held    bool
	restart int
}

// Leader is the replica that leads, nil for none.
func (c *Cluster) Leader() *Replica { return c.leader }

// LeaderSince is when the replica that leads, or led last, was elected.
func (c *Cluster) LeaderSince() time.Duration { return c.leaderSince }

// start runs an instance that waits until it leads.
func (r *Replica) start() {
	if r.process != nil || r.held {
		return
	}
	p := r.cluster.World.Process(r.Name)
	r.process = p
	p.OnDeath(func() { r.ended(p) })
	r.cluster.World.Trace(r.Name, trace.Start, "")
	r.cluster.elect()
}

// elect lets the first replica that lives and is connected lead, if nobody does.
func (c *Cluster) elect() {
	if c.leader != nil || c.World.Elapsed() < c.leaseFree {
		return
	}
	for _, r := range c.Replicas {
		if r.process != nil && !r.Cut {
			c.leader, c.leaderSince = r, c.World.Elapsed()
			c.World.Trace(r.Name, "leader", "elected")
			p := r.process
			p.Go("main", func() { r.lead(p) })
			return
		}
	}
}

// lead is what the program does once it is elected.
func (r *Replica) lead(p *world.Process) {
	c := r.cluster
	ctx := logf.IntoContext(c.ctx, trace.Logger(p))
	connection := c.API.Connect(p, apiserver.ConnectionOptions{
		Reach: func() bool { return !r.Cut }, LostAfter: apiserver.ControllersLostAfter, DialTimeout: apiserver.ControllersDial, UserAgent: "nmstate-controllers",
	})
	options := cache.Options{ByObject: rollout.Cached()}
	if c.mode == Centralized {
		options = policy.CacheOptions("")
	}
	options.ByObject[&corev1.Pod{}] = rollout.CachedPods(podNamespace)
	store := connection.Cache(options)
	events := c.Events.Recorder(p)
	plans := rollout.New(rollout.Options{
		Client: cached.New(connection.ConsistentClient(store), connection.Live(), p.Clock()), Live: connection.Live(), Events: events, Clock: p.Clock(), Grace: plan.DefaultGrace, Handlers: podNamespace,
	})
	if err := plans.Index(ctx, store); err != nil {
		panic(err)
	}
	controllers := []*controller{newController(ctx, p, plans.Controller(), plans)}
	if c.mode == Centralized {
		policies := policy.New(policy.Options{
			Client: c.options.Watch.Client(p, "", connection.Client(store)), Live: c.options.Watch.Live(p, "", connection.Live()), Clock: p.Clock(), Events: events, Commands: true, Protected: desired.DefaultProtected(),
		})
		if err := policies.Index(ctx, store); err != nil {
			panic(err)
		}
		controllers = append(controllers, newController(ctx, p, policies.Controller(), policies))
	}
	_ = begin(ctx, store, controllers) // Its context never ends.
}

// ended frees the Lease in time, and has the replica started again.
func (r *Replica) ended(p *world.Process) {
	if r.process != p {
		return
	}
	c := r.cluster
	r.process = nil
	if c.leader == r {
		c.leader = nil
		c.World.Trace(r.Name, "leader", "lost")
		c.leaseFree = c.World.Elapsed() + leaseDuration
		c.World.After(leaseDuration, c.elect)
	}
	r.restart++
	c.World.After(min(lastRestart, firstRestart<<min(r.restart, 8)), r.start)
}

// Kill is kill -9 of the replica, which is started again.
func (r *Replica) Kill() {
	if r.process != nil {
		r.process.Kill()
	}
}

// SetCut parts the replica from the API server, or joins them again. A leader
// that cannot renew its Lease ends itself.
func (r *Replica) SetCut(cut bool) {
	r.Cut = cut
	if !cut {
		r.cluster.elect()
		return
	}
	p := r.process
	r.cluster.World.After(renewDeadline, func() {
		if r.Cut && r.process == p && p != nil && r.cluster.leader == r {
			p.Kill()
		}
	})
}

func replicaName(i int) string { return fmt.Sprintf("controllers-%d", i+1) }
