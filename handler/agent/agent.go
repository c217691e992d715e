package agent

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// Options are what an Agent needs; all are required where nothing else is said.
type Options struct {
	// Node that the agent runs on.
	Node string
	// Client reads from the cache and writes to the API server. Recover needs
	// none: whoever has it later gives it to Connect, with all of Cluster.
	Client client.Client
	// Live reads from the API server itself.
	Live    client.Reader
	Backend backend.Backend
	Prober  probe.Prober
	Journal journal.Journal
	// Foreign keeps what a change does not name; nil in tests that are not
	// about it.
	Foreign foreign.Keeper
	Boot    journal.Boot
	Clock   deadline.Clock
	// Spawn runs a task beside the turns.
	Spawn func(task func())
	// Window is how long the probes may take where the desired state does not say.
	Window time.Duration
	// Version of the handler, and of its libnmstate where it is known, for the
	// report.
	Version, NmstateVersion string
	// NetworkManager tells of the node's, empty what is not known; nil leaves it out of
	// the report.
	NetworkManager func(ctx context.Context) Daemon
	// BridgeVLANFiltering tells whether bridges of the node's kernel can filter
	// VLANs; nil leaves it out of the report.
	BridgeVLANFiltering *bool
	// Kernel tells which interfaces the node's kernel can make; nil where nothing
	// is known of it.
	Kernel backend.Kernel
	// Backoff is how a failed hand-written desired state is retried; the zero
	// value is the product's.
	Backoff idle.Backoff
	// ReportLimit is the most that a report takes, in bytes; zero is the product's.
	ReportLimit int
	// Damping is how drift is met; the zero value is the product's.
	Damping idle.Damping
	// Commands lets desired states have scripts run as root.
	Commands bool
	// Secrets opens what was sealed for the node; nil where nothing can be.
	Secrets Secrets
	// Metrics takes the agent's metrics; nil for none.
	Metrics prometheus.Registerer
	// Heard is a number that is another one once anything has been told of the network,
	// before NetworkChanged tells it; false where not everything is listened to. Nil: what
	// was read is never taken for what is there now.
	Heard func() (uint64, bool)
	// KnownBy are the addresses by which the cluster knows the node (its InternalIP), as
	// they were read last; nil: nobody reads them.
	KnownBy func() []netip.Addr
	// Ended is called when a transaction has ended, before its outcome is reported:
	// connections to the API server may have lost the address that they were made from.
	// Nil: nothing is called.
	Ended func()
}

// Agent is the state handler of one node.
type Agent struct {
	Options

	// turn is held by whoever takes a turn: Reconcile, Recover or End.
	turn sync.Mutex

	// These ten change. Each is a type with rules of its own, and only a turn touches those
	// that do not guard themselves:
	//  - txn: the transaction that runs or waits, what the journal and others know of it;
	//  - record: what outlives it, and whether the disk and the API server have it;
	//  - reported: what the API server was told of the node;
	//  - hashed: the desired state that was asked for last, with its hash;
	//  - reads: what was read of the node and serves once more;
	//  - drift: how what was read differs from what is committed;
	//  - inbox, which guards itself: what happened since the last turn;
	//  - tasks, which guard themselves: what runs beside the turns;
	//  - warm, which guards itself: which probes passed lately;
	//  - health, which guards itself: what others may ask about the turns.
	txn      transaction
	record   ledger
	reported reported
	hashed   hashed
	reads    reads
	drift    drift
	inbox    inbox
	tasks    tasks
	warm     baseline
	health   health

	metrics *metrics
	// wake asks for a turn, of whoever waits here or of the manager; asking
	// never blocks.
	wake    chan struct{}
	manager chan event.GenericEvent
}

// New makes the agent from what the node's journal holds. What it finds open
// is taken back by Recover, and so is what may be open where it cannot be read.
func New(options Options) (*Agent, error) {
	a := &Agent{Options: options, txn: transaction{State: txn.State{Phase: txn.Idle}}, wake: make(chan struct{}, 1)}
	a.manager = make(chan event.GenericEvent, 1)
	a.inbox.dirty.Store(true)
	a.reported.atOnce = true
	a.warm.clock = options.Clock
	a.inbox.calm = options.Clock.Now().Add(options.Damping.OrDefault().Calm)
	var err error
	if a.metrics, err = newMetrics(options.Metrics, options.Node); err != nil {
		return nil, err
	}
	over, err := a.record.load(a.Journal, a.Clock.Now())
	if err != nil {
		return nil, fmt.Errorf("starting the state handler: %w", err)
	}
	if over != nil {
		a.txn.entry = *over
	}
	return a, nil
}

// Reconcile takes a turn. It implements reconcile.Reconciler; the request is
// always about this node.
func (a *Agent) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	if !a.takeTurn(ctx) {
		return reconcile.Result{}, ctx.Err()
	}
	defer a.endTurn()

	if a.record.left.is() {
		// Recover needs the next turn, so this one waits for no API server.
		a.reportMeanwhile(ctx)
		return reconcile.Result{RequeueAfter: recoverPoll}, nil
	}
	a.hear(ctx)
	a.drain(ctx)
	if a.txn.Running() {
		if err := a.checkWanted(ctx); err != nil {
			return reconcile.Result{}, err
		}
		if a.txn.AwaitsConfirmation() {
			a.awaitConfirmation(ctx)
		}
		wait := a.tellRunning(ctx)
		if a.txn.WaitsToUndo() {
			// Mostly for NetworkManager, which may stay away: that is to be told.
			a.reportMeanwhile(ctx)
		}
		return reconcile.Result{RequeueAfter: soonest(a.untilTick(), wait)}, nil
	}
	return a.idle(ctx)
}

// drain lets the machine see everything that happened.
func (a *Agent) drain(ctx context.Context) {
	for {
		next, ok := a.inbox.take(a.tasks.current())
		if !ok {
			break
		}
		a.txn.hear(next)
		a.reads.hear(next)
		a.step(ctx, next.event)
	}
	if a.txn.Running() && !a.txn.Until.IsZero() {
		a.step(ctx, txn.Tick{At: a.Clock.Now()})
	}
}

// untilTick is when the machine wants to be asked again if nothing happens.
func (a *Agent) untilTick() time.Duration {
	const idleTick = 5 * time.Second
	if a.txn.Until.IsZero() {
		return idleTick
	}
	return min(max(a.txn.Until.Sub(a.Clock.Now()), 100*time.Millisecond), idleTick)
}

// checkWanted notices that the running change is not wanted any more.
func (a *Agent) checkWanted(ctx context.Context) error {
	nns, err := a.nodeState(ctx)
	if err != nil || nns == nil {
		return err
	}
	a.stepIfUnwanted(ctx, nns)
	return nil
}

func (a *Agent) stepIfUnwanted(ctx context.Context, nns *v1.NodeNetworkState) {
	switch {
	case !managed(nns):
		a.step(ctx, txn.Unwanted{Reason: "the node is no longer managed"})
	case nns.Generation > a.txn.Change.Generation && a.hashOf(nns.Spec.DesiredState) != a.txn.Change.Hash:
		a.step(ctx, txn.Unwanted{Reason: fmt.Sprintf("the desired state changed (generation %d)", nns.Generation)})
	}
}

// nodeState is the node's NodeNetworkState from the cache; nil when there is none.
func (a *Agent) nodeState(ctx context.Context) (*v1.NodeNetworkState, error) {
	if a.Client == nil {
		return nil, errNotConnected
	}
	var nns v1.NodeNetworkState
	if err := a.Client.Get(ctx, client.ObjectKey{Name: a.Node}, &nns); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil, nil
		}
		return nil, fmt.Errorf("reading NodeNetworkState %s: %w", a.Node, err)
	}
	return &nns, nil
}

func managed(nns *v1.NodeNetworkState) bool {
	return nns.Spec.Managed == nil || *nns.Spec.Managed
}
