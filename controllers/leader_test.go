package main

import (
	"fmt"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The leader is killed with -9 in the middle of a rollout, so its Lease has to
// run out before the other one takes over.
func TestALeaderThatIsKilledInARolloutIsFollowedByTheOther(t *testing.T) {
	t.Parallel() // It mostly waits for a Lease to run out.
	c, cancel := newPlane(t)
	c.apply("../deploy/rbac/controllers.yaml")
	c.players = startPlayers(c.ctx, t, c.api)
	t.Cleanup(cancel)
	const nodes, limit = 40, 2
	for i := range nodes {
		c.addNode(fmt.Sprintf("node%02d", i), map[string]string{"role": "worker"})
	}
	first := c.start()
	leader := c.awaitLeader("")
	second := c.start()
	c.create(c.policy("rolled", intstr.FromInt32(limit), nil))
	c.poll("a quarter of the nodes is done", func() (bool, string) {
		got := c.get("rolled").Status.Counts
		return got.Available >= nodes/4, fmt.Sprintf("%+v", got)
	})
	first.kill()
	at := c.get("rolled").Status.Counts
	t.Logf("killed with %d of %d nodes done", at.Available, nodes)
	if at.Available == nodes {
		t.Fatal("the rollout was over before the kill")
	}
	next := c.awaitLeader(leader)
	c.await("rolled", fmt.Sprintf("generation 1 Available SuccessfullyConfigured: %d/%d nodes successfully configured", nodes, nodes))
	if most := c.players.mostOpen("rolled"); most > limit {
		t.Errorf("%d nodes were changing at once, at most %d may", most, limit)
	}
	select {
	case <-second.ended:
		t.Error("the other one has ended")
	default:
	}
	t.Logf("leader %s was followed by %s", leader, next)
}

func (c *cluster) holder() string {
	lease := &coordinationv1.Lease{}
	if err := c.api.Get(c.ctx, client.ObjectKey{Namespace: "nmstate", Name: leaseName}, lease); err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// awaitLeader waits for a leader other than that.
func (c *cluster) awaitLeader(than string) string {
	c.Helper()
	holder := ""
	c.poll("a new leader", func() (bool, string) {
		holder = c.holder()
		return holder != "" && holder != than, holder
	})
	return holder
}
