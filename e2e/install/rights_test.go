package install

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

// installed is an API server with the product installed and two nodes.
type installed struct {
	*testing.T
	plane *controlplane.ControlPlane
	admin client.Client
	// namespace is the one of the pods, and prefix what their accounts' names begin with.
	namespace, prefix string
}

func newInstalled(t *testing.T, folder string) *installed {
	t.Helper()
	i := newEmpty(t)
	if folder == elsewhere {
		i.namespace, i.prefix = "net-system", "site-"
	}
	i.apply(folder)
	for _, name := range []string{"a", "b", "a.b"} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		i.must(i.admin.Create(t.Context(), node))
		i.must(i.admin.Create(t.Context(), stateOf(node)))
		i.must(i.admin.Create(t.Context(), enactmentOf(node, "old")))
	}
	return i
}

// newEmpty is an API server with nothing installed.
func newEmpty(t *testing.T) *installed {
	t.Helper()
	i := &installed{T: t, plane: controlplanetest.Start(t, os.Getenv, controlplane.Options{}), namespace: "nmstate"}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	i.admin = controlplanetest.Client(t, i.plane, client.Options{Scheme: scheme})
	return i
}

func (i *installed) must(err error) {
	i.Helper()
	if err != nil {
		i.Fatal(err)
	}
}

// apply installs, and waits until the API server knows the kinds.
func (i *installed) apply(folder string) {
	i.Helper()
	i.must(Apply(i.Context(), i.admin, build(i, folder)))
	controlplanetest.Eventually(i, func(ctx context.Context) error {
		return errors.Join(i.admin.List(ctx, &v1.NodeNetworkStateList{}), i.admin.List(ctx, &v1.NodeNetworkConfigurationEnactmentList{}))
	})
}

func ownedBy(node *corev1.Node) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}}
}

func stateOf(node *corev1.Node) *v1.NodeNetworkState {
	return &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: node.Name, OwnerReferences: ownedBy(node)}}
}

func enactmentOf(node *corev1.Node, policy string) *v1.NodeNetworkConfigurationEnactment {
	return &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
		Name: v1.EnactmentName(node.Name, policy), OwnerReferences: ownedBy(node),
		Labels: map[string]string{v1.EnactmentPolicyLabel: policy, v1.EnactmentNodeLabel: node.Name},
	}}
}

func (i *installed) node(name string) *corev1.Node {
	i.Helper()
	node := &corev1.Node{}
	i.must(i.admin.Get(i.Context(), client.ObjectKey{Name: name}, node))
	return node
}

// as is a client with a token of a service account, bound to a pod on the node
// as a kubelet asks for it; no node: bound to nothing.
func (i *installed) as(account, node string) client.Client {
	i.Helper()
	account = i.prefix + account
	ask := &authenticationv1.TokenRequest{}
	if node != "" {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: account + "-", Namespace: i.namespace},
			Spec: corev1.PodSpec{
				NodeName: node, ServiceAccountName: account, Containers: []corev1.Container{{Name: "c", Image: "none"}},
			},
		}
		i.must(i.admin.Create(i.Context(), pod))
		ask.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}
	}
	owner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace, Name: account}}
	i.must(i.admin.SubResource("token").Create(i.Context(), owner, ask))
	config, err := i.plane.RESTConfig()
	i.must(err)
	config = rest.AnonymousClientConfig(config)
	config.BearerToken, config.QPS = ask.Status.Token, -1 // Whoever has a token minds no limit.
	c, err := client.New(config, client.Options{Scheme: i.admin.Scheme(), Mapper: i.admin.RESTMapper()})
	i.must(err)
	return c
}

// asUser is a client of the administrator that speaks for somebody else.
func (i *installed) asUser(name string) client.Client {
	i.Helper()
	config, err := i.plane.RESTConfig()
	i.must(err)
	config = rest.CopyConfig(config)
	config.Impersonate.UserName = name
	c, err := client.New(config, client.Options{Scheme: i.admin.Scheme(), Mapper: i.admin.RESTMapper()})
	i.must(err)
	return c
}

// patch is a write that every version of an object takes.
func patch(subresource string) func(context.Context, client.Client, client.Object) error {
	return func(ctx context.Context, c client.Client, o client.Object) error {
		if subresource == "status" {
			return c.Status().Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(`{"status":{}}`)), client.DryRunAll)
		}
		return c.Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{}}`)), client.DryRunAll)
	}
}

func holdState(ctx context.Context, c client.Client, o client.Object) error {
	return c.Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":["example.com/held"]}}`)), client.DryRunAll)
}

func create(ctx context.Context, c client.Client, o client.Object) error {
	return c.Create(ctx, o, client.DryRunAll)
}

func remove(ctx context.Context, c client.Client, o client.Object) error {
	return c.Delete(ctx, o, client.DryRunAll)
}

// attempt is a write and what becomes of it; no refusal: it passes.
type attempt struct {
	write   func(context.Context, client.Client, client.Object) error
	object  client.Object
	refusal string
}

func (i *installed) try(c client.Client, attempts map[string]attempt) {
	i.Helper()
	for sentence, one := range attempts {
		err := one.write(i.Context(), c, one.object)
		switch {
		case one.refusal == "" && err != nil:
			i.Errorf("%s: %v", sentence, err)
		case one.refusal != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), one.refusal) || strings.Contains(err.Error(), "resulted in error")):
			i.Errorf("%s: want it forbidden with\n  %s\ngot %v", sentence, one.refusal, err)
		}
	}
}

func TestAHandlerWritesItsOwnNodeOnly(t *testing.T) {
	for sentence, folder := range map[string]string{
		"installed as it is": distributed, "in another namespace, under other names": elsewhere,
	} {
		t.Run(sentence, func(t *testing.T) { writesItsOwnNodeOnly(t, folder) })
	}
}

func writesItsOwnNodeOnly(t *testing.T, folder string) {
	i := newInstalled(t, folder)
	a, b, ab := i.node("a"), i.node("b"), i.node("a.b")
	handler := i.as("nmstate-handler", "a")
	const state = "the handler of node a may write the NodeNetworkState of its own node only, not "
	const enactments = "the handler of node a may write the enactments of its own node only, not "

	// What was applied just now counts from a moment later on.
	controlplanetest.Eventually(t, func(ctx context.Context) error {
		if err := patch("status")(ctx, handler, stateOf(b)); !apierrors.IsForbidden(err) {
			return errors.New("the admission policy is not at work yet")
		}
		return nil
	})
	foreign := enactmentOf(a, "p")
	foreign.OwnerReferences = ownedBy(b)
	borrowed := enactmentOf(a, "p")
	borrowed.OwnerReferences = append(borrowed.OwnerReferences, ownedBy(b)...)
	approved := enactmentOf(a, "p")
	approved.Spec.ApprovedGeneration = 1
	let := enactmentOf(a, "p")
	let.Spec.Leave = true
	abortedOne := enactmentOf(a, "p")
	abortedOne.Spec.AbortedGeneration = 1 << 40
	mislabelled, unlabelled := enactmentOf(a, "p"), enactmentOf(a, "p")
	mislabelled.Labels[v1.EnactmentPolicyLabel] = "q"
	unlabelled.Labels = nil
	elsewhereLabelled, owned, held := enactmentOf(a, "p"), enactmentOf(a, "p"), enactmentOf(a, "p")
	elsewhereLabelled.Labels[v1.EnactmentNodeLabel] = "b"
	owned.OwnerReferences = append(owned.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: "s", UID: "none"})
	held.Finalizers = []string{"example.com/held"}
	unique, uniqueOfAnother, squatter := enactmentOf(a, "b.p"), enactmentOf(a, "b.p"), enactmentOf(a, "b.p-"+string(ab.UID))
	unique.Name = v1.EnactmentNames(a.Name, a.UID, "b.p")[1]
	uniqueOfAnother.Name = v1.EnactmentNames(a.Name, ab.UID, "b.p")[1]
	cNode := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "none"}}
	i.try(handler, map[string]attempt{
		"its state":                                {patch(""), stateOf(a), ""},
		"its state's status":                       {patch("status"), stateOf(a), ""},
		"another's state":                          {patch(""), stateOf(b), state + "b"},
		"another's state's status":                 {patch("status"), stateOf(b), state + "b"},
		"a state for another node":                 {create, stateOf(cNode), state + "c"},
		"an enactment of its own":                  {create, enactmentOf(a, "p"), ""},
		"its enactment's status":                   {patch("status"), enactmentOf(a, "old"), ""},
		"to delete its enactment":                  {remove, enactmentOf(a, "old"), ""},
		"an enactment of another":                  {create, enactmentOf(b, "p"), enactments + "b.p"},
		"another's enactment's status":             {patch("status"), enactmentOf(b, "old"), enactments + "b.old"},
		"to delete another's enactment":            {remove, enactmentOf(b, "old"), enactments + "b.old"},
		"one of a node whose name begins as ours":  {patch("status"), enactmentOf(ab, "old"), enactments + "a.b.old"},
		"one with another owner":                   {create, foreign, enactments + "a.p"},
		"one with another owner beside us":         {create, borrowed, enactments + "a.p"},
		"an approval for itself":                   {create, approved, "the handler of node a may not approve or abort its own enactment a.p"},
		"an abort for itself":                      {create, abortedOne, "the handler of node a may not approve or abort its own enactment a.p"},
		"a grant to leave for itself":              {create, let, "the handler of node a may not approve or abort its own enactment a.p"},
		"one that is labelled as another policy's": {create, mislabelled, "enactment a.p must have the label nmstate.io/policy and be called a.<that policy>"},
		"one that has no label":                    {create, unlabelled, "enactment a.p must have the label nmstate.io/policy"},
		"one that is labelled as another node's":   {create, elsewhereLabelled, "enactment a.p must have the label nmstate.io/node of node a"},
		"one that a Secret owns too":               {create, owned, "enactment a.p may be owned by its node and its policy only"},
		"one that cannot be deleted":               {create, held, "the handler of node a may not add a finalizer to a.p"},
		"a state that cannot be deleted":           {holdState, stateOf(a), "the handler of node a may not add a finalizer to a"},
		"one with its node's UID in the name":      {create, unique, ""},
		"one with another's UID in the name":       {create, uniqueOfAnother, "enactment " + uniqueOfAnother.Name + " must have the label"},
		"an ordinary name that ends in a UID":      {create, squatter, "enactment " + squatter.Name + " must have the label"},
		"an enactment's spec":                      {patch(""), enactmentOf(a, "old"), "cannot patch resource"},
		"to delete its state":                      {remove, stateOf(a), "cannot delete resource"},
		"a policy":                                 {patch("status"), &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, "cannot patch resource"},
		"a node":                                   {patch(""), a, "cannot patch resource"},
	})
	i.try(i.as("nmstate-handler", ""), map[string]attempt{
		"a token of no pod": {patch("status"), stateOf(a), "may not grant turns, so it writes as the handler of one node, and its token names no node; it must be that of a pod"},
	})
	i.try(i.admin, map[string]attempt{
		"an administrator is not asked": {patch("status"), stateOf(b), ""},
	})
	i.try(i.asUser("system:serviceaccount:kube-system:generic-garbage-collector"), map[string]attempt{
		"the API server's garbage collector deletes what lost its owner": {remove, enactmentOf(b, "old"), ""},
	})
	about := func(apiVersion, kind, name string) *corev1.Event {
		return &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "default", GenerateName: "e"},
			InvolvedObject: corev1.ObjectReference{APIVersion: apiVersion, Kind: kind, Name: name, Namespace: "default"},
		}
	}
	clusterWide := func(e *corev1.Event) *corev1.Event {
		e.InvolvedObject.Namespace = ""
		return e
	}
	i.try(i.asUser("system:serviceaccount:kube-system:replicaset-controller"), map[string]attempt{
		"other programs tell events about what they like": {create, about("apps/v1", "ReplicaSet", "r"), ""},
	})
	i.try(handler, map[string]attempt{
		"an event about its state": {create, clusterWide(about("nmstate.io/v1", "NodeNetworkState", "a")), ""},
		"an event about a policy":  {create, clusterWide(about("nmstate.io/v1", "NodeNetworkConfigurationPolicy", "p")), ""},
		"an event about the Lease": {create, about("coordination.k8s.io/v1", "Lease", "nmstate-controllers"), "may tell events about objects of nmstate.io only"},
		"an event about b's state": {create, clusterWide(about("nmstate.io/v1", "NodeNetworkState", "b")), "may tell events about the NodeNetworkState of its own node only"},
		"an event about a pod":     {create, about("v1", "Pod", "p"), "may tell events about objects of nmstate.io only"},
	})
	i.try(i.as("nmstate-controllers", "a"), map[string]attempt{
		"an event about a policy":                   {create, clusterWide(about("nmstate.io/v1", "NodeNetworkConfigurationPolicy", "p")), ""},
		"an event about any state":                  {create, clusterWide(about("nmstate.io/v1", "NodeNetworkState", "b")), ""},
		"an event about the Lease":                  {create, about("coordination.k8s.io/v1", "Lease", "nmstate-controllers"), ""},
		"an event about a pod":                      {create, about("v1", "Pod", "p"), "may tell events about objects of nmstate.io only"},
		"the controllers grant every node its turn": {patch(""), enactmentOf(b, "old"), ""},
	})
}

func TestWhatTheControllersMayWriteDependsOnTheMode(t *testing.T) {
	i := newInstalled(t, distributed)
	a := i.node("a")
	controllers := i.as("nmstate-controllers", "a")
	i.try(controllers, map[string]attempt{
		"an enactment's turn":         {patch(""), enactmentOf(a, "old"), ""},
		"a node's desired state":      {patch(""), stateOf(a), "cannot patch resource"},
		"a node's report":             {patch("status"), stateOf(a), "cannot patch resource"},
		"what an enactment came to":   {patch("status"), enactmentOf(a, "old"), "cannot patch resource"},
		"an enactment":                {create, enactmentOf(a, "p"), "cannot create resource"},
		"the rights of their account": {patch(""), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "nmstate", Name: "nmstate-controllers"}}, "cannot patch resource"},
	})
	if err := controllers.List(t.Context(), &corev1.SecretList{}); !apierrors.IsForbidden(err) {
		t.Errorf("listing secrets: want it forbidden, got %v", err)
	}

	i.apply(centralized)
	controlplanetest.Eventually(t, func(ctx context.Context) error { return patch("")(ctx, controllers, stateOf(a)) })
	i.try(controllers, map[string]attempt{
		"a node's desired state": {patch(""), stateOf(a), ""},
		"an enactment":           {create, enactmentOf(a, "p"), ""},
		"a node's report":        {patch("status"), stateOf(a), "cannot patch resource"},
	})
	i.try(i.as("nmstate-handler", "a"), map[string]attempt{
		"its report":        {patch("status"), stateOf(a), ""},
		"its desired state": {patch(""), stateOf(a), "cannot patch resource"},
		"an enactment":      {create, enactmentOf(a, "p"), "cannot create resource"},
	})
}
