package policy_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
	"github.com/nmstate/kubernetes-nmstate/handler/policy"
)

const (
	nodeName  = "node1"
	userAgent = "nmstate-policy-handler-under-test"
)

// cluster is a real API server on which the policy handler runs for one node;
// the test plays the state handler and the rollout controller.
type cluster struct {
	*testing.T
	root   *testing.T
	api    client.Client
	plane  *controlplane.ControlPlane
	audit  string
	events *recorded
	// captured counts what was resolved.
	captured *captures
	// stop ends the handler that runs.
	stop func()
}

func TestPolicyHandlerOnARealAPIServer(t *testing.T) {
	c := newCluster(t)
	c.stop = c.startHandler()
	for _, test := range []struct {
		sentence string
		run      func(c *cluster)
	}{
		{"a policy goes from create to Available with few requests", fewRequests},
		{"a policy that does not select the node costs nothing", notMine},
		{"heartbeats, reports and labels that select nothing cost nothing", quiet},
		{"an edit that fails is taken back to the generation before", failedEdit},
		{"a conflict is told and settled by an edit", conflict},
		{"a malformed policy is told by name", malformed},
		{"a name that another node's enactment has is no obstacle", takenName},
		{"a policy edited in flight is superseded", superseded},
		{"null in the columns of Open vSwitch's database reaches the node and is committed", takesKeysAway},
		{"a deselected policy leaves the spec first and its enactment later", deselected},
		{"a variable's new value is a new rendering of the same generation", variable},
		{"a match that selects nothing is looked at again with each report", match},
		{"autoConfig waits for the neighbours, and is resolved once", neighbours},
		{"a policy that takes another owner's interface is refused by pattern", protected},
		{"a policy with a script is refused where none is allowed", commands},
		{"a plan applies nothing, and only a plan that is pinned is applied", planned},
		{"a person's word on the policy reaches the node", person},
		{"who edits the desired state that policies own is overruled and named", byHand},
		{"drift is told on the policy, and that it is over", drifted},
		{"captures are resolved once for a generation", capture},
		{"a handler that starts anew writes nothing and resolves nothing", restart},
		{"a lost enactment is made good from what the node has committed", lostEnactment},
	} {
		if !t.Run(test.sentence, func(t *testing.T) {
			inner := *c
			inner.T = t
			test.run(&inner)
			c.stop = inner.stop
		}) {
			return
		}
	}
}

// startHandler runs the policy handler as a node's handler does.
func (c *cluster) startHandler() (stop func()) {
	rest, err := c.plane.RESTConfig()
	c.must(err)
	rest.UserAgent = userAgent
	skip := true
	mgr, err := ctrl.NewManager(rest, ctrl.Options{
		Scheme: newScheme(c.T), Cache: policy.CacheOptions(nodeName),
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &skip},
	})
	c.must(err)
	c.must(policy.New(policy.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Node: nodeName, Clock: clock.RealClock{},
		Captures: c.captured, Events: c.events, Protected: []string{"cali*"},
	}).SetupWithManager(c.root.Context(), mgr))
	ctx, cancel := context.WithCancel(c.root.Context())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	end := sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			c.Error(err)
		}
	})
	c.root.Cleanup(end)
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		c.Fatal("the cache was not filled")
	}
	return end
}

func newCluster(t *testing.T) *cluster {
	audit := filepath.Join(t.TempDir(), "audit.log")
	plane := controlplanetest.Start(t, os.Getenv, controlplane.Options{CRDs: "../../deploy/crds", AuditLog: audit})
	api := controlplanetest.Client(t, plane, client.Options{Scheme: newScheme(t)})
	c := &cluster{T: t, root: t, api: api, plane: plane, audit: audit, events: &recorded{}, captured: &captures{}}
	c.must(api.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, Labels: map[string]string{"role": "worker"}}}))
	nns := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}
	c.must(api.Create(t.Context(), nns))
	nns.Status.ObservedGeneration = nns.Generation
	nns.Status.CurrentState = v1.NewState([]byte(`{"interfaces":[]}`))
	nns.Status.BridgeVLANFiltering = new(true)
	c.must(api.Status().Update(t.Context(), nns))
	return c
}

func newScheme(t *testing.T) *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}
