package kind

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func rollouts() {
	It("never changes more nodes at a time than maxUnavailable says", func(ctx SpecContext) {
		requests := k.requests(ctx)
		costs := k.costs(ctx)
		turns := k.watchTurns(ctx, "rolled")
		took := k.become(ctx, manifest("rolled", everywhere, many(5), oneByOne), "rolled", k.all(),
			bridged("e2e-many4", "10.20.4.1")...)
		most, all := turns.stop()
		Expect(all).To(HaveLen(len(k.all())), "nodes that were seen at it")
		Expect(most).To(Equal(1), "nodes at a time")
		sayCosts("in a rollout", costs, k.costs(ctx))
		told.say(fmt.Sprintf("a policy of five bridges created to Available on %d nodes, one by one", len(k.all())), seconds(took))
		after := k.requests(ctx)
		for _, n := range k.all() {
			told.say("API requests of the handler on "+n.name+" for it", fmt.Sprintf("%d", after[n.name]-requests[n.name]))
		}
	}, SpecTimeout(specTimeout))

	It("of a policy without maxUnavailable goes to half of the nodes at a time", func(ctx SpecContext) {
		turns := k.watchTurns(ctx, "halves")
		took := k.become(ctx, manifest("halves", everywhere, bridge("e2e-br", "10.33.0.1")), "halves", k.all(), bridged("e2e-br", "10.33.0.1")...)
		most, _ := turns.stop()
		Expect(most).To(BeNumerically("<=", (len(k.all())+1)/2))
		told.say(fmt.Sprintf("a policy of a bridge created to Available on %d nodes", len(k.all())), seconds(took))
	}, SpecTimeout(specTimeout))

	It("stops where a node fails, and the others are never touched", func(ctx SpecContext) {
		k.create(ctx, manifest("broken", everywhere, bridge("e2e-br", "10.33.0.1"), oneByOne, "probes: [{type: ping, target: 203.0.113.254}]"))
		Expect(k.awaitPolicy(ctx, "broken", v1.PolicyDegraded)).To(Equal(
			fmt.Sprintf("1/%d nodes failed to configure, %d nodes aborted configuration", len(k.all()), len(k.all())-1)))
		for _, n := range k.all() {
			n.awaitWithout(ctx, "e2e-br")
			Expect(n.openCheckpoints(ctx)).To(Equal(noCheckpoint))
		}
	}, SpecTimeout(specTimeout))

	It("goes on while the DaemonSet is updated, and each handler lets its change end first", func(ctx SpecContext) {
		first, second := k.workers[0], k.workers[1]
		old := map[string]string{}
		for _, n := range k.all() {
			old[n.name] = string(k.awaitHandler(ctx, n, "").UID)
		}
		k.create(ctx, manifest("updated", onWorkers, bridge("e2e-br", "10.33.1."+last, "eth1"), oneByOne, held))
		at := k.awaitOneHeld(ctx, "updated")
		before := at.checkpoints(ctx)
		k.kubectl(ctx, "-n", namespace, "rollout", "restart", "ds/nmstate-handler")
		// Its handler goes when the change is done, whenever its turn is.
		k.confirm(ctx, "updated")
		k.awaitPolicy(ctx, "updated", v1.PolicyAvailable)
		k.awaitRolledOut(ctx)
		for _, n := range k.all() {
			k.awaitHandler(ctx, n, old[n.name])
		}
		for _, w := range []*node{first, second} {
			k.awaitEnactment(ctx, w, "updated", v1.EnactmentAvailable)
			w.awaitKernel(ctx, bridged("e2e-br", "10.33.1."+last, "eth1")...)
		}
		Expect(at.checkpoints(ctx)).To(Equal(before), "what was held was not applied again")
	}, SpecTimeout(specTimeout))
}

// awaitOneHeld waits until a worker's change waits for a person, and says whose.
func (c *cluster) awaitOneHeld(ctx context.Context, policy string) *node {
	GinkgoHelper()
	var at *node
	Eventually(ctx, func(g Gomega) {
		for _, w := range c.workers {
			nns, err := c.state(ctx, w)
			g.Expect(err).NotTo(HaveOccurred())
			if t := nns.Status.Transaction; t != nil && t.Phase == "Probing" && t.Policy == policy {
				at = w
			}
		}
		g.Expect(at).NotTo(BeNil(), "a worker that waits for the confirmation of %s", policy)
	}).Should(Succeed())
	return at
}

// turns are the nodes that a policy's rollout is at.
type turns struct {
	watch watch.Interface
	ended sync.WaitGroup
	most  int
	seen  map[string]bool
}

// watchTurns looks at every version of every enactment of a policy: a node is
// at it from its approval until it is Available, or says why not.
func (c *cluster) watchTurns(ctx context.Context, policy string) *turns {
	GinkgoHelper()
	w, err := c.Watch(ctx, &v1.NodeNetworkConfigurationEnactmentList{}, client.MatchingLabels{v1.EnactmentPolicyLabel: policy})
	Expect(err).NotTo(HaveOccurred())
	t := &turns{watch: w, seen: map[string]bool{}}
	at := map[string]bool{}
	t.ended.Go(func() {
		for event := range w.ResultChan() {
			enactment, is := event.Object.(*v1.NodeNetworkConfigurationEnactment)
			if !is {
				continue
			}
			_, available := said(enactment.Status.Conditions, v1.EnactmentAvailable)
			if enactment.Spec.ApprovedGeneration > 0 && !available && event.Type != watch.Deleted {
				at[enactment.Name], t.seen[enactment.Name] = true, true
			} else {
				delete(at, enactment.Name)
			}
			t.most = max(t.most, len(at))
		}
	})
	return t
}

// stop ends the watch and tells how many nodes were at it at a time, and which
// ones ever.
func (t *turns) stop() (most int, ever []string) {
	t.watch.Stop()
	t.ended.Wait()
	return t.most, slices.Sorted(maps.Keys(t.seen))
}

// idle measures the programs while nothing happens.
func (c *cluster) idle(ctx context.Context) {
	GinkgoHelper()
	const long = 20 * time.Second
	before, started := c.costs(ctx), time.Now()
	Eventually(ctx, func() time.Duration { return time.Since(started) }).WithPolling(time.Second).Should(BeNumerically(">=", long))
	sayCosts("idle", before, c.costs(ctx))
}
