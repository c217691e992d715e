package redteam

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Attempts are all of them, in the order in which they are made.
func Attempts() []Attempt {
	return slices.Concat(secrets(), rights(), others(), disguises(), lies(), floods())
}

// secrets are attempts on the Secrets that policies name.
func secrets() []Attempt {
	return []Attempt{
		{What: "read Secrets", Want: NoRight, try: func(ctx context.Context, t Thief) error {
			return anyOf(
				func() error { return t.Client.List(ctx, &corev1.SecretList{}) },
				func() error { return t.Client.List(ctx, &corev1.SecretList{}, client.InNamespace(t.Namespace)) },
				func() error {
					return t.Client.Get(ctx, client.ObjectKey{Namespace: t.Namespace, Name: "port"}, &corev1.Secret{})
				},
			)
		}},
		{What: "hand itself a Secret (the spec of its enactment)", Want: NoRight, try: func(ctx context.Context, t Thief) error {
			return t.Client.Patch(ctx, t.enactment(t.Node), merge(`{"spec":{"secrets":[{"name":"port","key":"password"}]}}`))
		}},
		{What: "have node B's Secrets sealed with its own key", Want: Admission, try: func(ctx context.Context, t Thief) error {
			return anyOf(
				func() error {
					return t.Client.Status().Patch(ctx, t.enactment(t.Victim), merge(`{"status":{"secretsKey":"evil"}}`))
				},
				func() error {
					return t.Client.Status().Patch(ctx, t.state(t.Victim), merge(`{"status":{"secretsKey":"evil"}}`))
				},
			)
		}},
		{What: "make an enactment that has Secrets", Want: Admission, try: creating(func(_ Thief, e *v1.NodeNetworkConfigurationEnactment) {
			e.Spec.Secrets = []v1.SealedSecret{{Name: "port", Key: "password"}}
		})},
	}
}

// rights are what no handler may do to any object.
func rights() []Attempt {
	return []Attempt{
		{What: "read ConfigMaps", Want: NoRight, try: func(ctx context.Context, t Thief) error {
			return t.Client.List(ctx, &corev1.ConfigMapList{})
		}},
		{What: "read or take the controllers' Lease", Want: NoRight, try: func(ctx context.Context, t Thief) error {
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: "nmstate-controllers"}}
			return anyOf(
				func() error { return t.Client.Get(ctx, client.ObjectKeyFromObject(lease), lease) },
				func() error { return t.Client.Patch(ctx, lease, merge(`{"spec":{"holderIdentity":"evil"}}`)) },
			)
		}},
		{What: "get a token of the controllers", Want: NoRight, try: func(ctx context.Context, t Thief) error {
			account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: "nmstate-controllers"}}
			return t.Client.SubResource("token").Create(ctx, account, &authenticationv1.TokenRequest{})
		}},
		{What: "start a pod", Want: NoRight, try: func(ctx context.Context, t Thief) error {
			return t.Client.Create(ctx, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: "evil"},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}},
			})
		}},
		{What: "give itself rights", Want: NoRight, try: func(ctx context.Context, t Thief) error {
			return t.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: "evil"},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			})
		}},
		{What: "write or delete a policy, or its status", Want: NoRight, try: func(ctx context.Context, t Thief) error {
			policy := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: t.Policy}}
			return anyOf(
				func() error { return t.Client.Patch(ctx, policy, merge(`{"spec":{"priority":7}}`)) },
				func() error { return t.Client.Delete(ctx, policy, client.DryRunAll) },
				func() error { return t.Client.Status().Patch(ctx, policy, merge(`{"status":{}}`)) },
			)
		}},
		{What: "let itself begin (the spec of its enactment)", Want: NoRight, try: func(ctx context.Context, t Thief) error {
			return t.Client.Patch(ctx, t.enactment(t.Node), merge(`{"spec":{"approvedGeneration":1099511627776}}`))
		}},
		{What: "label a node, also its own", Want: NoRight, try: func(ctx context.Context, t Thief) error {
			return t.Client.Patch(ctx, t.Node.DeepCopy(), merge(`{"metadata":{"labels":{"evil":"yes"}}}`))
		}},
		{What: "delete a NodeNetworkState, also its own", Want: NoRight, try: func(ctx context.Context, t Thief) error {
			return t.Client.Delete(ctx, t.state(t.Node))
		}},
		{What: "delete all enactments at once", Want: NoRight, try: func(ctx context.Context, t Thief) error {
			return t.Client.DeleteAllOf(ctx, &v1.NodeNetworkConfigurationEnactment{})
		}},
		{What: "change an NMState object", Want: NoRight, try: func(ctx context.Context, t Thief) error {
			return t.Client.Create(ctx, &v1.NMState{ObjectMeta: metav1.ObjectMeta{Name: "evil"}})
		}},
		{
			What: "ask whose a token is", Want: Passes, Harmless: "the metrics port has to; it has to have the token already",
			try: func(ctx context.Context, t Thief) error {
				return t.Client.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: "made-up"}})
			},
		},
	}
}

// anyOf makes all of the tries: nil where one of them succeeds, the last refusal where
// none does.
func anyOf(tries ...func() error) error {
	var last error
	for _, try := range tries {
		if last = try(); last == nil {
			return nil
		}
	}
	return last
}

func merge(patch string) client.Patch {
	return client.RawPatch("application/merge-patch+json", []byte(patch))
}

func (t Thief) state(node *corev1.Node) *v1.NodeNetworkState {
	return &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: node.Name}}
}

// enactment of the policy on the node, as it is.
func (t Thief) enactment(node *corev1.Node) *v1.NodeNetworkConfigurationEnactment {
	return &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{Name: v1.EnactmentName(node.Name, t.Policy)}}
}

// made is an enactment that the node itself may make, of a policy that there may not be.
func (t Thief) made(policy string) *v1.NodeNetworkConfigurationEnactment {
	return &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
		Name:            v1.EnactmentName(t.Node.Name, policy),
		Labels:          map[string]string{v1.EnactmentPolicyLabel: policy, v1.EnactmentNodeLabel: t.Node.Name},
		OwnerReferences: []metav1.OwnerReference{ownerOf(t.Node)},
	}}
}

func ownerOf(node *corev1.Node) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}
}

// creating makes an enactment that was changed.
func creating(change func(t Thief, e *v1.NodeNetworkConfigurationEnactment)) func(context.Context, Thief) error {
	return func(ctx context.Context, t Thief) error {
		e := t.made("evil")
		change(t, e)
		return t.Client.Create(ctx, e)
	}
}

// others are attempts on objects of others, and on those that speak for others.
func others() []Attempt {
	return []Attempt{
		{What: "write node B's desired state", Want: Admission, try: func(ctx context.Context, t Thief) error {
			return t.Client.Patch(ctx, t.state(t.Victim), merge(`{"spec":{"desiredState":{"interfaces":[{"name":"eth0","state":"absent"}]}}}`))
		}},
		{What: "write node B's report", Want: Admission, try: func(ctx context.Context, t Thief) error {
			return t.Client.Status().Patch(ctx, t.state(t.Victim), merge(`{"status":{"observedGeneration":1}}`))
		}},
		{What: "report for a node that there is not", Want: Admission, try: func(ctx context.Context, t Thief) error {
			return t.Client.Create(ctx, &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "evil"}})
		}},
		{What: "write the status of node B's enactment", Want: Admission, try: func(ctx context.Context, t Thief) error {
			return t.Client.Status().Patch(ctx, t.enactment(t.Victim), merge(`{"status":{"policyGeneration":1099511627776}}`))
		}},
		{What: "delete node B's enactment", Want: Admission, try: func(ctx context.Context, t Thief) error {
			return t.Client.Delete(ctx, t.enactment(t.Victim))
		}},
		{What: "make an enactment of node B", Want: Admission, try: creating(func(t Thief, e *v1.NodeNetworkConfigurationEnactment) {
			e.Name = v1.EnactmentName(t.Victim.Name, "evil")
			e.Labels[v1.EnactmentNodeLabel], e.OwnerReferences = t.Victim.Name, []metav1.OwnerReference{ownerOf(t.Victim)}
		})},
		{What: "make one that node B owns too, or nobody, or a Secret", Want: Admission, try: func(ctx context.Context, t Thief) error {
			owned := func(owners ...metav1.OwnerReference) func() error {
				e := t.made("evil")
				e.OwnerReferences = owners
				return func() error { return t.Client.Create(ctx, e) }
			}
			return anyOf(
				owned(ownerOf(t.Node), ownerOf(t.Victim)), owned(),
				owned(ownerOf(t.Node), metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: "s", UID: "s"}),
			)
		}},
		{What: "make one that another kind of Node owns, which is called like node B", Want: Admission, try: creating(func(t Thief, e *v1.NodeNetworkConfigurationEnactment) {
			e.OwnerReferences = append([]metav1.OwnerReference{{APIVersion: "evil/v1", Kind: "Node", Name: t.Victim.Name, UID: t.Victim.UID}}, e.OwnerReferences...)
		})},
		{What: "make one with node B's label", Want: Admission, try: creating(func(t Thief, e *v1.NodeNetworkConfigurationEnactment) {
			e.Labels[v1.EnactmentNodeLabel] = t.Victim.Name
		})},
		{What: "make one with another policy's label, or without", Want: Admission, try: func(ctx context.Context, t Thief) error {
			labelled := func(change func(map[string]string)) func() error {
				e := t.made("evil")
				change(e.Labels)
				return func() error { return t.Client.Create(ctx, e) }
			}
			return anyOf(
				labelled(func(labels map[string]string) { labels[v1.EnactmentPolicyLabel] = t.Policy }),
				labelled(func(labels map[string]string) { delete(labels, v1.EnactmentPolicyLabel) }),
			)
		}},
		{What: "make one under a name of node B's", Want: Admission, try: creating(func(t Thief, e *v1.NodeNetworkConfigurationEnactment) {
			e.Name = "evil-" + string(t.Victim.UID)
		})},
		{What: "make one under an ordinary name that looks like that", Want: Admission, try: func(ctx context.Context, t Thief) error {
			return t.Client.Create(ctx, t.made("x-"+string(t.Victim.UID)))
		}},
		{What: "make one that may begin", Want: Admission, try: creating(func(_ Thief, e *v1.NodeNetworkConfigurationEnactment) {
			e.Spec.ApprovedGeneration = 1
		})},
		{What: "make one that cannot be deleted (a finalizer)", Want: Admission, try: creating(func(_ Thief, e *v1.NodeNetworkConfigurationEnactment) {
			e.Finalizers = []string{"example.com/evil"}
		})},
	}
}

// disguises are attempts to speak for others from one's own objects.
func disguises() []Attempt {
	return []Attempt{
		{What: "keep its NodeNetworkState from being deleted", Want: Admission, try: func(ctx context.Context, t Thief) error {
			return t.Client.Patch(ctx, t.state(t.Node), merge(`{"metadata":{"finalizers":["example.com/evil"]}}`))
		}},
		{What: "give its enactment to node B with a write of the status", Want: Ignored, try: disguised},
		{What: "tell an event about a pod or a node", Want: Admission, try: func(ctx context.Context, t Thief) error {
			return anyOf(
				func() error {
					return t.Client.Create(ctx, event("kube-system", corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "kube-system", Name: "p"}))
				},
				func() error {
					return t.Client.Create(ctx, event("default", corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: t.Victim.Name}))
				},
			)
		}},
		{What: "tell an event about node B's report", Want: Admission, try: func(ctx context.Context, t Thief) error {
			return t.Client.Create(ctx, event("default", corev1.ObjectReference{APIVersion: "nmstate.io/v1", Kind: "NodeNetworkState", Name: t.Victim.Name}))
		}},
	}
}

// disguised writes metadata beside a status.
func disguised(ctx context.Context, t Thief) error {
	e := t.enactment(t.Node)
	patch := map[string]any{
		"metadata": map[string]any{
			"labels": map[string]string{v1.EnactmentNodeLabel: t.Victim.Name}, "finalizers": []string{"example.com/evil"},
			"ownerReferences": []metav1.OwnerReference{ownerOf(t.Victim)},
		},
		"spec": map[string]any{"approvedGeneration": 1 << 40},
	}
	raw, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("building a patch: %w", err)
	}
	if err := t.Client.Status().Patch(ctx, e, merge(string(raw))); err != nil {
		return err
	}
	if err := t.Client.Get(ctx, client.ObjectKeyFromObject(e), e); err != nil {
		return err
	}
	if e.Node() == t.Node.Name && e.Labels[v1.EnactmentNodeLabel] == t.Node.Name && len(e.Finalizers) == 0 && e.Spec.ApprovedGeneration < 1<<40 {
		return errIgnored
	}
	return nil
}

func event(namespace string, about corev1.ObjectReference) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "evil"}, InvolvedObject: about,
		Reason: "Evil", Message: strings.Repeat("x", 100), Type: corev1.EventTypeWarning,
	}
}
