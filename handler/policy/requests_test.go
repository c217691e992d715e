package policy_test

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
)

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
	if len(requests) > 6 {
		c.Errorf("%d requests, want at most 6 (create, live read of the policy, spec, Progressing, Available; the first of a process reads the NodeNetworkState live)", len(requests))
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

func restart(c *cluster) {
	c.settle()
	c.stop()
	since := time.Now()
	c.stop = c.startHandler()
	c.settle()
	requests := slices.DeleteFunc(c.requests(since), func(r controlplane.Request) bool {
		ofFence := r.Verb == "get" && r.Resource == "nodenetworkstates" // It is the first whose status a new process writes.
		return r.Verb == "list" || ofFence
	})
	if len(requests) > 0 {
		c.Errorf("%d requests besides the lists of a start:\n%s", len(requests), controlplane.Summary(requests))
	}
	if got := c.captured.count(); got != 1 {
		c.Errorf("resolved %d times, want not again", got)
	}
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
