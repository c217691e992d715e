package policy

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const (
	// maxRounds bounds the decisions of one turn: a decision's writes are its
	// own next input. Two or three are usual.
	maxRounds = 8
	// staleRetry is when to look again after a write met a newer object, if
	// the watch has not brought it by then. Each further look waits for twice as long,
	// up to 2^maxStaleDoublings times: a watch may be behind for minutes.
	staleRetry        = 200 * time.Millisecond
	maxStaleDoublings = 5
	// wholeRetry is when to look again whether the node's network was read: where its
	// report is truncated and still true, nothing is written then.
	wholeRetry = time.Second
)

// Captures resolves the captures of a policy.
type Captures interface {
	// Resolve renders a policy, given as JSON with the keys capture and
	// desiredState, against the node's current state. The error is in words
	// for the policy's author.
	Resolve(ctx context.Context, policyJSON []byte, current state.State) (rendered state.State, captured map[string]state.State, err error)
}

// Recorder records events; the manager's event recorder is one.
type Recorder interface {
	Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any)
}

// Options are what a Reconciler is made of.
type Options struct {
	// Client reads from a cache and writes; Live reads past the cache.
	Client client.Client
	Live   client.Reader
	// Node is the only node of a distributed handler; empty for all nodes.
	Node  string
	Clock clock.PassiveClock
	// Protected are patterns of the names of interfaces that belong to other
	// owners (desired.DefaultProtected): a policy that takes one is refused.
	Protected []string
	// Commands lets policies have scripts run as root on the nodes.
	Commands bool
	// Whole is the whole report of the node, of which its NodeNetworkState may tell only a
	// part; false while it is not known. Nil where nobody is asked: for all nodes.
	Whole func() (state.State, bool)
	// Captures may be nil: a policy with captures is refused then.
	Captures Captures
	// Fingerprint names a secret that a policy has in clear text, so that the name says
	// nothing about it. Nil where the node's own key is not at hand.
	Fingerprint func(value string) string
	// Events may be nil.
	Events Recorder
}

// Reconciler brings nodes' desired states in line with the policies.
type Reconciler struct {
	Options
	// indexed: the cache lists enactments by node.
	indexed bool

	mu    sync.Mutex
	nodes map[string]*memory

	shared sharedRenderings
	gone   lastWords
}

// New returns a reconciler that has done nothing yet.
func New(options Options) *Reconciler {
	r := &Reconciler{Options: options, nodes: map[string]*memory{}}
	r.shared.byPolicy = map[types.UID]map[bool]rendering{}
	r.gone = lastWords{clock: options.Clock, said: map[string]lastWord{}}
	return r
}

// Reconcile does one turn for the node that the request names. A conflict with
// another writer is no error: the turn is done again with what is there then.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	node := request.Name
	if r.Node != "" && r.Node != node {
		return reconcile.Result{}, nil
	}
	ctx = log.IntoContext(ctx, log.FromContext(ctx).WithValues("node", node))
	m := r.memoryOf(node)
	for range maxRounds {
		gathered, err := r.gather(ctx, m, node)
		if err != nil {
			return reconcile.Result{}, fmt.Errorf("reading what node %s should be: %w", node, err)
		}
		r.tellTransaction(m, gathered)
		r.tellDrift(m, gathered)
		decision := desired.Decide(gathered.input)
		if len(decision.Behind) > 0 {
			if err := r.readNewest(ctx, gathered, decision.Behind); err != nil {
				return reconcile.Result{}, err
			}
			decision = desired.Decide(gathered.input)
		}
		if decision.Empty() {
			return reconcile.Result{RequeueAfter: gathered.again(decision.RequeueAfter)}, nil
		}
		fresh, err := r.carryOut(ctx, m, gathered, decision)
		if outdated(err) || (err == nil && !fresh) {
			m.behind++
			return reconcile.Result{RequeueAfter: staleRetry << min(m.behind-1, maxStaleDoublings)}, nil
		}
		if err != nil {
			return reconcile.Result{}, fmt.Errorf("writing what node %s should be: %w", node, err)
		}
		m.behind = 0
		for _, note := range decision.Notes {
			log.FromContext(ctx).Info(note)
		}
	}
	return reconcile.Result{RequeueAfter: staleRetry}, nil
}

// outdated tells whether a write failed only because its object had changed.
func outdated(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err)
}

func (r *Reconciler) memoryOf(node string) *memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.nodes[node]
	if m == nil {
		m = newMemory()
		r.nodes[node] = m
	}
	return m
}

// readsReports tells whether a policy on the node waits for what a report says.
func (r *Reconciler) readsReports(node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.nodes[node]
	return m != nil && m.readsReports.Load()
}

func (r *Reconciler) forget(node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.nodes, node)
}
