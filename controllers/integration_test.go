package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

const (
	deadline       = 60 * time.Second
	serviceAccount = "system:serviceaccount:nmstate:nmstate-controllers"
)

// cluster is a real API server on which the program runs with the rights that
// deploy/ gives it, and players act for the nodes.
type cluster struct {
	*testing.T
	ctx     context.Context
	api     client.Client
	players *players
	audit   string
	// kubeconfig has the rights of the controllers' service account.
	kubeconfig string
}

func TestControllersOnARealAPIServer(t *testing.T) {
	c := newCluster(t)
	for i := range 4 {
		c.addNode(fmt.Sprintf("node%d", i+1), map[string]string{"role": "worker"})
	}
	for _, test := range []struct {
		sentence string
		run      func(c *cluster)
	}{
		{"a good policy becomes available on every node, within its limit", goodPolicy},
		{"a bad policy fails on as many nodes as may be unavailable, and the rest is aborted", badPolicy},
		{"a policy that matches no node is ignored until one is labelled", labelledNode},
		{"a node that is not Ready is left out until it is", notReadyNode},
		{"a deleted node frees its slot", deletedNode},
		{"an NMState is answered once", nmstateObject},
		{"what means nothing to a plan costs no write", quiet},
		{"the metric counts policies by status", policyMetric},
		{"a rollout over N nodes costs O(N) writes", manyNodes},
	} {
		if !t.Run(test.sentence, func(t *testing.T) {
			inner := *c
			inner.T = t
			test.run(&inner)
		}) {
			return
		}
	}
	c.checkRights()
}

func goodPolicy(c *cluster) {
	since := time.Now()
	c.create(c.policy("good", intstr.FromInt32(2), nil))
	c.await("good", "generation 1 Available SuccessfullyConfigured: 4/4 nodes successfully configured")
	if most := c.players.mostOpen("good"); most > 2 {
		c.Errorf("%d nodes were changing at once, at most 2 may", most)
	}
	policy := c.get("good")
	if diff := cmp.Diff(v1.PolicyCounts{Matched: 4, Available: 4}, policy.Status.Counts); diff != "" {
		c.Errorf("counts (-want +got):\n%s", diff)
	}
	if len(policy.Status.Conditions) != 4 {
		c.Errorf("all four conditions are there always, got %v", policy.Status.Conditions)
	}
	c.tellWrites(since, 4)
}

func badPolicy(c *cluster) {
	c.players.failWhere("bad", func(_ string, generation int64) bool { return generation == 1 })
	c.create(c.policy("bad", intstr.FromString("25%"), nil))
	c.await("bad", "generation 1 Degraded FailedToConfigure: 1/4 nodes failed to configure, 3 nodes aborted configuration")
	for i := range 4 {
		enactment := &v1.NodeNetworkConfigurationEnactment{}
		name := v1.EnactmentName(fmt.Sprintf("node%d", i+1), "bad")
		if err := c.api.Get(c.ctx, client.ObjectKey{Name: name}, enactment); err != nil {
			c.Fatal(err)
		}
		want := v1.NodeNetworkConfigurationEnactmentSpec{AbortedGeneration: 1}
		if i == 0 {
			want = v1.NodeNetworkConfigurationEnactmentSpec{ApprovedGeneration: 1, MaxUnavailable: new(intstr.FromString("25%"))}
		}
		if !reflect.DeepEqual(enactment.Spec, want) {
			c.Errorf("%s: spec %+v, want %+v", name, enactment.Spec, want)
		}
	}
	c.awaitEvent("bad", "Aborted")

	policy := c.get("bad")
	policy.Spec.Priority++
	if err := c.api.Update(c.ctx, policy); err != nil {
		c.Fatal(err)
	}
	c.await("bad", "generation 2 Available SuccessfullyConfigured: 4/4 nodes successfully configured")
	if most := c.players.mostOpen("bad"); most > 1 {
		c.Errorf("%d nodes were changing at once, at most 1 may", most)
	}
}

func labelledNode(c *cluster) {
	c.create(c.policy("labelled", intstr.FromString("50%"), map[string]string{"rack": "7"}))
	c.await("labelled", "generation 1 Ignored NoMatchingNode: Policy does not match any node")
	c.label("node3", `{"metadata":{"labels":{"rack":"7"}}}`)
	c.await("labelled", "generation 1 Available SuccessfullyConfigured: 1/1 nodes successfully configured")
	c.label("node3", `{"metadata":{"labels":{"rack":null}}}`)
	c.await("labelled", "generation 1 Ignored NoMatchingNode: Policy does not match any node")
}

func notReadyNode(c *cluster) {
	c.setReady("node2", corev1.ConditionUnknown)
	c.create(c.policy("notready", intstr.FromInt32(4), nil))
	c.await("notready", "generation 1 Available SuccessfullyConfigured: 3/4 nodes successfully configured, 1 nodes ignored due to NotReady state")
	c.setReady("node2", corev1.ConditionTrue)
	c.await("notready", "generation 1 Available SuccessfullyConfigured: 4/4 nodes successfully configured")
}

func deletedNode(c *cluster) {
	c.addNode("broken", map[string]string{"role": "spare"})
	c.addNode("spare", map[string]string{"role": "spare"})
	c.players.failWhere("deleted", func(node string, _ int64) bool { return node == "broken" })
	c.create(c.policy("deleted", intstr.FromInt32(1), map[string]string{"role": "spare"}))
	c.await("deleted", "generation 1 Degraded FailedToConfigure: 1/2 nodes failed to configure, 1 nodes aborted configuration")
	c.delete(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "broken"}})
	c.await("deleted", "generation 1 Available SuccessfullyConfigured: 1/1 nodes successfully configured")
	c.delete(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "spare"}})
	c.await("deleted", "generation 1 Ignored NoMatchingNode: Policy does not match any node")
}

func nmstateObject(c *cluster) {
	object := &v1.NMState{ObjectMeta: metav1.ObjectMeta{Name: "nmstate"}}
	c.create(object)
	c.poll("NMState is answered", func() (bool, string) {
		if err := c.api.Get(c.ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, err.Error()
		}
		return len(object.Status.Conditions) == 3, fmt.Sprint(object.Status.Conditions)
	})
	var got []string
	for _, condition := range object.Status.Conditions {
		got = append(got, fmt.Sprintf("%s=%s %s", condition.Type, condition.Status, condition.Reason))
	}
	want := []string{"Available=False NotSupported", "Progressing=False NotSupported", "Degraded=True NotSupported"}
	if diff := cmp.Diff(want, got); diff != "" {
		c.Errorf("conditions (-want +got):\n%s", diff)
	}
}

// quiet: heartbeats, annotations and labels that select nothing. Afterwards a
// policy is written as a fence: its status came through the same queue.
func quiet(c *cluster) {
	// A status that only moves numbers waits a second: those of earlier cases
	// have to be through.
	before, since := c.writes(time.Time{}), time.Now()
	c.poll("the writes of earlier cases are through", func() (bool, string) {
		if now := c.writes(time.Time{}); now != before {
			before, since = now, time.Now()
		}
		return time.Since(since) > 1500*time.Millisecond, fmt.Sprintf("%d writes", before)
	})
	for i := range 4 {
		node := fmt.Sprintf("node%d", i+1)
		c.setReady(node, corev1.ConditionTrue)
		c.label(node, `{"metadata":{"labels":{"unrelated":"yes"},"annotations":{"a":"b"}}}`)
	}
	c.create(c.policy("fence", intstr.FromInt32(1), map[string]string{"role": "nobody"}))
	c.await("fence", "generation 1 Ignored NoMatchingNode: Policy does not match any node")
	if writes := c.writes(time.Time{}) - before; writes != 1 {
		c.Errorf("%d writes, want only the status of the new policy:\n%s", writes, c.summary(time.Time{}))
	}
}

func policyMetric(c *cluster) {
	families, err := metrics.Registry.Gather()
	if err != nil {
		c.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "kubernetes_nmstate_policies_status" {
			continue
		}
		for _, metric := range family.GetMetric() {
			got[metric.GetLabel()[0].GetValue()] = metric.GetGauge().GetValue()
		}
	}
	want := map[string]float64{"Available": 3, "Ignored": 3, "Degraded": 0, "Progressing": 0}
	if diff := cmp.Diff(want, got); diff != "" {
		c.Errorf("kubernetes_nmstate_policies_status (-want +got):\n%s", diff)
	}
}

func manyNodes(c *cluster) {
	const count = 40
	for i := range count {
		c.addNode(fmt.Sprintf("many%02d", i), map[string]string{"role": "many"})
	}
	since := time.Now()
	c.create(c.policy("many", intstr.FromString("25%"), map[string]string{"role": "many"}))
	c.await("many", fmt.Sprintf("generation 1 Available SuccessfullyConfigured: %d/%d nodes successfully configured", count, count))
	if most := c.players.mostOpen("many"); most > count/4 {
		c.Errorf("%d nodes were changing at once, at most %d may", most, count/4)
	}
	c.tellWrites(since, count)
}

// tellWrites allows a grant for each node and as many writes of the status.
func (c *cluster) tellWrites(since time.Time, nodes int) {
	c.Helper()
	writes := c.writes(since)
	c.Logf("%d nodes: %d writes\n%s", nodes, writes, c.summary(since))
	if writes > 2*nodes {
		c.Errorf("%d writes for %d nodes, want at most %d", writes, nodes, 2*nodes)
	}
}

func (c *cluster) requests(since time.Time, verbs ...string) []controlplane.Request {
	c.Helper()
	requests, err := controlplane.ReadRequests(c.audit, controlplane.Filter{
		Since: since, UserAgent: "nmstate-controllers/", Verbs: verbs, Groups: []string{v1.GroupVersion.Group},
	})
	if err != nil {
		c.Fatal(err)
	}
	return requests
}

func (c *cluster) writes(since time.Time) int {
	return len(c.requests(since, "patch", "update", "create", "delete"))
}

func (c *cluster) summary(since time.Time) string {
	return controlplane.Summary(c.requests(since))
}

// checkRights: whatever the program asked for, deploy/rbac allows.
func (c *cluster) checkRights() {
	requests, err := controlplane.ReadRequests(c.audit, controlplane.Filter{UserAgent: "nmstate-controllers/"})
	if err != nil {
		c.Fatal(err)
	}
	for _, request := range requests {
		if request.Code == 403 {
			c.Errorf("forbidden: %s %s/%s %s", request.Verb, request.Group, request.Resource, request.Subresource)
		}
	}
}

func (c *cluster) policy(name string, limit intstr.IntOrString, selector map[string]string) *v1.NodeNetworkConfigurationPolicy {
	if selector == nil {
		selector = map[string]string{"role": "worker"}
	}
	return &v1.NodeNetworkConfigurationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.NodeNetworkConfigurationPolicySpec{
			NodeSelector: selector, MaxUnavailable: &limit, DesiredState: v1.State{Raw: []byte(`{"interfaces":[{"name":"eth1","type":"ethernet","state":"up"}]}`)},
		},
	}
}

func (c *cluster) get(name string) *v1.NodeNetworkConfigurationPolicy {
	c.Helper()
	policy := &v1.NodeNetworkConfigurationPolicy{}
	if err := c.api.Get(c.ctx, client.ObjectKey{Name: name}, policy); err != nil {
		c.Fatal(err)
	}
	return policy
}

func (c *cluster) create(object client.Object) {
	c.Helper()
	if err := c.api.Create(c.ctx, object); err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) delete(object client.Object) {
	c.Helper()
	if err := c.api.Delete(c.ctx, object); err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) addNode(name string, labels map[string]string) {
	c.Helper()
	c.create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	c.setReady(name, corev1.ConditionTrue)
}

func (c *cluster) setReady(name string, status corev1.ConditionStatus) {
	c.Helper()
	patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q,"lastHeartbeatTime":%q}]}}`,
		status, time.Now().UTC().Format(time.RFC3339))
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := c.api.Status().Patch(c.ctx, node, client.RawPatch("application/strategic-merge-patch+json", []byte(patch))); err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) label(name, patch string) {
	c.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := c.api.Patch(c.ctx, node, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) await(policy, want string) {
	c.Helper()
	c.poll("policy "+policy+": "+want, func() (bool, string) {
		got := line(c.get(policy))
		return got == want, got
	})
}

func (c *cluster) awaitEvent(policy, reason string) {
	c.Helper()
	c.poll("event "+reason, func() (bool, string) {
		events := &corev1.EventList{}
		if err := c.api.List(c.ctx, events); err != nil {
			return false, err.Error()
		}
		for _, event := range events.Items {
			if event.InvolvedObject.Name == policy && event.Reason == reason && event.Type == corev1.EventTypeWarning {
				return true, ""
			}
		}
		return false, fmt.Sprintf("%d other events", len(events.Items))
	})
}

func (c *cluster) poll(what string, reached func() (bool, string)) {
	c.Helper()
	state := ""
	err := wait.PollUntilContextTimeout(c.ctx, 20*time.Millisecond, deadline, true, func(context.Context) (bool, error) {
		var done bool
		done, state = reached()
		return done, nil
	})
	if err != nil {
		c.Fatalf("waited for %s\nbut it is   %s", what, state)
	}
}

// newCluster starts everything.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	c, cancel := newPlane(t)
	c.apply("../deploy/rbac/controllers.yaml")
	c.players = startPlayers(c.ctx, t, c.api)
	c.runControllers(cancel, c.kubeconfig)
	return c
}

// newPlane starts an API server without anything on it.
func newPlane(t *testing.T) (*cluster, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	assets := controlplanetest.Assets(t, os.Getenv)
	c := &cluster{T: t, ctx: ctx, audit: filepath.Join(t.TempDir(), "audit.log")}
	plane, err := controlplane.Start(ctx, controlplane.Options{Dir: t.TempDir(), Assets: assets, CRDs: "../deploy/crds", AuditLog: c.audit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Stop)
	t.Cleanup(cancel)

	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	config, err := plane.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	if c.api, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	c.kubeconfig = impersonating(t, plane.Kubeconfig(), serviceAccount)
	c.apply("../deploy/namespace/namespace.yaml")
	return c, cancel
}

func (c *cluster) runControllers(cancel context.CancelFunc, kubeconfig string) {
	ended := make(chan error, 1)
	go func() {
		ended <- run(c.ctx, options{
			kubeconfig: kubeconfig, elect: true, electNamespace: "nmstate", metricsAddr: "0", healthAddr: "0", answerNMStates: true,
		})
	}()
	c.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			c.Errorf("the controllers ended: %v", err)
		}
	})
}

// impersonating makes a kubeconfig with the rights of a service account.
func impersonating(t *testing.T, kubeconfig, account string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		user.Impersonate = account
		user.ImpersonateGroups = []string{"system:serviceaccounts", "system:serviceaccounts:nmstate", "system:authenticated"}
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// apply takes the objects of a file over what is there of them.
func (c *cluster) apply(path string) {
	c.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		c.Fatal(err)
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil && len(object.Object) > 0 {
			err = c.api.Apply(c.ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("test"), client.ForceOwnership)
		}
		if err != nil {
			c.Fatalf("%s: %v", path, strings.TrimSpace(err.Error()))
		}
	}
}
