package policy_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

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
