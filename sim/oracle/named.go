package oracle

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// named: an enactment is called NODE.POLICY, unless another one has that name, or had
// it; and there is one of a policy on a node at a time.
type named struct {
	// had are those that had a name, by it.
	had map[string][]about
}

// about is what an enactment is about.
type about struct{ node, policy string }

func newNamed() *named { return &named{had: map[string][]about{}} }

func (*named) Name() string { return "named" }

func (n *named) Observe(f *Facts, e Event) error {
	w, is := e.What.(Wrote)
	if !is || w.Before != nil {
		return nil
	}
	made, is := w.After.(*v1.NodeNetworkConfigurationEnactment)
	if !is {
		return nil
	}
	its := about{made.Node(), made.Policy()}
	n.had[made.Name] = append(n.had[made.Name], its)
	var other string
	f.Each(&v1.NodeNetworkConfigurationEnactment{}, func(o client.Object) {
		e := o.(*v1.NodeNetworkConfigurationEnactment)
		if e.Name != made.Name && its == (about{e.Node(), e.Policy()}) {
			other = e.Name
		}
	})
	if other != "" {
		return fmt.Errorf("enactment %s is made beside %s, which is of policy %s on node %s too", made.Name, other, its.policy, its.node)
	}
	plain := v1.EnactmentName(its.node, its.policy)
	if made.Name != plain && !slices.ContainsFunc(n.had[plain], func(a about) bool { return a != its }) {
		return fmt.Errorf("enactment %s could be called %s, a name that no other one ever had", made.Name, plain)
	}
	return nil
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
