package swarm

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// thief is who has the token of a node's handler. It does what admission lets that do
// (deploy/rbac/own-node.yaml, and the lines "let through" of docs/security.md).
type thief struct {
	*effects
	node string
	r    *rand.Rand
	// ghosts counts the enactments of policies that there are not.
	ghosts int
}

// Lie implements fault.People.
func (e *effects) Lie(node string, on bool, r *rand.Rand) {
	n := e.cluster.Node(node)
	if !on || n == nil {
		e.ended("lies", node)
		return
	}
	n.TakeOver()
	t, over := &thief{effects: e, node: node, r: r}, false
	e.begun("lies", node, func() { over = true })
	var again func()
	again = func() {
		if over || e.cluster.Node(node) == nil {
			return
		}
		what, lie := t.draw()
		e.cluster.World.Trace(node, "node", "lie: "+what)
		// What is not there, or is another one by now, is left alone.
		if err := lie(); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) {
			e.cluster.World.Fail(fmt.Errorf("lying for %s: %w", node, err))
		}
		e.cluster.World.After(time.Duration(1+r.IntN(30))*time.Second, again)
	}
	again()
}

func (t *thief) client() client.Client { return t.cluster.API.As("thief/" + t.node) }

// draw one lie, and what it is.
func (t *thief) draw() (string, func() error) {
	switch n := t.r.IntN(10); {
	case n < 4:
		return "the status of an enactment of its own", t.status
	case n < 6:
		return "an enactment of a policy that need not select it", t.intrude
	case n < 7:
		return "an enactment of a policy that there is not", t.ghost
	case n < 9:
		return "its report", t.report
	}
	return "an enactment of its own is deleted", t.remove
}

// status of one of the node's enactments.
func (t *thief) status() error {
	if e := t.mine(); e != nil {
		return t.say(e)
	}
	return nil
}

func (t *thief) remove() error {
	if e := t.mine(); e != nil {
		return t.client().Delete(t.ctx, e)
	}
	return nil
}

// intrude into a policy.
func (t *thief) intrude() error {
	name := t.policyOn("", t.r)
	if policy := t.policy(name); policy != nil {
		return t.enact(name, policy.UID)
	}
	return nil
}

func (t *thief) ghost() error {
	t.ghosts++
	name := fmt.Sprintf("ghost%d", t.ghosts)
	return t.enact(name, types.UID(name+"-of-"+t.node))
}

// enact makes an enactment of the node and says something in it.
func (t *thief) enact(policy string, uid types.UID) error {
	node, is := t.cluster.API.Look(&corev1.Node{}, t.node).(*corev1.Node)
	if !is {
		return nil
	}
	e := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
		Name:   v1.EnactmentName(t.node, policy),
		Labels: map[string]string{v1.EnactmentNodeLabel: t.node, v1.EnactmentPolicyLabel: policy},
		OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "Node", Name: t.node, UID: node.UID},
			{APIVersion: v1.GroupVersion.String(), Kind: "NodeNetworkConfigurationPolicy", Name: policy, UID: uid},
		},
	}}
	if err := t.client().Create(t.ctx, e); err != nil {
		return err
	}
	return t.say(e)
}

// mine is one of the node's enactments; nil for none.
func (t *thief) mine() *v1.NodeNetworkConfigurationEnactment {
	var mine []*v1.NodeNetworkConfigurationEnactment
	t.cluster.API.Each(&v1.NodeNetworkConfigurationEnactment{}, func(o client.Object) {
		if e := o.(*v1.NodeNetworkConfigurationEnactment); e.Node() == t.node {
			mine = append(mine, e)
		}
	})
	if len(mine) == 0 {
		return nil
	}
	return mine[t.r.IntN(len(mine))]
}

// never is a generation that no policy comes to.
const never = 1 << 40

// say something in an enactment, whatever it is about.
func (t *thief) say(before *v1.NodeNetworkConfigurationEnactment) error {
	generation := before.Spec.ApprovedGeneration
	if policy := t.policy(before.Policy()); policy != nil {
		generation = policy.Generation
	}
	after := before.DeepCopy()
	now := metav1.NewTime(t.cluster.World.Now())
	is := pick(t.r, v1.EnactmentAvailable, v1.EnactmentFailing, v1.EnactmentProgressing, v1.EnactmentPending, v1.EnactmentAborted, v1.Planned)
	after.Status.PolicyGeneration = pick(t.r, generation, generation, generation, 0, generation+1, never)
	after.Status.Conditions = []v1.Condition{{
		Type: is, Status: metav1.ConditionTrue, Reason: "Evil", Message: "nothing of this is so",
		LastHeartbeatTime: now, LastTransitionTime: now,
	}}
	after.Status.Hash = pick(t.r, after.Status.Hash, "", "evil")
	if chance(t.r, 30) {
		after.Status.Committed = &v1.CommittedPolicy{Generation: after.Status.PolicyGeneration, Hash: after.Status.Hash, Since: now}
	}
	return t.client().Status().Patch(t.ctx, after, client.MergeFrom(before))
}

// report a network that nobody has.
func (t *thief) report() error {
	before, is := t.cluster.API.Look(&v1.NodeNetworkState{}, t.node).(*v1.NodeNetworkState)
	if !is {
		return nil
	}
	after := before.DeepCopy()
	after.Status.CurrentState = v1.NewState([]byte(pick(t.r, `{}`,
		`{"interfaces":[{"name":"eth0","type":"ethernet","state":"down"},{"name":"eth7","type":"ethernet","state":"up","mtu":9000}]}`)))
	after.Status.ObservedGeneration = pick(t.r, 0, before.Generation, never)
	after.Status.Transaction = nil
	return t.client().Status().Patch(t.ctx, after, client.MergeFrom(before))
}
