package oracle

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// named: an enactment is called NODE.POLICY, unless another one has that name, or had
// it; and there is one of a policy on a node at a time.
type named struct {
	// had are those that had a name, by it.
	had map[string][]about
	// is and names are those that are there, by their name and by what they are about.
	is    map[string]about
	names map[about]map[string]bool
}

// about is what an enactment is about.
type about struct{ node, policy string }

func newNamed() *named {
	return &named{map[string][]about{}, map[string]about{}, map[about]map[string]bool{}}
}

func (*named) Name() string { return "named" }

func (n *named) Observe(f *Facts, e Event) error {
	w, is := e.What.(Wrote)
	if !is || w.Kind != "NodeNetworkConfigurationEnactment" {
		return nil
	}
	made, is := w.After.(*v1.NodeNetworkConfigurationEnactment)
	its := n.note(w.Name, made)
	if !is || w.Before != nil {
		return nil
	}
	n.had[made.Name] = append(n.had[made.Name], its)
	for _, other := range sortedKeys(n.names[its]) {
		if other == made.Name {
			continue
		}
		return fmt.Errorf("enactment %s is made beside %s, which is of policy %s on node %s too", made.Name, other, its.policy, its.node)
	}
	plain := v1.EnactmentName(its.node, its.policy)
	if made.Name != plain && !slices.ContainsFunc(n.had[plain], func(a about) bool { return a != its }) {
		return fmt.Errorf("enactment %s could be called %s, a name that no other one ever had", made.Name, plain)
	}
	return nil
}

// note takes in what an enactment is about now; nil is one that is gone.
func (n *named) note(name string, e *v1.NodeNetworkConfigurationEnactment) about {
	if was, there := n.is[name]; there {
		delete(n.names[was], name)
		delete(n.is, name)
	}
	if e == nil {
		return about{}
	}
	its := about{e.Node(), e.Policy()}
	if n.names[its] == nil {
		n.names[its] = map[string]bool{}
	}
	n.is[name], n.names[its][name] = its, true
	return its
}

// enactment of a policy on a node; nil for none.
func (f *Facts) enactment(node, policy string) *v1.NodeNetworkConfigurationEnactment {
	var uid types.UID
	if n := f.node(node); n != nil {
		uid = n.UID
	}
	for _, name := range v1.EnactmentNames(node, uid, policy) {
		e, _ := f.Look(&v1.NodeNetworkConfigurationEnactment{}, name).(*v1.NodeNetworkConfigurationEnactment)
		if e != nil && e.Node() == node && e.Policy() == policy {
			return e
		}
	}
	return nil
}
