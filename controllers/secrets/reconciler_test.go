package secrets

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/secret"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const namedPassword = `{"interfaces": [{"name": "eth1", "802.1x": {"password": "{{ secret.wifi.password }}"}}]}`

// cluster has a policy for node a, which names a Secret, and enactments of it.
type cluster struct {
	*testing.T
	api    client.Client
	writes int
	key    *secret.Key
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{T: t, key: key(t)}
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	policy := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "p"}}
	policy.Spec.NodeSelector, policy.Spec.DesiredState = map[string]string{"on": "a"}, v1.NewState([]byte(namedPassword))
	c.api = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1.NodeNetworkConfigurationEnactment{}).WithObjects(
		policy, node("a"), node("b"), secretIn("nmstate", "Canary"), secretIn("other", "Other"),
		c.enactment("a", "p"), c.enactment("b", "p"), c.enactment("a", "another"),
	).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, to client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			c.writes++
			return to.Patch(ctx, object, patch, options...)
		},
	}).Build()
	return c
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{"on": name}}}
}

func secretIn(namespace, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "wifi"}, Data: map[string][]byte{"password": []byte(value)}}
}

// enactment says that it is of policy p on a node, and whose policy owns it.
func (c *cluster) enactment(node, owner string) *v1.NodeNetworkConfigurationEnactment {
	e := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
		Name: node + "." + owner, UID: types.UID(node + owner), Labels: map[string]string{v1.EnactmentPolicyLabel: "p"},
		OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "evil/v1", Kind: "Node", Name: "a", UID: "a"}, {APIVersion: "v1", Kind: "Node", Name: node, UID: types.UID(node)},
			{APIVersion: "nmstate.io/v1", Kind: "NodeNetworkConfigurationPolicy", Name: "p", UID: types.UID(owner)},
		},
	}}
	e.Status.SecretsKey = c.key.Public()
	return e
}

func (c *cluster) turn(name, namespace string) []v1.SealedSecret {
	c.Helper()
	r := New(c.api, namespace)
	if _, err := r.Reconcile(c.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: name}}); err != nil {
		c.Fatal(err)
	}
	got := &v1.NodeNetworkConfigurationEnactment{}
	if err := c.api.Get(c.Context(), client.ObjectKey{Name: name}, got); err != nil {
		c.Fatal(err)
	}
	if text := fmt.Sprintf("%+v", got); strings.Contains(text, "Canary") {
		c.Error(text)
	}
	return got.Spec.Secrets
}

func TestANodeIsHandedWhatItsPolicyNamesAndNothingIsWrittenAgain(t *testing.T) {
	c := newCluster(t)
	handed := c.turn("a.p", "nmstate")
	if len(handed) != 1 {
		t.Fatalf("handed %+v", handed)
	}
	value, err := c.key.Open(state.SecretReference{Name: "wifi", Key: "password", Version: handed[0].Version}, handed[0].Sealed)
	if err != nil || value != "Canary" {
		t.Errorf("opens as %q, %v", value, err)
	}
	c.turn("a.p", "nmstate")
	if c.writes != 1 {
		t.Errorf("%d writes, want 1", c.writes)
	}
	policy := &v1.NodeNetworkConfigurationPolicy{}
	if err := c.api.Get(t.Context(), client.ObjectKey{Name: "p"}, policy); err != nil {
		t.Fatal(err)
	}
	policy.Spec.NodeSelector = map[string]string{"on": "nobody"}
	if err := c.api.Update(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	if left := c.turn("a.p", "nmstate"); len(left) > 0 {
		t.Errorf("a node that the policy has left keeps %+v", left)
	}
}

func TestNobodyElseIsHandedAnything(t *testing.T) {
	for sentence, name := range map[string]string{
		"a node that the policy does not select":                   "b.p",
		"an enactment that another policy of that name once owned": "a.another",
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t)
			if handed := c.turn(name, "nmstate"); len(handed) > 0 || c.writes > 0 {
				t.Errorf("handed %+v in %d writes", handed, c.writes)
			}
		})
	}
}

func TestWherePoliciesMayNameNoSecretNobodyIsAskedForOne(t *testing.T) {
	c := newCluster(t)
	handed := c.turn("a.p", "")
	if len(handed) != 1 || handed[0].Sealed != "" || !strings.Contains(handed[0].Problem, "deploy/components/secrets") {
		t.Errorf("handed %+v", handed)
	}
}

func TestAWrittenSecretAsksForTheEnactmentsThatHaveIt(t *testing.T) {
	c := newCluster(t)
	c.turn("a.p", "nmstate")
	r := New(c.api, "nmstate")
	if got := fmt.Sprint(r.enactmentsOf(t.Context(), secretIn("nmstate", "x"))); got != "[/a.p]" {
		t.Error(got)
	}
	other := secretIn("nmstate", "x")
	other.Name = "unnamed"
	if got := r.enactmentsOf(t.Context(), other); len(got) > 0 {
		t.Error(got)
	}
}
