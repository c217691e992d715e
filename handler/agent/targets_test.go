package agent

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/guard"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
)

// routers are a Prober of default gateways, some of which are dead.
type routers struct {
	mu   sync.Mutex
	now  []guard.Target
	dead map[string]bool
}

func (r *routers) Names() []string { return []string{probe.DefaultGateway} }

func (r *routers) Targets(context.Context, string) ([]guard.Target, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now, nil
}

func (r *routers) Probe(ctx context.Context, name string) error {
	now, _ := r.Targets(ctx, name)
	return r.Ask(ctx, name, [][]netip.Addr{guard.Addresses(now)})
}

func (r *routers) Ask(_ context.Context, name string, groups [][]netip.Addr) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, group := range groups {
		if !slices.ContainsFunc(group, func(a netip.Addr) bool { return !r.dead[a.String()] }) {
			return errors.New(name + ": " + group[0].String() + " did not answer")
		}
	}
	return nil
}

func (r *routers) become(dead ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dead = map[string]bool{}
	for _, address := range dead {
		r.dead[address] = true
	}
}

func dualStack() *routers {
	return &routers{now: []guard.Target{
		{Address: netip.MustParseAddr("192.0.2.1"), Interface: "eth0"}, {Address: netip.MustParseAddr("2001:db8::1"), Interface: "eth0"},
	}}
}

func TestTheBaselineKnowsWhichGatewaysAnswered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dead, lately, answered []string
	}{
		"all answer":                               {answered: []string{"192.0.2.1", "2001:db8::1"}},
		"one is silent":                            {dead: []string{"2001:db8::1"}, answered: []string{"192.0.2.1"}},
		"one is silent, and was so lately":         {dead: []string{"2001:db8::1"}, lately: []string{"192.0.2.1"}, answered: []string{"192.0.2.1"}},
		"one that was silent lately answers again": {lately: []string{"192.0.2.1"}, answered: []string{"192.0.2.1", "2001:db8::1"}},
		"none answers":                             {dead: []string{"192.0.2.1", "2001:db8::1"}},
	} {
		t.Run(name, func(t *testing.T) {
			network := dualStack()
			network.become(c.dead...)
			a := &Agent{}
			a.Prober, a.Clock = network, deadline.On(clock.RealClock{})
			var later []func()
			a.Spawn = func(task func()) { later = append(later, task) }
			var lately map[string]bool
			if c.lately != nil {
				lately = map[string]bool{probe.DefaultGateway: true}
				for _, target := range network.now {
					lately[targetKey(probe.DefaultGateway, target.Address)] = slices.Contains(c.lately, target.Address.String())
				}
			}

			var got *answers
			a.measure(t.Context(), network.Names(), lately, time.Second, nil, func(found answers) { got = &found })
			for len(later) > 0 { // The last one first: what was not lately answers before what is waited for.
				task := later[len(later)-1]
				later = later[:len(later)-1]
				task()
			}
			if got == nil {
				t.Fatal("the measurement has not ended")
			}
			var answered []string
			for _, target := range got.before(probe.DefaultGateway).Answered {
				answered = append(answered, target.Address.String())
			}
			if diff := cmp.Diff(c.answered, answered); diff != "" {
				t.Errorf("what answered differs (-want +got):\n%s", diff)
			}
			if passed := len(c.answered) > 0; got.passed[probe.DefaultGateway] != passed {
				t.Errorf("the probe passed: %t, want %t", !passed, passed)
			}
		})
	}
}

func TestAChangeAfterWhichOneFamilysGatewayIsDeadIsTakenBackAndSoIsItsNextAttempt(t *testing.T) {
	t.Parallel()
	n, network := newNode(t), dualStack()
	n.handler(func(o *Options) {
		o.Prober, o.Backoff = network, idle.Backoff{FirstLost: time.Second, MostLost: time.Second}
	})
	n.want(2, "", "good")
	if got := n.outcome(2); got.Result != v1.TransactionCommitted {
		t.Fatalf("outcome = %+v", got)
	}
	n.host.mu.Lock()
	n.host.hold = make(chan struct{})
	hold := n.host.hold
	n.host.mu.Unlock()
	n.want(3, "", "bad")
	n.until("it is applied", func() bool { return n.host.has("bad") })
	network.become("192.0.2.1") // It stays so: before the next attempt it does not answer either.
	close(hold)
	// On a slow machine the window of an attempt may end before any answer is there: then
	// it is the next one that tells.
	n.until("a later attempt missed the gateway", func() bool {
		last := n.get().Status.Transaction
		if last != nil && last.Generation == 3 && last.Result == v1.TransactionCommitted {
			t.Fatalf("outcome = %+v", last)
		}
		return last != nil && last.Generation == 3 && last.Attempts > 1 && last.Result == v1.TransactionRolledBack &&
			strings.HasSuffix(last.Message, "default-gateway: 192.0.2.1 did not answer")
	})
}

func TestAFamilyThatAChangeRemovesIsToldWhenItIsCommitted(t *testing.T) {
	t.Parallel()
	n, network := newNode(t), dualStack()
	n.handler(func(o *Options) { o.Prober = network })
	n.edit(func(nns *v1.NodeNetworkState) {
		nns.Generation = 2
		nns.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[{"name":"eth0","type":"ethernet","state":"up","ipv6":{"enabled":false}}]}`))
	})
	got := n.outcome(2)
	if got.Result != v1.TransactionCommitted || len(got.NotVerified) != 1 || !strings.Contains(got.NotVerified[0], "no gateway of IPv6 guards it") {
		t.Errorf("outcome = %+v", got)
	}
}

func TestWhatNetworkManagerDoesNotActivateIsTakenBackInOneReadableLine(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.handler()
	n.host.mu.Lock()
	n.host.disconnected = "bad"
	n.host.mu.Unlock()
	n.want(2, "p", "bad")
	got := n.outcome(2)
	const message = "the node does not have the desired state: interfaces[bad]: NetworkManager has it disconnected, not activated"
	if got.Result != v1.TransactionRolledBack || !strings.HasSuffix(got.Message, message) || got.Final {
		t.Errorf("outcome = %+v", got)
	}
}
