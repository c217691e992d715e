package swarm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/fault"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Size bounds what is drawn. The zero value is that of every change.
type Size struct {
	// MostNodes of a run; 0: 7.
	MostNodes int
	// Safety is how long the workload and the faults last; 0: 30 minutes.
	Safety time.Duration
	// Always are kinds of faults that every run has.
	Always []string
	// Lean: people act in the middle of something, and faults come by threes.
	Lean bool
}

const (
	mostNodes = 7
	safety    = 30 * time.Minute
	// liveness covers the longest wait that is not for a person: a probe that is
	// lost with the longest window, then five minutes of back-off, for policies
	// one after the other on nodes one after the other.
	liveness = 3 * time.Hour
	quiet    = 10 * time.Minute

	// zoneLabel is what policies select nodes by, mtuLabel what a variable comes from.
	zoneLabel = "example.com/zone"
	mtuLabel  = "example.com/mtu"
	taintKey  = "example.com/taint"
)

// Kinds are the names that Size.Always may have.
func Kinds() []string {
	names := []string{others, lateNICs}
	for _, kind := range fault.Catalog() {
		names = append(names, kind.Name)
	}
	return names
}

// Draw draws a run from a seed.
func Draw(seed uint64, size Size) Run {
	if size.MostNodes == 0 {
		size.MostNodes = mostNodes
	}
	if size.Safety == 0 {
		size.Safety = safety
	}
	w := world.New(seed) // For its streams only.
	run := Run{
		Seed: seed, Cluster: drawCluster(w.Rand("cluster"), size.MostNodes),
		Safety: size.Safety, Liveness: liveness, Quiet: quiet,
	}
	colliding := collide(&run.Cluster, w.Rand("names"))
	drawBare(w.Rand("bare"), run.Cluster)
	drawPlane(w.Rand("plane"), run.Cluster)
	if seed%undoneEvery != 0 { // The other history has its NICs from the beginning.
		drawLate(w.Rand("late"), run.Cluster, size)
	}
	run.Cluster.Others = slices.Contains(size.Always, others)
	run.Actions = drawActions(w.Rand("workload"), run.Cluster, size.Safety)
	if colliding {
		rename(run.Actions)
	}
	if seed%undoneEvery != 0 { // The other history has its handlers from the beginning.
		run.older(w.Rand("older"))
	}
	var names []string
	for _, n := range run.Cluster.Nodes {
		names = append(names, n.Name)
	}
	run.Faults = fault.Draw(fault.Shape{
		Nodes: names, From: 30 * time.Second, Until: size.Safety, Armed: armed(w.Rand("armed")), Always: size.Always, Lean: size.Lean,
	}, w.Rand)
	if size.Lean {
		run.asking(w.Rand("asking"))
	}
	if seed%undoneEvery == 0 {
		return run.undone()
	}
	return run
}

// undoneEvery is how many seeds there are for one whose run leaves nothing behind
// but what its last policies say: it is compared with another history (again.go).
const undoneEvery = 10

// armed is the probability for each kind of fault: one run in eight has none,
// and few have all of them.
func armed(r *rand.Rand) float64 {
	switch n := r.IntN(8); {
	case n == 0:
		return 0
	case n < 4:
		return 0.08
	case n < 7:
		return 0.2
	}
	return 0.5
}

func drawCluster(r *rand.Rand, most int) Cluster {
	c := Cluster{Centralized: r.IntN(4) == 0, Controllers: 1 + r.IntN(2)}
	for i := range 1 + r.IntN(most) {
		c.Nodes = append(c.Nodes, drawNode(r, i+1))
	}
	for range 2 {
		c.Spare = append(c.Spare, drawNode(r, len(c.Nodes)+len(c.Spare)+1))
	}
	return c
}

// drawBare leaves a node of one run in eight without a handler: another system's, or
// one that no DaemonSet reaches.
func drawBare(r *rand.Rand, c Cluster) {
	all := slices.Concat(c.Nodes, c.Spare)
	n, at := r.IntN(8), r.IntN(len(all))
	switch {
	case n > 0 || len(c.Nodes) == 1:
	case at < len(c.Nodes):
		c.Nodes[at].Bare = true
	default:
		c.Spare[at-len(c.Nodes)].Bare = true
	}
}

// One run in sixteen has these: with policy2, longNode comes to the same enactment
// name as node1 with longPolicy.
const longNode, longPolicy = "node1.x", "x.policy2"

// collide gives a node a name that begins with that of node1.
func collide(c *Cluster, r *rand.Rand) bool {
	if r.IntN(16) != 0 || len(c.Nodes) < 2 {
		return false
	}
	c.Nodes[1+r.IntN(len(c.Nodes)-1)].Name = longNode
	return true
}

// rename gives the first policy the name with which node1 has the same enactment
// names as the other node with policy2.
func rename(actions []Action) {
	for i, a := range actions {
		if (a.Verb == Apply || a.Verb == Delete || a.Verb == Confirm) && a.Name == "policy1" {
			actions[i].Name = longPolicy
		}
	}
}

// lateNICs is what Size.Always calls nodes with NICs that come later.
const lateNICs = "late-nics"

// drawLate has a NIC of nodes plugged in when policies may be there, in one run of eight.
func drawLate(r *rand.Rand, c Cluster, size Size) {
	late := r.IntN(8) == 0 || slices.Contains(size.Always, lateNICs)
	for i := range c.Nodes {
		if at := between(r, 2*time.Minute, size.Safety); late && c.Nodes[i].NICs > 2 {
			c.Nodes[i].Late = at
		}
	}
}

// hasLate tells whether a NIC comes later.
func (c Cluster) hasLate() bool {
	return slices.ContainsFunc(c.Nodes, func(n Node) bool { return n.Late > 0 })
}

// planeLabel is that of a node on which the control plane runs.
const planeLabel = "node-role.kubernetes.io/control-plane"

// drawPlane has the control plane run on the cluster's first nodes, in one run of four.
func drawPlane(r *rand.Rand, c Cluster) {
	if r.IntN(4) > 0 {
		return
	}
	for i := range c.Nodes[:min(len(c.Nodes), 3+r.IntN(3))] {
		c.Nodes[i].Labels[planeLabel] = ""
	}
}

func drawNode(r *rand.Rand, number int) Node {
	n := Node{
		Name: fmt.Sprintf("node%d", number), NICs: 2 + r.IntN(3), Address: fmt.Sprintf("192.0.2.%d", 10+number),
		Labels: map[string]string{zoneLabel: pick(r, "a", "b")}, Tainted: r.IntN(8) == 0,
	}
	if r.IntN(3) == 0 {
		n.Labels[mtuLabel] = pick(r, "1400", "1450")
	}
	return n
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// chance is true that many times in a hundred.
func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return (least + time.Duration(r.Int64N(int64(most-least)+1))).Truncate(time.Millisecond)
}

// inOrder sorts by time and numbers what people do.
func inOrder(actions []Action) []Action {
	slices.SortStableFunc(actions, func(a, b Action) int { return int(a.At - b.At) })
	for i := range actions {
		actions[i].ID = i + 1
	}
	return actions
}
