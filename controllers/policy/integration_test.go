package policy_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/controllers/policy"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
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
		{"a policy edited in flight is superseded", superseded},
		{"a deselected policy leaves the spec first and its enactment later", deselected},
		{"a variable's new value is a new rendering of the same generation", variable},
		{"a match that selects nothing is looked at again with each report", match},
		{"autoConfig waits for the neighbours, and is resolved once", neighbours},
		{"a policy that takes another owner's interface is refused by pattern", protected},
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

func fewRequests(c *cluster) {
	since := time.Now()
	c.apply("br", `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth1"}]}}]}`, nil)
	c.approve("br")
	c.await("br", "Progressing ConfigurationProgressing")
	c.finish(v1.TransactionCommitted, false, "")
	c.await("br", "Available SuccessfullyConfigured")
	e := c.enactment("br")
	if e.Status.Committed == nil || e.Status.Committed.Generation != 1 || len(e.Status.Conditions) < 5 {
		c.Errorf("status is not complete: %+v", e.Status)
	}
	if got := string(e.Status.DesiredState.Raw); !strings.Contains(got, `"max":4094`) {
		c.Errorf("the default trunk is missing: %s", got)
	}
	if got := strings.Join(e.Status.GuardedBy, ","); got != "dns" {
		c.Errorf("guarded by %q", got)
	}
	c.settle()
	requests := c.requests(since)
	c.Logf("requests of the policy handler, create to Available: %d\n%s", len(requests), controlplane.Summary(requests))
	if len(requests) > 5 {
		c.Errorf("%d requests, want at most 5 (create, live read, spec, Progressing, Available)", len(requests))
	}
	for _, r := range requests {
		if r.Verb == "list" {
			c.Errorf("a LIST: %+v", r)
		}
	}
	c.events.expect(c.T, "br Normal Configured")
}

func notMine(c *cluster) {
	since := time.Now()
	c.apply("other", `{"interfaces":[{"name":"eth7"}]}`, map[string]string{"rack": "nowhere"})
	c.settle()
	c.expectNone(since)
}

func quiet(c *cluster) {
	since := time.Now()
	node := &corev1.Node{}
	c.mustGet(nodeName, node)
	before := node.DeepCopy()
	node.Annotations = map[string]string{"a": "b"}
	c.must(c.api.Patch(c.Context(), node, client.MergeFrom(before)))
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now()}}
	c.must(c.api.Status().Update(c.Context(), node))
	nns := c.state()
	nns.Status.CurrentState = v1.NewState([]byte(`{"interfaces":[{"name":"eth9"}]}`))
	c.must(c.api.Status().Update(c.Context(), nns))
	c.settle()
	c.expectNone(since)
	c.mustGet(nodeName, node)
	before = node.DeepCopy()
	node.Labels["unrelated"] = "yes"
	c.must(c.api.Patch(c.Context(), node, client.MergeFrom(before)))
	c.settle()
	c.expectNone(since)
}

func failedEdit(c *cluster) {
	before := c.state().Spec.Sources
	c.edit("br", `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","mtu":68}]}`)
	c.await("br", "Pending MaxUnavailableLimitReached")
	c.approve("br")
	c.await("br", "Progressing ConfigurationProgressing")
	c.finish(v1.TransactionRolledBack, true, "probing for 2m0s: api-server: no route to host")
	c.await("br", "Failing FailedToConfigure: probing for 2m0s: api-server: no route to host")
	// The outcome is recorded first, then the spec goes back.
	controlplanetest.Eventually(c.T, func(context.Context) error {
		if after := c.state().Spec.Sources; !reflect.DeepEqual(before, after) {
			return fmt.Errorf("sources %v, want %v as before", after, before)
		}
		return nil
	})
	c.finish(v1.TransactionCommitted, false, "")
	c.settle()
	c.await("br", "Failing FailedToConfigure: probing for 2m0s: api-server: no route to host")
	c.events.expect(c.T, "br Warning ReconcileFailed", "br Normal RolledBack")
}

func conflict(c *cluster) {
	c.apply("mtu", `{"interfaces":[{"name":"br1","type":"bond"}]}`, nil)
	c.await("mtu", `Failing FailedToConfigure: policy mtu conflicts with policy br at interfaces[br1].type: "bond" here, "linux-bridge" there`)
	c.edit("mtu", `{"interfaces":[{"name":"eth2","mtu":1400}]}`)
	c.approve("mtu")
	c.await("mtu", "Progressing ConfigurationProgressing")
	c.finish(v1.TransactionCommitted, false, "")
	c.await("mtu", "Available SuccessfullyConfigured")
}

func malformed(c *cluster) {
	c.apply("bad", `{"interfaces":[{"name":"eth3","mtuu":1400}]}`, nil)
	c.await("bad", "Failing FailedToConfigure: reading spec.desiredState: ")
	if message := standing(c.enactment("bad")); !strings.Contains(message, "mtuu") {
		c.Errorf("the key is not named: %s", message)
	}
	c.must(c.api.Delete(c.Context(), &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "bad"}}))
	c.gone("bad")
}

func superseded(c *cluster) {
	c.edit("mtu", `{"interfaces":[{"name":"eth2","mtu":1300}]}`)
	c.approve("mtu")
	c.await("mtu", "Progressing ConfigurationProgressing")
	c.edit("mtu", `{"interfaces":[{"name":"eth2","mtu":1350}]}`)
	controlplanetest.Eventually(c.T, func(context.Context) error {
		if got := string(c.state().Spec.DesiredState.Raw); strings.Contains(got, "1300") {
			return fmt.Errorf("the node's spec still is that of the older generation: %s", got)
		}
		return nil
	})
	// The older generation is not over yet, so the node counts as changing.
	c.await("mtu", "Progressing ConfigurationProgressing")
	c.finish(v1.TransactionCommitted, false, "")
	c.await("mtu", "Pending MaxUnavailableLimitReached")
	c.approve("mtu")
	c.await("mtu", "Progressing ConfigurationProgressing")
	c.finish(v1.TransactionCommitted, false, "")
	c.await("mtu", "Available SuccessfullyConfigured")
	if got := string(c.state().Spec.DesiredState.Raw); !strings.Contains(got, "1350") {
		c.Errorf("the node's spec is %s", got)
	}
}

func deselected(c *cluster) {
	p := &v1.NodeNetworkConfigurationPolicy{}
	c.mustGet("mtu", p)
	p.Spec.NodeSelector = map[string]string{"rack": "nowhere"}
	c.must(c.api.Update(c.Context(), p))
	controlplanetest.Eventually(c.T, func(context.Context) error {
		for _, s := range c.state().Spec.Sources {
			if s.Policy == "mtu" {
				return errors.New("policy mtu is still in the spec")
			}
		}
		return nil
	})
	c.settle()
	c.enactment("mtu")
	c.finish(v1.TransactionCommitted, false, "")
	c.gone("mtu")
}

func capture(c *cluster) {
	p := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "capture"}}
	p.Spec.Capture = map[string]string{"nic": `interfaces.name == "eth5"`}
	p.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[{"name":"{{ capture.nic.interfaces.0.name }}"}]}`))
	c.must(c.api.Create(c.Context(), p))
	c.approve("capture")
	c.await("capture", "Progressing ConfigurationProgressing")
	c.finish(v1.TransactionCommitted, false, "")
	c.await("capture", "Available SuccessfullyConfigured")
	e := c.enactment("capture")
	if got := string(e.Status.DesiredState.Raw); got != `{"interfaces":[{"mtu":1500,"name":"eth5"}]}` {
		c.Errorf("rendered %s", got)
	}
	if len(e.Status.CapturedStates) != 1 || e.Status.CapturedStates["nic"].MetaInfo.Version != "0" {
		c.Errorf("captured %v", e.Status.CapturedStates)
	}
	if got := c.captured.count(); got != 1 {
		c.Errorf("resolved %d times, want once", got)
	}
}

func restart(c *cluster) {
	c.settle()
	c.stop()
	since := time.Now()
	c.stop = c.startHandler()
	c.settle()
	requests := slices.DeleteFunc(c.requests(since), func(r controlplane.Request) bool { return r.Verb == "list" })
	if len(requests) > 0 {
		c.Errorf("%d requests besides the lists of a start:\n%s", len(requests), controlplane.Summary(requests))
	}
	if got := c.captured.count(); got != 1 {
		c.Errorf("resolved %d times, want not again", got)
	}
}

func lostEnactment(c *cluster) {
	before := c.state()
	old := c.enactment("br")
	c.must(c.api.Delete(c.Context(), old))
	c.await("capture", "Available SuccessfullyConfigured")
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		e := &v1.NodeNetworkConfigurationEnactment{}
		if err := c.api.Get(ctx, client.ObjectKeyFromObject(old), e); err != nil {
			return err
		}
		if e.UID == old.UID || len(e.Status.Conditions) < 5 {
			return fmt.Errorf("the enactment is %s", standing(e))
		}
		return nil
	})
	c.settle()
	if after := c.state(); len(after.Spec.Sources) == 0 || len(before.Spec.Sources) == 0 {
		c.Errorf("sources %v, were %v", after.Spec.Sources, before.Spec.Sources)
	}
}

// captures resolve to the same each time.
type captures struct {
	mu    sync.Mutex
	calls int
}

func (f *captures) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

func (f *captures) Resolve(_ context.Context, policyJSON []byte, _ state.State) (state.State, map[string]state.State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if !strings.Contains(string(policyJSON), `"desiredState":{`) || !strings.Contains(string(policyJSON), `"capture":{"nic":`) {
		return state.State{}, nil, fmt.Errorf("not a policy: %s", policyJSON)
	}
	resolved := state.FromTree(map[string]any{"interfaces": []any{map[string]any{"name": "eth5", "mtu": 1500}}})
	return resolved, map[string]state.State{"nic": resolved}, nil
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

func (c *cluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) mustGet(name string, object client.Object) {
	c.Helper()
	c.must(c.api.Get(c.Context(), client.ObjectKey{Name: name}, object))
}

func (c *cluster) state() *v1.NodeNetworkState {
	nns := &v1.NodeNetworkState{}
	c.mustGet(nodeName, nns)
	return nns
}

func (c *cluster) enactment(name string) *v1.NodeNetworkConfigurationEnactment {
	c.Helper()
	e := &v1.NodeNetworkConfigurationEnactment{}
	c.mustGet(v1.EnactmentName(nodeName, name), e)
	return e
}

func (c *cluster) apply(name, state string, selector map[string]string) {
	p := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.NodeSelector, p.Spec.DesiredState = selector, v1.NewState([]byte(state))
	c.must(c.api.Create(c.Context(), p))
}

func (c *cluster) edit(name, state string) {
	p := &v1.NodeNetworkConfigurationPolicy{}
	c.mustGet(name, p)
	p.Spec.DesiredState = v1.NewState([]byte(state))
	c.must(c.api.Update(c.Context(), p))
}

// approve plays the rollout controller.
func (c *cluster) approve(name string) {
	p := &v1.NodeNetworkConfigurationPolicy{}
	c.mustGet(name, p)
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		e := &v1.NodeNetworkConfigurationEnactment{}
		if err := c.api.Get(ctx, client.ObjectKey{Name: v1.EnactmentName(nodeName, name)}, e); err != nil {
			return err
		}
		before := e.DeepCopy()
		e.Spec.ApprovedGeneration = p.Generation
		return c.api.Patch(ctx, e, client.MergeFrom(before))
	})
}

// finish plays the state handler, once it has something to do.
func (c *cluster) finish(result v1.TransactionResult, final bool, message string) {
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		nns := c.state()
		if nns.Status.ObservedGeneration == nns.Generation {
			return fmt.Errorf("the spec is still generation %d", nns.Generation)
		}
		nns.Status.ObservedGeneration = nns.Generation
		nns.Status.Transaction = &v1.Transaction{
			Generation: nns.Generation, Phase: "Idle", Result: result, Final: final, Message: message, GuardedBy: []string{"dns"},
		}
		if result == v1.TransactionCommitted {
			nns.Status.AppliedSources = v1.PlainSources(nns.Spec.Sources)
		}
		return c.api.Status().Update(ctx, nns)
	})
}

func standing(e *v1.NodeNetworkConfigurationEnactment) string {
	for _, condition := range e.Status.Conditions {
		if condition.Status == metav1.ConditionTrue {
			return fmt.Sprintf("%s %s: %s", condition.Type, condition.Reason, condition.Message)
		}
	}
	return "nothing"
}

func (c *cluster) await(name, want string) {
	c.Helper()
	p := &v1.NodeNetworkConfigurationPolicy{}
	c.mustGet(name, p)
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		e := &v1.NodeNetworkConfigurationEnactment{}
		if err := c.api.Get(ctx, client.ObjectKey{Name: v1.EnactmentName(nodeName, name)}, e); err != nil {
			return err
		}
		if got := standing(e); e.Status.PolicyGeneration != p.Generation || !strings.HasPrefix(got, want) {
			return fmt.Errorf("policy %s generation %d: %s, want %s", name, e.Status.PolicyGeneration, got, want)
		}
		return nil
	})
}

func (c *cluster) gone(name string) {
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		err := c.api.Get(ctx, client.ObjectKey{Name: v1.EnactmentName(nodeName, name)}, &v1.NodeNetworkConfigurationEnactment{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("the enactment is still there (%v)", err)
	})
}

// settle waits until the handler has done what there was to do: a policy that
// is created as a fence has been answered, and its traces are gone again.
func (c *cluster) settle() {
	const fence = "fence"
	c.apply(fence, `{"fence":true}`, nil)
	controlplanetest.Eventually(c.T, func(ctx context.Context) error {
		return c.api.Get(ctx, client.ObjectKey{Name: v1.EnactmentName(nodeName, fence)}, &v1.NodeNetworkConfigurationEnactment{})
	})
	c.must(c.api.Delete(c.Context(), &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: fence}}))
	c.gone(fence)
}

// requests are those of the handler, but for watches and the fence.
func (c *cluster) requests(since time.Time) []controlplane.Request {
	all, err := controlplane.ReadRequests(c.audit, controlplane.Filter{Since: since, UserAgent: userAgent})
	c.must(err)
	return slices.DeleteFunc(all, func(r controlplane.Request) bool {
		return r.Verb == "watch" || r.Resource == "" || // Discovery has no resource.
			strings.HasSuffix(r.Name, "fence") ||
			(r.Verb == "create" && r.Resource == "nodenetworkconfigurationenactments" && r.Name == "")
	})
}

func (c *cluster) expectNone(since time.Time) {
	c.Helper()
	if requests := c.requests(since); len(requests) > 0 {
		c.Errorf("%d requests:\n%s", len(requests), controlplane.Summary(requests))
	}
}

// recorded are events.
type recorded struct {
	mu    sync.Mutex
	lines []string
	// messages by reason, the last of each.
	messages map[string]string
}

func (r *recorded) Eventf(regarding, _ runtime.Object, kind, reason, _, note string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.messages == nil {
		r.messages = map[string]string{}
	}
	r.messages[reason] = fmt.Sprintf(note, args...)
	r.lines = append(r.lines, fmt.Sprint(regarding.(client.Object).GetName(), " ", kind, " ", reason))
}

func (r *recorded) message(reason string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.messages[reason]
}

func (r *recorded) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = nil
}

// expect waits for the events: a turn records them after what it writes.
func (r *recorded) expect(t *testing.T, want ...string) {
	t.Helper()
	controlplanetest.Eventually(t, func(context.Context) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.lines = slices.DeleteFunc(r.lines, func(line string) bool { return strings.HasPrefix(line, "fence ") })
		if !slices.Equal(r.lines, want) {
			return fmt.Errorf("events %q, want %q", r.lines, want)
		}
		return nil
	})
	r.forget()
}
