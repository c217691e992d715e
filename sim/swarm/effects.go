package swarm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
	"github.com/nmstate/kubernetes-nmstate/sim/cluster"
	"github.com/nmstate/kubernetes-nmstate/sim/fault"
	"github.com/nmstate/kubernetes-nmstate/sim/network"
	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
)

// effects is what faults do to a cluster: it implements fault.Effects, and
// answers the models' questions by what lasts.
type effects struct {
	actor
	network.Effects

	run     *Run
	targets map[string]*target
	touches int
	// undo is what ends what people have begun, by its name and node.
	undo map[string]func()
	// renamed counts the policies that got another name.
	renamed int
}

// target is what lasts about a node's handler, or the controllers.
type target struct {
	skew, lag, stale time.Duration
	// broken watches: their outages are drawn from it.
	broken *rand.Rand
	// status that the API server answers with, a share of the requests.
	status int
	rate   float64
	rand   *rand.Rand
	// downs are reasons to be away.
	downs int
}

func newEffects(ctx context.Context, c *cluster.Cluster, run *Run) *effects {
	e := &effects{actor: actor{ctx, c}, Effects: network.Effects{Cluster: c.Network}, run: run, targets: map[string]*target{}, undo: map[string]func(){}}
	c.API.Faults = apiserver.Faults{
		Delay: func(process, _ string) time.Duration { return e.delay(process) },
		Stale: func(process, _ string) time.Duration { return e.of(oracle.TargetOf(process)).stale },
		Break: e.breaks, Answer: e.answer,
	}
	c.World.Skew = func(process string) time.Duration { return e.of(oracle.TargetOf(process)).skew }
	return e
}

func (e *effects) of(name string) *target {
	t := e.targets[name]
	if t == nil {
		t = &target{}
		e.targets[name] = t
	}
	return t
}

// usual is a watch's delay without a fault.
const usual = 3 * time.Millisecond

func (e *effects) delay(process string) time.Duration {
	return max(usual, e.of(oracle.TargetOf(process)).lag)
}

// breaks tells that a watch ends, for how long, and whether it has to list anew.
func (e *effects) breaks(process, _ string) (time.Duration, bool) {
	r := e.of(oracle.TargetOf(process)).broken
	if r == nil || r.IntN(2) == 0 {
		return 0, false
	}
	return time.Duration(1+r.IntN(20_000)) * time.Millisecond, r.IntN(2) == 0
}

var (
	errServer = errors.New("etcdserver: request timed out")
	anything  = schema.GroupResource{Group: v1.GroupVersion.Group, Resource: "objects"}
)

// answer is the API server's own error.
func (e *effects) answer(r apiserver.Request) error {
	t := e.of(oracle.TargetOf(r.Process))
	if t.status == 0 || t.rand.Float64() >= t.rate {
		return nil
	}
	switch t.status {
	case 429:
		return apierrors.NewTooManyRequests("injected", 1)
	case 503:
		return apierrors.NewServiceUnavailable("injected")
	}
	return apierrors.NewInternalError(fmt.Errorf("%s: %w", anything, errServer))
}

// Lag implements fault.API. When it is over, what is on its way comes at once: a
// fault that has ended delays nothing any more.
func (e *effects) Lag(process string, by time.Duration) {
	e.of(process).lag = by
	if by == 0 {
		e.cluster.API.Hurry(func(name string) bool { return oracle.TargetOf(name) == process })
	}
}

// LoseEvents implements fault.API.
func (e *effects) LoseEvents(process string, on bool, r *rand.Rand) {
	e.of(process).broken = nil
	if on {
		e.of(process).broken = r
	}
}

// Answer implements fault.API.
func (e *effects) Answer(process string, status int, rate float64, r *rand.Rand) {
	t := e.of(process)
	t.status, t.rate, t.rand = status, rate, r
}

// touched is an annotation that nobody cares about.
const touched = "example.com/touched"

// Touch implements fault.API.
func (e *effects) Touch(node string) {
	e.touches++
	value := fmt.Sprint(e.touches)
	_ = change(e.actor, node, func(n *v1.NodeNetworkState) { set(&n.Annotations, touched, value) })
	var mine []string
	e.cluster.API.Each(&v1.NodeNetworkConfigurationEnactment{}, func(o client.Object) {
		if o.GetLabels()[v1.EnactmentNodeLabel] == node {
			mine = append(mine, o.GetName())
		}
	})
	for _, name := range mine {
		_ = change(e.actor, name, func(n *v1.NodeNetworkConfigurationEnactment) { set(&n.Annotations, touched, value) })
	}
}

// Skew implements fault.Processes.
func (e *effects) Skew(process string, by time.Duration) { e.of(process).skew = by }

// Crash implements fault.Processes.
func (e *effects) Crash(process string, down time.Duration) {
	if process == fault.Controllers {
		if leader := e.cluster.Leader(); leader != nil {
			leader.Kill()
		}
		return
	}
	n := e.cluster.Node(process)
	if n == nil {
		return
	}
	t := e.of(process)
	t.downs++
	n.HoldHandler()
	e.cluster.World.After(down, func() {
		if t.downs--; t.downs == 0 {
			n.ReleaseHandler()
		}
	})
}

// KeepAway implements fault.Processes.
func (e *effects) KeepAway(node string, away bool) {
	n, t := e.cluster.Node(node), e.of(node)
	switch {
	case n == nil:
	case away:
		t.downs++
		n.HoldHandler()
	default:
		if t.downs--; t.downs == 0 {
			n.ReleaseHandler()
		}
	}
}

// Rewind implements fault.Processes.
func (e *effects) Rewind(process string, by, down time.Duration) {
	t := e.of(process)
	t.stale = by
	e.Crash(process, down)
	// Until it has listed.
	e.cluster.World.After(down+time.Minute, func() { t.stale = 0 })
}

// ChangeLeader implements fault.Processes: the leader dies, or cannot renew its
// Lease.
func (e *effects) ChangeLeader(r *rand.Rand) {
	leader := e.cluster.Leader()
	if leader == nil {
		return
	}
	if r.IntN(2) == 0 {
		leader.Kill()
		return
	}
	leader.SetCut(true)
	e.cluster.World.After(time.Duration(5+r.IntN(60))*time.Second, func() { leader.SetCut(false) })
}
