package agent

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestAnOldNetworkManagerIsToldAndNothingIsChanged(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	var updated atomic.Bool
	a, _ := n.handler(func(o *Options) {
		o.NmstateVersion = "2.2.62"
		o.NetworkManager = func(context.Context) Daemon {
			if updated.Load() {
				return Daemon{Version: "1.52.1", ResolvConf: "unmanaged"}
			}
			return Daemon{Version: "1.40.16"}
		}
	})

	n.want(2, "p", "br0")
	got := n.outcome(2)
	if got.Result != v1.TransactionRefused || got.Final || !strings.Contains(got.Message, "NetworkManager 1.40.16 is too old") {
		t.Errorf("outcome = %+v", got)
	}
	available := func() v1.Condition {
		for _, c := range n.get().Status.Conditions {
			if c.Type == v1.StateAvailable {
				return c
			}
		}
		return v1.Condition{}
	}
	if c := available(); c.Status != metav1.ConditionFalse || c.Reason != v1.ReasonNetworkManagerTooOld {
		t.Errorf("Available = %+v", c)
	}
	if n.get().Status.CurrentState.IsZero() {
		t.Error("what the node has is not reported")
	}

	updated.Store(true)
	n.want(3, "p", "br0", "br1")
	if got := n.outcome(3); got.Result != v1.TransactionCommitted {
		t.Errorf("outcome once it is new enough = %+v", got)
	}
	a.inbox.dirty.Store(true)
	a.poke()
	n.until("the node is Available", func() bool { return available().Status == metav1.ConditionTrue })
	status := n.get().Status
	told := []string{status.HandlerNmstateVersion, status.HandlerNetworkManagerVersion, status.HostNetworkManagerVersion, status.ResolvConfManager}
	if want := []string{"2.2.62", "1.52.1", "1.52.1", "unmanaged"}; !slices.Equal(told, want) {
		t.Errorf("versions that scripts of the older project read, and who keeps /etc/resolv.conf: %q, want %q", told, want)
	}
}

func TestWhatOnlyANewerNetworkManagerDoesIsTold(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]int{"1.42.4": 3, "1.52.1": 1, "1.54.0": 0, "": 0, "unknown": 0} {
		if got := limits(version); len(got) != want {
			t.Errorf("of %q is said %q, want %d lines", version, got, want)
		}
	}
	n := newNode(t)
	n.handler(func(o *Options) {
		o.NetworkManager = func(context.Context) Daemon { return Daemon{Version: "1.42.4"} }
	})
	n.want(2, "p", "br0")
	n.outcome(2)
	n.until("the node tells it", func() bool { return slices.Equal(n.get().Status.NetworkManagerLimits, limits("1.42.4")) })
}
