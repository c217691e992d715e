package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/policy"
)

// central is a cluster whose controllers do the policies of all nodes.
type central struct {
	*cluster
	nodes *nodes
	// running are the controllers.
	running *process
}

func TestControllersInCentralizedMode(t *testing.T) {
	t.Parallel()
	plane, cancel := newPlane(t)
	plane.apply("../deploy/rbac/handler.yaml")
	plane.apply("../deploy/rbac/controllers.yaml")
	plane.apply("../deploy/overlays/centralized/handler.yaml")
	plane.apply("../deploy/overlays/centralized/controllers.yaml")
	c := &central{cluster: plane, nodes: startNodes(plane.ctx, t, plane.api)}
	t.Cleanup(cancel)
	for i := range 4 {
		c.addReported(fmt.Sprintf("node%d", i+1), map[string]string{"role": "worker"})
	}
	for _, test := range []struct {
		sentence string
		run      func(c *central)
	}{
		{"a single pass applies what there is, says so and exits 0", oncePass},
		{"a single pass with nothing to do writes nothing", onceQuiet},
		{"a single pass over a policy that fails exits 1 with the reason, told as JSON if asked", onceFails},
		{"a single pass that does not come to an end says what it waits for", onceLate},
		{"a daemon that starts later applies nothing again", centralStart},
		{"a policy handler of a node that runs at the same time does no harm", bothAtOnce},
		{"a policy with captures is refused where there is no libnmstate", capturesRefused},
		{"a policy event goes to the nodes that it concerns", onlyConcerned},
		{"the rights are enough, and no more than needed", centralRights},
	} {
		if !t.Run(test.sentence, func(t *testing.T) {
			inner := *c.cluster
			inner.T = t
			test.run(&central{cluster: &inner, nodes: c.nodes})
		}) {
			return
		}
	}
	c.checkRights()
}

func oncePass(c *central) {
	c.create(c.bridge("good", nil))
	code, printed, last := c.run("--mode", "centralized", "--once", "--once-timeout", "60s")
	if code != 0 || printed != "good: Available: 4/4 nodes successfully configured\n" {
		c.Fatalf("exit code %d, printed %q, last %q", code, printed, last)
	}
	if got := c.nodes.applies(); got != 4 {
		c.Errorf("%d applies, want one for each node", got)
	}
	enactment := &v1.NodeNetworkConfigurationEnactment{}
	if err := c.api.Get(c.ctx, client.ObjectKey{Name: "node1.good"}, enactment); err != nil {
		c.Fatal(err)
	}
	if got := string(enactment.Status.DesiredState.Raw); !strings.Contains(got, "4094") {
		c.Errorf("the node filters VLANs, but there is no default trunk: %s", got)
	}
}

func onceQuiet(c *central) {
	since := time.Now()
	code, printed, last := c.run("--mode", "centralized", "--once")
	if code != 0 || printed != "good: Available: 4/4 nodes successfully configured\n" {
		c.Errorf("exit code %d, printed %q, last %q", code, printed, last)
	}
	if writes := c.writes(since); writes != 0 {
		c.Errorf("%d writes:\n%s", writes, c.summary(since))
	}
}

func onceFails(c *central) {
	c.nodes.setFails("bad")
	limited := c.bridge("bad", nil)
	limited.Spec.MaxUnavailable = new(intstr.FromInt32(1))
	c.create(limited)
	defer c.remove("bad")
	const want = "bad: Degraded: 1/4 nodes failed to configure, 3 nodes aborted configuration"
	code, printed, last := c.run("--mode", "centralized", "--once", "-o", "json")
	if code != 1 || last != "controllers: "+want {
		c.Errorf("exit code %d, last words %q", code, last)
	}
	var told struct {
		Policies []standing
		Error    string
	}
	if err := json.Unmarshal([]byte(printed), &told); err != nil {
		c.Fatalf("%v: %s", err, printed)
	}
	if len(told.Policies) != 2 || told.Policies[0].Policy != "bad" || told.Policies[0].Counts.Failing != 1 || told.Error != want {
		c.Errorf("told %+v", told)
	}
}

func onceLate(c *central) {
	slow := c.bridge("slow", map[string]string{"role": "absent"})
	c.create(slow)
	c.addNode("silent", map[string]string{"role": "absent"}) // Nobody reports it.
	defer c.remove("slow")
	defer c.delete(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "silent"}})
	code, printed, last := c.run("--mode", "centralized", "--once", "--once-timeout", "6s")
	if code != 1 || !strings.Contains(last, "the pass did not end within 6s: slow: Progressing: ") || !strings.Contains(printed, "good: Available: ") {
		c.Errorf("exit code %d, printed %q, last words %q", code, printed, last)
	}
}

func centralStart(c *central) {
	applies, since := c.nodes.applies(), time.Now()
	c.running = c.start("--mode", "centralized", "--leader-elect=false")
	c.fence()
	if got := c.nodes.applies(); got != applies {
		c.Errorf("%d applies more", got-applies)
	}
	for _, r := range c.requests(since, "patch", "create", "delete") {
		if r.Resource == "nodenetworkstates" {
			c.Errorf("a write: %+v", r)
		}
	}
	c.running.kill()
}

// bothAtOnce is the moment of a switch: the node's own handler still does the
// policies, and so do the controllers.
func bothAtOnce(c *central) {
	c.start("--mode", "centralized", "--leader-elect=false")
	for i := range 4 {
		c.startDistributed(fmt.Sprintf("node%d", i+1))
	}
	for i := range 5 {
		before := c.nodes.applies()
		policy := c.get("good")
		policy.Spec.DesiredState = v1.NewState(fmt.Appendf(nil, `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","mtu":%d}]}`, 1400+i))
		if err := c.api.Update(c.ctx, policy); err != nil {
			c.Fatal(err)
		}
		c.await("good", fmt.Sprintf("generation %d Available SuccessfullyConfigured: 4/4 nodes successfully configured", policy.Generation))
		if got := c.nodes.applies() - before; got != 4 {
			c.Errorf("edit %d: %d applies, want one for each node", i, got)
		}
	}
}

func (c *central) startDistributed(node string) {
	c.Helper()
	rest, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	if err != nil {
		c.Fatal(err)
	}
	rest.QPS = -1
	mgr, err := ctrl.NewManager(rest, ctrl.Options{
		Scheme: c.api.Scheme(), Cache: policy.CacheOptions(node), Metrics: server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		c.Fatal(err)
	}
	ctx, cancel := context.WithCancel(c.ctx)
	handler := policy.New(policy.Options{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Node: node, Clock: clock.RealClock{}})
	if err := handler.SetupWithManager(ctx, mgr); err != nil {
		c.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	c.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			c.Error(err)
		}
	})
}

func capturesRefused(c *central) {
	if captures() != nil {
		return // This build resolves them.
	}
	p := c.bridge("capture", nil)
	p.Spec.Capture = map[string]string{"nic": `interfaces.name == "eth5"`}
	c.create(p)
	defer c.remove("capture")
	code, _, last := c.run("--mode", "centralized", "--once")
	if code != 1 || !strings.Contains(last, "capture: Degraded: 4/4 nodes failed to configure") {
		c.Errorf("exit code %d, last words %q", code, last)
	}
	e := &v1.NodeNetworkConfigurationEnactment{}
	if err := c.api.Get(c.ctx, client.ObjectKey{Name: "node1.capture"}, e); err != nil {
		c.Fatal(err)
	}
	if said := fmt.Sprint(e.Status.Conditions); !strings.Contains(said, "built without libnmstate") {
		c.Errorf("conditions %s", said)
	}
}

func onlyConcerned(c *central) {
	c.start("--mode", "centralized", "--leader-elect=false")
	since := time.Now()
	c.create(c.bridge("one", map[string]string{"kubernetes.io/hostname": "node3"}))
	c.label("node3", `{"metadata":{"labels":{"kubernetes.io/hostname":"node3"}}}`)
	c.await("one", "generation 1 Available SuccessfullyConfigured: 1/1 nodes successfully configured")
	for _, r := range c.requests(since, "patch", "create") {
		if strings.HasPrefix(r.Resource, "nodenetworkstate") && r.Name != "node3" {
			c.Errorf("a write for another node: %+v", r)
		}
	}
	// One that is no longer selected hears of it too.
	policy := c.get("one")
	policy.Spec.NodeSelector = map[string]string{"role": "nobody"}
	if err := c.api.Update(c.ctx, policy); err != nil {
		c.Fatal(err)
	}
	c.await("one", "generation 2 Ignored NoMatchingNode: Policy does not match any node")
	c.awaitGone("node3.one")
}

func centralRights(c *central) {
	const handler = "system:serviceaccount:nmstate:nmstate-handler"
	type right struct{ account, verb, resource, subresource string }
	got, want := map[right]bool{}, map[right]bool{
		{handler, "patch", "nodenetworkstates", "status"}:                         true,
		{handler, "create", "nodenetworkstates", ""}:                              true,
		{handler, "patch", "nodenetworkstates", ""}:                               false,
		{handler, "update", "nodenetworkstates", ""}:                              false,
		{handler, "delete", "nodenetworkstates", ""}:                              false,
		{handler, "list", "nodenetworkconfigurationpolicies", ""}:                 false,
		{handler, "patch", "nodenetworkconfigurationenactments", "status"}:        false,
		{handler, "create", "nodenetworkconfigurationenactments", ""}:             false,
		{serviceAccount, "patch", "nodenetworkstates", ""}:                        true,
		{serviceAccount, "patch", "nodenetworkstates", "status"}:                  false,
		{serviceAccount, "delete", "nodenetworkstates", ""}:                       false,
		{serviceAccount, "patch", "nodenetworkconfigurationpolicies", ""}:         false,
		{serviceAccount, "create", "nodenetworkconfigurationenactments", ""}:      true,
		{serviceAccount, "patch", "nodenetworkconfigurationenactments", "status"}: true,
	}
	for r := range want {
		got[r] = c.may(r.account, r.verb, r.resource, r.subresource)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		c.Errorf("rights (-want +got):\n%s", diff)
	}
}

// bridge is a policy that comes out otherwise where bridges filter VLANs.
func (c *central) bridge(name string, selector map[string]string) *v1.NodeNetworkConfigurationPolicy {
	p := c.policy(name, intstr.FromString("50%"), selector)
	p.Spec.DesiredState = v1.NewState(fmt.Appendf(nil, `{"interfaces":[{"name":%q,"type":"linux-bridge","state":"up","bridge":{"port":[{"name":"%s-port"}]}}]}`, name, name))
	return p
}

// remove deletes a policy and waits until no node has anything of it.
func (c *central) remove(name string) {
	c.Helper()
	c.delete(&v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}})
	p := c.start("--mode", "centralized", "--leader-elect=false")
	defer p.kill()
	c.poll("the enactments of "+name+" are gone", func() (bool, string) {
		list := &v1.NodeNetworkConfigurationEnactmentList{}
		if err := c.api.List(c.ctx, list, client.MatchingLabels{v1.EnactmentPolicyLabel: name}); err != nil {
			return false, err.Error()
		}
		return len(list.Items) == 0, fmt.Sprintf("%d left", len(list.Items))
	})
}

// fence waits until the controllers have seen all that was there before.
func (c *central) fence() {
	c.Helper()
	c.create(c.bridge("fence", map[string]string{"role": "nobody"}))
	c.await("fence", "generation 1 Ignored NoMatchingNode: Policy does not match any node")
	c.delete(&v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "fence"}})
}

func (c *central) awaitGone(enactment string) {
	c.Helper()
	c.poll(enactment+" is gone", func() (bool, string) {
		err := c.api.Get(c.ctx, client.ObjectKey{Name: enactment}, &v1.NodeNetworkConfigurationEnactment{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}

// may asks the API server.
func (c *cluster) may(account, verb, resource, subresource string) bool {
	c.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: account,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: verb, Group: v1.GroupVersion.Group, Resource: resource, Subresource: subresource,
		},
	}}
	c.create(review)
	return review.Status.Allowed
}
