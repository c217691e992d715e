package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// fill gives the node so many bridges, each as large as a real one.
func (h *host) fill(count int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range count {
		name := fmt.Sprintf("br%d", i)
		h.interfaces[name] = map[string]any{"name": name, "type": "linux-bridge", "state": "up", "description": strings.Repeat("x", 1700)}
	}
}

func (n *node) condition(kind v1.ConditionType) v1.Condition {
	for _, c := range n.get().Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return v1.Condition{}
}

func TestALargeNodeIsReportedWithinTheBoundAndConfiguredAsASmallOne(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.host.fill(1500)
	a, _ := n.handler()
	n.until("the node is reported", func() bool { return n.get() != nil && !n.get().Status.CurrentState.IsZero() })
	n.want(2, "p", "new0")
	if got := n.outcome(2); got.Result != v1.TransactionCommitted {
		t.Fatalf("outcome = %+v", got)
	}
	n.until("what the policy names is reported", func() bool { return strings.Contains(string(n.get().Status.CurrentState.Raw), "new0") })
	status := n.get().Status
	said, err := json.Marshal(status.Truncated)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes of %d, and %d say %s", len(status.CurrentState.Raw), status.Truncated.Size, len(said), said)
	if size := len(status.CurrentState.Raw) + len(said); size > state.ReportLimit {
		t.Errorf("%d bytes", size)
	}
	if omitted := status.Truncated.Omitted; len(omitted) != 1 || omitted[0].Count != 1500 || omitted[0].Names != "br[0-1499]" {
		t.Errorf("left out: %+v", omitted)
	}
	if whole, known := a.Whole(); !known || len(whole.Interfaces()) != 1502 {
		t.Errorf("the whole report has %d interfaces", len(whole.Interfaces()))
	}
	n.quiet()

	before := status.Truncated.Hash
	n.host.mu.Lock()
	n.host.interfaces["br7"]["description"] = strings.Repeat("y", 1700)
	n.host.mu.Unlock()
	a.NetworkChanged()
	n.until("a change of what is left out is told", func() bool { return n.get().Status.Truncated.Hash != before })

	n.host.mu.Lock()
	for i := range 1400 {
		delete(n.host.interfaces, fmt.Sprintf("br%d", i))
	}
	n.host.mu.Unlock()
	a.NetworkChanged()
	n.until("a smaller node is reported as a whole", func() bool {
		return n.get().Status.Truncated == nil && strings.Contains(string(n.get().Status.CurrentState.Raw), "br1499")
	})
}

// strict is an API server that takes no more than so many bytes, as etcd does.
func (n *node) strict(limit int, refusal error) client.WithWatch {
	return interceptor.NewClient(n.api, interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			if raw, err := json.Marshal(o); err != nil || len(raw) > limit {
				return refusal
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	})
}

func TestAReportThatTheAPIServerRefusesIsToldAsOldAndHoldsUpNothing(t *testing.T) {
	t.Parallel()
	for sentence, refusal := range map[string]error{
		"etcd takes no request of that size":       errors.New("etcdserver: request is too large"),
		"the API server takes none":                apierrors.NewRequestEntityTooLargeError("limit is 3145728"),
		"its connection to etcd takes none":        apierrors.NewInternalError(errors.New("rpc error: code = ResourceExhausted desc = trying to send message larger than max (2097279 vs. 2097152)")),
		"an admission policy has a bound":          apierrors.NewForbidden(schema.GroupResource{Resource: "nodenetworkstates"}, "node1", errors.New("status.currentState is too long")),
		"the schema has one":                       apierrors.NewInvalid(schema.GroupKind{Kind: "NodeNetworkState"}, "node1", nil),
		"the request cannot be read for its size":  apierrors.NewBadRequest("too long"),
		"a proxy between answers for it by itself": &apierrors.StatusError{ErrStatus: metav1.Status{Message: "request is too large", Code: 500}},
	} {
		t.Run(sentence, func(t *testing.T) {
			n := newNode(t)
			api := n.strict(20_000, refusal)
			a, _ := n.handler(func(o *Options) { o.Client = api })
			n.until("the node is reported", func() bool { return n.get() != nil && n.condition(v1.StateAvailable).Status == metav1.ConditionTrue })
			old := n.get().Status

			n.host.fill(20)
			a.NetworkChanged()
			n.until("the report is told to be old", func() bool { return n.condition(v1.StateAvailable).Reason == v1.ReasonReportRefused })
			got := n.condition(v1.StateAvailable)
			if got.Status != metav1.ConditionUnknown || !strings.Contains(got.Message, old.LastSuccessfulUpdateTime.UTC().Format("2006-01-02T15:04:05Z")) {
				t.Errorf("%s: %s", got.Status, got.Message)
			}
			if now := n.get().Status.CurrentState.Raw; string(now) != string(old.CurrentState.Raw) {
				t.Errorf("what is told is neither the old report nor the new one: %s", now)
			}
			n.quiet()
			told := n.get().ResourceVersion
			a.NetworkChanged()
			n.until("the node is read again", func() bool { return !a.inbox.dirty.Load() })
			if n.quiet(); n.get().ResourceVersion != told {
				t.Error("a report that is refused again is told again")
			}
			n.want(2, "p", "new0")
			if got := n.outcome(2); got.Result != v1.TransactionCommitted {
				t.Fatalf("outcome = %+v", got)
			}
			if err := a.Ready(); err != nil {
				t.Errorf("not ready: %v", err)
			}
			n.host.mu.Lock()
			for i := range 20 {
				delete(n.host.interfaces, fmt.Sprintf("br%d", i))
			}
			n.host.mu.Unlock()
			a.NetworkChanged()
			n.until("a report that is taken is told", func() bool { return n.condition(v1.StateAvailable).Status == metav1.ConditionTrue })
		})
	}
}

func TestAHandlerThatBeginsOnANodeWhoseReportIsRefusedGetsReady(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.host.fill(20)
	a, _ := n.handler(func(o *Options) { o.Client = n.strict(20_000, errors.New("etcdserver: request is too large")) })
	n.until("the handler is ready", func() bool { return a.Ready() == nil })
	got := n.condition(v1.StateAvailable)
	if got.Reason != v1.ReasonReportRefused || !strings.Contains(got.Message, "nothing was told before") || !n.get().Status.CurrentState.IsZero() {
		t.Errorf("%s %s: %s", got.Status, got.Reason, got.Message)
	}
}
