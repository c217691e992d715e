package oracle

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// grant: only a node that the policy selects is granted it, and a node applies
// only what it was granted: nothing of a generation that it is to leave alone.
type grant struct {
	// granted are the generations by enactment and owner.
	granted map[string]map[int64]bool
	// changed is when what selects was changed last, by object.
	changed map[string]time.Duration
}

// grantLag is how old the controllers' view of nodes and policies may be without
// a fault.
const grantLag = 5 * time.Second

func newGrant() *grant {
	return &grant{granted: map[string]map[int64]bool{}, changed: map[string]time.Duration{}}
}

func (*grant) Name() string { return "grant" }

func (g *grant) Observe(f *Facts, e Event) error {
	switch what := e.What.(type) {
	case Wrote:
		return g.wrote(f, what)
	case CheckpointMade:
		t := f.Node(e.Node).Trial
		if t == nil || t.Made != e.At {
			return nil
		}
		if source, is := t.Policy(); is {
			return g.applied(f, e.Node, source)
		}
	}
	return nil
}

func (g *grant) wrote(f *Facts, w Wrote) error {
	switch after := w.After.(type) {
	case *corev1.Node:
		if w.Metadata || w.Spec {
			g.changed["node "+w.Name] = w.At
		}
	case *v1.NodeNetworkConfigurationPolicy:
		if w.Spec || w.Metadata {
			g.changed["policy "+w.Name] = w.At
		}
	case *v1.NodeNetworkConfigurationEnactment:
		if !w.Spec || after.Spec.ApprovedGeneration == 0 {
			return nil
		}
		key := granteeOf(after)
		if g.granted[key] == nil {
			g.granted[key] = map[int64]bool{}
		}
		before, had := w.Before.(*v1.NodeNetworkConfigurationEnactment)
		isNew := !had || before.Spec.ApprovedGeneration != after.Spec.ApprovedGeneration
		g.granted[key][after.Spec.ApprovedGeneration] = true
		if role, _ := roleOf(w.Process); isNew && role == roleControllers {
			return g.given(f, after)
		}
	}
	return nil
}

func (g *grant) given(f *Facts, e *v1.NodeNetworkConfigurationEnactment) error {
	node, name := nodeAndPolicy(e)
	policy := f.policy(name)
	if policy == nil || f.node(node) == nil || f.selects(policy, node) || !policy.DeletionTimestamp.IsZero() {
		return nil
	}
	since := max(g.changed["node "+node], g.changed["policy "+name])
	if f.Elapsed()-since < grantLag || !f.Calm(Controllers, max(0, since-hearsAgain), Stale|Hinders) {
		return nil
	}
	return on(node, "policy %s: generation %d was granted to a node that it has not selected for %s", name, e.Spec.ApprovedGeneration, f.Elapsed()-since)
}

func (g *grant) applied(f *Facts, node string, source v1.Source) error {
	e := f.enactment(node, source.Policy)
	if e == nil || g.granted[granteeOf(e)][source.Generation] {
		return nil
	}
	told := "not granted"
	if e.Spec.AbortedGeneration == source.Generation {
		told = "aborted"
	}
	return fmt.Errorf("policy %s: generation %d is applied, and it is %s there", source.Policy, source.Generation, told)
}

// granteeOf tells an enactment from one of another policy of the same name; of one
// whose policy is deleted the garbage collector leaves the Node.
func granteeOf(e *v1.NodeNetworkConfigurationEnactment) string {
	if e.UID != "" {
		return string(e.UID)
	}
	for _, owner := range e.OwnerReferences {
		if owner.Kind == "NodeNetworkConfigurationPolicy" {
			return e.Name + " " + string(owner.UID)
		}
	}
	return e.Name
}
