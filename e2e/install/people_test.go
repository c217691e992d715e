package install

import (
	"context"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

func TestWhoLooksSeesEverythingAndWhoEditsWritesPolicies(t *testing.T) {
	i := newInstalled(t, distributed)
	a := i.node("a")
	for person, role := range map[string]string{"viewer": "nmstate-view", "editor": "nmstate-edit"} {
		i.must(i.admin.Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: person}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: person}},
		}))
	}
	policy := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	viewer, editor := i.asUser("viewer"), i.asUser("editor")
	controlplanetest.Eventually(t, func(ctx context.Context) error { return viewer.List(ctx, &v1.NodeNetworkStateList{}) })
	list := func(of client.ObjectList) func(context.Context, client.Client, client.Object) error {
		return func(ctx context.Context, c client.Client, _ client.Object) error { return c.List(ctx, of) }
	}
	i.try(viewer, map[string]attempt{
		"the policies":        {list(&v1.NodeNetworkConfigurationPolicyList{}), policy, ""},
		"the enactments":      {list(&v1.NodeNetworkConfigurationEnactmentList{}), policy, ""},
		"the states":          {list(&v1.NodeNetworkStateList{}), policy, ""},
		"the NMStates":        {list(&v1.NMStateList{}), policy, ""},
		"no Secrets":          {list(&corev1.SecretList{}), policy, "cannot list resource"},
		"to write a policy":   {create, policy.DeepCopy(), "cannot create resource"},
		"to write a state":    {patch(""), stateOf(a), "cannot patch resource"},
		"to write an NMState": {create, &v1.NMState{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, "cannot create resource"},
	})
	i.try(editor, map[string]attempt{
		"to write a policy":      {create, policy.DeepCopy(), ""},
		"to grant a node's turn": {patch(""), enactmentOf(a, "old"), "cannot patch resource"},
		"to write a state":       {patch(""), stateOf(a), "cannot patch resource"},
		"to write a status":      {patch("status"), policy.DeepCopy(), "cannot patch resource"},
	})
}

func TestTheClustersOwnRolesTakeOursIn(t *testing.T) {
	want := map[string][]string{"nmstate-view": {"admin", "edit", "view"}, "nmstate-edit": {"admin", "edit"}}
	for _, folder := range []string{deploy, centralized, deploy + "/operator"} {
		found := map[string][]string{}
		for _, object := range build(t, folder) {
			for _, role := range []string{"admin", "edit", "view"} {
				if object.GetLabels()["rbac.authorization.k8s.io/aggregate-to-"+role] == "true" {
					found[object.GetName()] = append(found[object.GetName()], role)
				}
			}
		}
		for name, roles := range want {
			if !slices.Equal(found[name], roles) {
				t.Errorf("%s: %s is taken in by %v, want %v", folder, name, found[name], roles)
			}
		}
		if len(found) != len(want) {
			t.Errorf("%s: %v", folder, found)
		}
	}
}

func TestWhatReachesOurPods(t *testing.T) {
	for folder, ports := range map[string][]string{deploy: {"health", "metrics"}, centralized: {"health", "metrics"}, deploy + "/operator": {"health"}} {
		policy, pods := find[networkingv1.NetworkPolicy](t, folder, "NetworkPolicy"), find[appsv1.Deployment](t, folder, "Deployment").Spec.Template
		if !labels.SelectorFromSet(policy.Spec.PodSelector.MatchLabels).Matches(labels.Set(pods.Labels)) || !slices.Equal(policy.Spec.PolicyTypes, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}) {
			t.Errorf("%s: it is about %v and %v, the pods are %v", folder, policy.Spec.PolicyTypes, policy.Spec.PodSelector, pods.Labels)
		}
		var open []string
		for _, port := range policy.Spec.Ingress[0].Ports {
			open = append(open, port.Port.StrVal)
			if !slices.ContainsFunc(pods.Spec.Containers[0].Ports, func(p corev1.ContainerPort) bool { return p.Name == port.Port.StrVal }) {
				t.Errorf("%s: the pods have no port %s", folder, port.Port.StrVal)
			}
		}
		if !slices.Equal(open, ports) {
			t.Errorf("%s: open are %v, want %v", folder, open, ports)
		}
	}
	egress := find[networkingv1.NetworkPolicy](t, deploy+"/components/network-policies", "NetworkPolicy")
	selector, err := metav1.LabelSelectorAsSelector(&egress.Spec.PodSelector)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{deploy, deploy + "/operator"} {
		if pods := find[appsv1.Deployment](t, folder, "Deployment").Spec.Template; !selector.Matches(labels.Set(pods.Labels)) {
			t.Errorf("%s: egress.yaml is not about its pods", folder)
		}
	}
}
