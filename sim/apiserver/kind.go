package apiserver

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// The kinds that the model has, by their place in the store.
const (
	nodes = iota
	states
	policies
	enactments
	pods
	numKinds
)

// kind is what the store has to know of a Go type.
type kind struct {
	place               int
	name, short, plural string
	group               schema.GroupVersion
	// counted: it has a generation, and a create leaves its status out.
	counted bool

	fresh   func() client.Object
	shallow func(client.Object) client.Object
	adopt   func(into, from client.Object)
	// parts point at the object's metadata, spec and status.
	parts   func(client.Object) (meta *metav1.ObjectMeta, spec, status any)
	setSpec func(into, from client.Object)
	// defaults are those of the schema.
	defaults  func(client.Object)
	setStatus func(into, from client.Object)
	fill      func(list client.ObjectList, objects []client.Object)
}

func (k *kind) resource() schema.GroupResource {
	return schema.GroupResource{Group: k.group.Group, Resource: k.plural}
}

func (k *kind) gvk() schema.GroupVersionKind { return k.group.WithKind(k.name) }

// object is a pointer to a kind's Go type.
type object[T any] interface {
	*T
	client.Object
}

// typed fills in what is the same for all Go types.
func typed[T any, P object[T]](k kind, items func(client.ObjectList) *[]T) *kind {
	k.fresh = func() client.Object { return P(new(T)) }
	k.shallow = func(o client.Object) client.Object {
		made := *o.(P)
		return P(&made)
	}
	k.adopt = func(into, from client.Object) { *into.(P) = *from.(P) }
	k.fill = func(list client.ObjectList, objects []client.Object) {
		made := make([]T, len(objects))
		for i, o := range objects {
			made[i] = *o.(P)
		}
		*items(list) = made
	}
	return &k
}

func kinds() [numKinds]*kind {
	return [numKinds]*kind{nodes: nodeKind(), states: stateKind(), policies: policyKind(), enactments: enactmentKind(), pods: podKind()}
}

func nodeKind() *kind {
	return typed[corev1.Node](kind{
		place: nodes, name: "Node", short: "node", plural: "nodes", group: corev1.SchemeGroupVersion,
		parts: func(o client.Object) (*metav1.ObjectMeta, any, any) {
			n := o.(*corev1.Node)
			return &n.ObjectMeta, &n.Spec, &n.Status
		},
		setSpec:   func(into, from client.Object) { into.(*corev1.Node).Spec = from.(*corev1.Node).Spec },
		setStatus: func(into, from client.Object) { into.(*corev1.Node).Status = from.(*corev1.Node).Status },
		defaults:  func(client.Object) {},
	}, func(l client.ObjectList) *[]corev1.Node { return &l.(*corev1.NodeList).Items })
}

func stateKind() *kind {
	type T = v1.NodeNetworkState
	return typed[T](kind{
		place: states, name: "NodeNetworkState", short: "nns", plural: "nodenetworkstates", group: v1.GroupVersion, counted: true,
		parts: func(o client.Object) (*metav1.ObjectMeta, any, any) {
			s := o.(*T)
			return &s.ObjectMeta, &s.Spec, &s.Status
		},
		setSpec:   func(into, from client.Object) { into.(*T).Spec = from.(*T).Spec },
		setStatus: func(into, from client.Object) { into.(*T).Status = from.(*T).Status },
		defaults: func(o client.Object) {
			if s := o.(*T); s.Spec.Managed == nil {
				s.Spec.Managed = new(true)
			}
		},
	}, func(l client.ObjectList) *[]T { return &l.(*v1.NodeNetworkStateList).Items })
}

func policyKind() *kind {
	type T = v1.NodeNetworkConfigurationPolicy
	return typed[T](kind{
		place: policies, name: "NodeNetworkConfigurationPolicy", short: "nncp", plural: "nodenetworkconfigurationpolicies", group: v1.GroupVersion, counted: true,
		parts: func(o client.Object) (*metav1.ObjectMeta, any, any) {
			p := o.(*T)
			return &p.ObjectMeta, &p.Spec, &p.Status
		},
		setSpec:   func(into, from client.Object) { into.(*T).Spec = from.(*T).Spec },
		setStatus: func(into, from client.Object) { into.(*T).Status = from.(*T).Status },
		defaults:  func(o client.Object) { defaultPolicy(&o.(*T).Spec) },
	}, func(l client.ObjectList) *[]T { return &l.(*v1.NodeNetworkConfigurationPolicyList).Items })
}

// defaultPolicy sets what the schema in deploy/crds sets.
func defaultPolicy(spec *v1.NodeNetworkConfigurationPolicySpec) {
	if spec.MaxUnavailable == nil {
		half := intstr.FromString("50%")
		spec.MaxUnavailable = &half
	}
	if auto := spec.AutoConfig; auto != nil && auto.Bonding != nil {
		bonding := *auto.Bonding
		if bonding.Mode == "" {
			bonding.Mode = "active-backup"
		}
		if bonding.NamePrefix == "" {
			bonding.NamePrefix = "bond"
		}
		spec.AutoConfig = &v1.AutoConfig{Bonding: &bonding, VLAN: auto.VLAN}
	}
}

func enactmentKind() *kind {
	type T = v1.NodeNetworkConfigurationEnactment
	return typed[T](kind{
		place: enactments, name: "NodeNetworkConfigurationEnactment", short: "nnce", plural: "nodenetworkconfigurationenactments", group: v1.GroupVersion, counted: true,
		parts: func(o client.Object) (*metav1.ObjectMeta, any, any) {
			e := o.(*T)
			return &e.ObjectMeta, &e.Spec, &e.Status
		},
		setSpec:   func(into, from client.Object) { into.(*T).Spec = from.(*T).Spec },
		setStatus: func(into, from client.Object) { into.(*T).Status = from.(*T).Status },
		defaults:  func(client.Object) {},
	}, func(l client.ObjectList) *[]T { return &l.(*v1.NodeNetworkConfigurationEnactmentList).Items })
}

// podKind: the model has pods of one namespace.
func podKind() *kind {
	return typed[corev1.Pod](kind{
		place: pods, name: "Pod", short: "pod", plural: "pods", group: corev1.SchemeGroupVersion, counted: true,
		parts: func(o client.Object) (*metav1.ObjectMeta, any, any) {
			p := o.(*corev1.Pod)
			return &p.ObjectMeta, &p.Spec, &p.Status
		},
		setSpec:   func(into, from client.Object) { into.(*corev1.Pod).Spec = from.(*corev1.Pod).Spec },
		setStatus: func(into, from client.Object) { into.(*corev1.Pod).Status = from.(*corev1.Pod).Status },
		defaults:  func(client.Object) {},
	}, func(l client.ObjectList) *[]corev1.Pod { return &l.(*corev1.PodList).Items })
}

// place of an object's or a list's kind; one that the model lacks panics.
func place(o runtime.Object) int {
	switch o.(type) {
	case *corev1.Node, *corev1.NodeList:
		return nodes
	case *corev1.Pod, *corev1.PodList:
		return pods
	case *v1.NodeNetworkState, *v1.NodeNetworkStateList:
		return states
	case *v1.NodeNetworkConfigurationPolicy, *v1.NodeNetworkConfigurationPolicyList:
		return policies
	case *v1.NodeNetworkConfigurationEnactment, *v1.NodeNetworkConfigurationEnactmentList:
		return enactments
	}
	if is := metadataOf(o); is >= 0 {
		return is
	}
	panic(fmt.Sprintf("apiserver: the model has no kind %T", o))
}
