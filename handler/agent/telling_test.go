package agent

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// told are the transactions of all reports that were written, or were to be.
type told struct {
	mu  sync.Mutex
	all []v1.Transaction
}

// tellings notes what the handlers of a node report; a report of a running
// transaction goes through hang, which may be nil.
func tellings(n *node, hang func(patch func() error) error) *told {
	notes := &told{}
	n.api = interceptor.NewClient(n.api, interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			last := o.(*v1.NodeNetworkState).Status.Transaction
			if last != nil {
				notes.mu.Lock()
				notes.all = append(notes.all, *last)
				notes.mu.Unlock()
			}
			if last.IsUnderWay() && hang != nil {
				return hang(func() error { return c.SubResource(sub).Patch(context.WithoutCancel(ctx), o, p, opts...) })
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	})
	return notes
}

// running are those of transactions that ran.
func (n *told) running() []v1.Transaction {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(n.all), func(t v1.Transaction) bool { return !t.IsUnderWay() })
}

func (n *node) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.writes
}

func TestAQuickChangeIsOneRequest(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	notes := tellings(n, nil)
	a, _ := n.handler()
	n.until("the node is reported", func() bool { return a.Ready() == nil })
	before := n.count()
	n.want(2, "p", "br0")
	n.outcome(2)
	n.quiet()
	if writes := n.count() - before; writes != 1 || len(notes.running()) > 0 {
		t.Errorf("%d writes, running: %+v", writes, notes.running())
	}
}

func TestAChangeThatTakesItsTimeSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	notes := tellings(n, nil)
	n.handler()
	n.wantProbed(2, "p", "", answering, within(silent, 5))
	var found *v1.Transaction
	n.until("the running change is told", func() bool {
		if nns := n.get(); nns != nil && nns.Status.Transaction.IsUnderWay() {
			found = nns.Status.Transaction
		}
		return found != nil
	})
	if found.Phase != string(txn.Probing) || !slices.Equal(found.WaitingFor, []string{"tcp 192.0.2.9:80"}) || found.Policy != "p" || found.Generation != 2 || found.Since.IsZero() {
		t.Errorf("told: %+v", found)
	}
	if got := n.outcome(2); got.Result != v1.TransactionRolledBack || got.WaitingFor != nil || !got.Since.Equal(&found.Since) {
		t.Errorf("outcome: %+v", got)
	}
	n.quiet()
	if told := notes.running(); len(told) > 2 {
		t.Errorf("told %d times: %+v", len(told), told)
	}
}

func TestNothingOfAChangeWaitsForAReportOfIt(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	hold, asked, answers, late := make(chan struct{}), make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)
	n.host.hold = hold
	tellings(n, func(patch func() error) error {
		asked <- struct{}{}
		<-answers
		err := patch()
		late <- err
		return err
	})
	n.handler()
	n.want(2, "p", "br0")
	<-asked // Two seconds have passed, and the API server does not answer this one.
	close(hold)
	if got := n.outcome(2); got.Result != v1.TransactionCommitted {
		t.Errorf("outcome = %+v", got)
	}
	close(answers)
	if err := <-late; !apierrors.IsConflict(err) {
		t.Errorf("what came late was answered %v", err)
	}
	if got := n.get().Status.Transaction; got.Result != v1.TransactionCommitted || got.Phase != string(txn.Idle) {
		t.Errorf("in the end: %+v", got)
	}
}

func TestANodeThatIsSetAsideInMidChangeShowsNoneThatRuns(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.handler()
	n.wantProbed(2, "p", "", person)
	n.asked(2)
	unmanaged := false
	n.edit(func(nns *v1.NodeNetworkState) { nns.Spec.Managed = &unmanaged })
	n.until("no change is shown as running", func() bool { return !n.get().Status.Transaction.IsUnderWay() })
	n.until("the change is taken back", func() bool { return !n.host.has("br2") })
	n.quiet()
}

func TestACorrectionThatTakesItsTimeIsToldAndThenTheLastChangeAgain(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	a, _ := n.handler(quick)
	n.wantMTU(2, map[string]string{"a": ""})
	last, hold := n.get().Status.Transaction, make(chan struct{})
	n.host.mu.Lock()
	n.host.hold = hold
	n.host.mu.Unlock()
	n.setMTU(a, "a", "1300")
	n.until("the correction is told", func() bool {
		running := n.get().Status.Transaction
		return running.Phase == string(txn.Applying) && strings.HasPrefix(running.Message, "putting right what has drifted: ")
	})
	close(hold)
	n.until("the last change is told again", func() bool { return cmp.Equal(n.get().Status.Transaction, last) })
}
