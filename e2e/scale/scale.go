package scale

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
)

const (
	// groupLabel of a Node is the run that it belongs to.
	groupLabel = "scale"
	// patience for one rollout; it only bounds what hangs.
	patience = 10 * time.Minute
	poll     = 100 * time.Millisecond
	// quiet is how long no request must have come until a rollout is over: the
	// audit log and the last number in a status are late.
	quiet = 1500 * time.Millisecond
	// Flatness is how much the requests per node may differ, as a share.
	Flatness = 0.10
)

// Bench runs rollouts on one control plane.
type Bench struct {
	config  *rest.Config
	audit   string
	scheme  *runtime.Scheme
	api     client.Client
	clock   clock.PassiveClock
	running sync.WaitGroup
	say     func(format string, arguments ...any)
}

// Cost is what one rollout cost.
type Cost struct {
	// What was done: "create" or "edit".
	What  string
	Nodes int
	// Requests by component, verb and kind. Watches are not among them: each
	// cache has one for each kind, however many rollouts there are.
	Requests map[string]int
}

// PerNode is the number of requests for each node.
func (c Cost) PerNode() float64 {
	sum := 0
	for _, count := range c.Requests {
		sum += count
	}
	return float64(sum) / float64(c.Nodes)
}

// New makes a bench on a control plane with our definitions, whose audit log is
// in the file. say gets progress, one line at a time.
func New(connection *rest.Config, audit string, say func(format string, arguments ...any)) (*Bench, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	own := rest.CopyConfig(connection)
	own.QPS = -1
	own.UserAgent = "scale"
	api, err := client.New(own, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	return &Bench{config: connection, audit: audit, scheme: scheme, api: api, clock: clock.RealClock{}, say: say}, nil
}

// Measure rolls a policy out over each number of nodes, and an edit of it, one
// number after the other.
func (b *Bench) Measure(ctx context.Context, counts ...int) ([]Cost, error) {
	var all []Cost
	for _, count := range counts {
		costs, err := b.rollOut(ctx, count)
		if err != nil {
			return nil, fmt.Errorf("%d nodes: %w", count, err)
		}
		all = append(all, costs...)
	}
	return all, nil
}

func (b *Bench) rollOut(ctx context.Context, count int) (costs []Cost, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		b.running.Wait()
	}()
	group := fmt.Sprintf("of-%d", count)
	if err := b.startControllers(ctx); err != nil {
		return nil, err
	}
	var starts errgroup.Group
	starts.SetLimit(10)
	for i := range count {
		name := fmt.Sprintf("%s-node%03d", group, i)
		starts.Go(func() error {
			if err := b.addNode(ctx, name, group); err != nil {
				return err
			}
			return b.startHandler(ctx, name)
		})
	}
	if err := starts.Wait(); err != nil {
		return nil, err
	}
	if err := b.await(ctx, "reports of all nodes", func() (bool, error) { return b.reported(ctx, group, count) }); err != nil {
		return nil, err
	}
	b.say("%d nodes report", count)
	limit := intstr.FromString("50%")
	p := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: group}, Spec: v1.NodeNetworkConfigurationPolicySpec{
		NodeSelector: map[string]string{groupLabel: group}, MaxUnavailable: &limit, DesiredState: desired(1400),
	}}
	create := func() error { return b.api.Create(ctx, p) }
	edit := func() error {
		if err := b.api.Get(ctx, client.ObjectKeyFromObject(p), p); err != nil {
			return err
		}
		p.Spec.DesiredState = desired(1300)
		return b.api.Update(ctx, p)
	}
	if err := b.settled(ctx); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		what string
		do   func() error
	}{{"create", create}, {"edit", edit}} {
		cost, err := b.count(ctx, p, step.what, count, step.do)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", step.what, err)
		}
		costs = append(costs, cost)
	}
	return costs, b.api.Delete(ctx, p)
}

func desired(mtu int) v1.State {
	return v1.NewState(fmt.Appendf(nil, `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":%d}]}`, mtu))
}

func (b *Bench) addNode(ctx context.Context, name, group string) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{groupLabel: group}}}
	if err := b.api.Create(ctx, node); err != nil {
		return fmt.Errorf("adding node %s: %w", name, err)
	}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if err := b.api.Status().Update(ctx, node); err != nil {
		return fmt.Errorf("making node %s Ready: %w", name, err)
	}
	return nil
}

func (b *Bench) reported(ctx context.Context, group string, count int) (bool, error) {
	var list v1.NodeNetworkStateList
	if err := b.api.List(ctx, &list); err != nil {
		return false, err
	}
	reported := 0
	for i := range list.Items {
		if strings.HasPrefix(list.Items[i].Name, group+"-") && !list.Items[i].Status.CurrentState.IsZero() {
			reported++
		}
	}
	return reported == count, nil
}

// count does the step and waits until it is rolled out and nothing more is asked.
func (b *Bench) count(ctx context.Context, p *v1.NodeNetworkConfigurationPolicy, what string, nodes int, step func() error) (Cost, error) {
	before, err := b.requests()
	if err != nil {
		return Cost{}, err
	}
	if err := step(); err != nil {
		return Cost{}, err
	}
	err = b.await(ctx, "the policy to be Available", func() (bool, error) {
		var now v1.NodeNetworkConfigurationPolicy
		if err := b.api.Get(ctx, client.ObjectKeyFromObject(p), &now); err != nil {
			return false, err
		}
		return now.Status.ObservedGeneration == p.Generation && int(now.Status.Counts.Available) == nodes, nil
	})
	if err != nil {
		return Cost{}, err
	}
	if err := b.settled(ctx); err != nil {
		return Cost{}, err
	}
	after, err := b.requests()
	if err != nil {
		return Cost{}, err
	}
	cost := Cost{What: what, Nodes: nodes, Requests: map[string]int{}}
	for _, r := range after[len(before):] {
		cost.Requests[kindOf(r)]++
	}
	b.say("%d nodes, %s: %.2f requests per node", nodes, what, cost.PerNode())
	return cost, nil
}

// requests are those of our programs, in the order of the log.
func (b *Bench) requests() ([]controlplane.Request, error) {
	found, err := controlplane.ReadRequests(b.audit, controlplane.Filter{UserAgent: "nmstate-"})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(r controlplane.Request) bool { return r.Verb == "watch" }), nil
}

// settled waits until our programs ask nothing any more.
func (b *Bench) settled(ctx context.Context) error {
	last, since := -1, time.Time{}
	return b.await(ctx, "the end of the requests", func() (bool, error) {
		now, err := b.requests()
		if err != nil {
			return false, err
		}
		if len(now) != last {
			last, since = len(now), b.clock.Now()
		}
		return b.clock.Since(since) > quiet, nil
	})
}

func (b *Bench) await(ctx context.Context, what string, reached func() (bool, error)) error {
	err := wait.PollUntilContextTimeout(ctx, poll, patience, true, func(context.Context) (bool, error) { return reached() })
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("waited %v for %s in vain", patience, what)
	}
	return err
}

func kindOf(r controlplane.Request) string {
	component := "handler"
	if strings.HasPrefix(r.UserAgent, controllersAgent) {
		component = "controllers"
	}
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	return component + ": " + r.Verb + " " + resource
}

// Table shows the costs per node, a column for each.
func Table(costs []Cost) string {
	kinds := map[string]bool{}
	for _, c := range costs {
		for kind := range c.Requests {
			kinds[kind] = true
		}
	}
	var text strings.Builder
	out := tabwriter.NewWriter(&text, 0, 0, 3, ' ', tabwriter.AlignRight)
	row := func(first string, cell func(Cost) string) {
		for _, c := range costs {
			_, _ = fmt.Fprint(out, cell(c), "\t")
		}
		_, _ = fmt.Fprintln(out, " "+first)
	}
	row("requests per node", func(c Cost) string { return fmt.Sprintf("%s %d", c.What, c.Nodes) })
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		row(kind, func(c Cost) string { return fmt.Sprintf("%.2f", float64(c.Requests[kind])/float64(c.Nodes)) })
	}
	row("in total", func(c Cost) string { return fmt.Sprintf("%.2f", c.PerNode()) })
	_ = out.Flush()
	return text.String()
}

// Flat says where the requests per node depend on how many nodes there are: by
// more than Flatness between any two rollouts of the same kind.
func Flat(costs []Cost) error {
	var all []error
	for _, what := range []string{"create", "edit"} {
		var least, most *Cost
		for i := range costs {
			c := &costs[i]
			switch {
			case c.What != what:
				continue
			case least == nil:
				least, most = c, c
			case c.PerNode() < least.PerNode():
				least = c
			case c.PerNode() > most.PerNode():
				most = c
			}
		}
		if least != nil && most.PerNode() > least.PerNode()*(1+Flatness) {
			all = append(all, fmt.Errorf("%s: %.2f requests per node for %d nodes, %.2f for %d: not flat within %.0f %%",
				what, least.PerNode(), least.Nodes, most.PerNode(), most.Nodes, Flatness*100))
		}
	}
	return errors.Join(all...)
}
