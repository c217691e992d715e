package agent

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
)

// kernel is a kernel in memory, on whose eth0 somebody has routes.
type kernel struct {
	mu     sync.Mutex
	routes []foreign.Route
	// stays is what cannot be put back.
	stays error
	// late tells whether NetworkManager, which was not done yet, drops it all after
	// what was just read; it does so once.
	late  func() bool
	put   int
	notes int
}

// podRoute is 10.244.n.0/24 on eth0, as the kernel tells it.
func podRoute(n byte) foreign.Route {
	raw := []byte{2, 24, 0, 0, 254, 3, 253, 1, 0, 0, 0, 0}
	for _, attribute := range [][]byte{{1, 0, 10, 244, n, 0}, {4, 0, 2, 0, 0, 0}} {
		raw = binary.NativeEndian.AppendUint16(raw, uint16(len(attribute)+2))
		raw = append(raw, attribute...)
	}
	return raw
}

func newKernel() *kernel { return &kernel{routes: []foreign.Route{podRoute(1), podRoute(2)}} }

func (k *kernel) Note(context.Context) (foreign.Snapshot, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.notes++
	eth0 := foreign.Link{Name: "eth0", Index: 2, MTU: 1500, Up: true, Carrier: true}
	routes := slices.Clone(k.routes)
	if k.late != nil && k.late() {
		k.late, k.routes = nil, nil
	}
	return foreign.Snapshot{Links: []foreign.Link{eth0}, Routes: routes}, nil
}

func (k *kernel) PutBack(_ context.Context, loss foreign.Loss) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stays != nil {
		return k.stays
	}
	k.put++
	k.routes = append(k.routes, loss.Route)
	return nil
}

// drop loses every route but the first n.
func (k *kernel) drop(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.routes = slices.Clone(k.routes[:n])
}

func (k *kernel) willDrop(late func() bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.late = late
}

func (k *kernel) set(stays error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stays = stays
}

func (k *kernel) noted() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.notes
}

func (k *kernel) state() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return fmt.Sprintf("%d routes, %d put back", len(k.routes), k.put)
}

// foreignNode is a node with a kernel whose handler is held in mid-apply, so
// that a test can drop what an apply drops.
func foreignNode(t *testing.T, window time.Duration) (*node, *kernel, func(*Options)) {
	n, k := newNode(t), newKernel()
	n.host.hold = make(chan struct{})
	return n, k, func(o *Options) { o.Foreign, o.Window = k, window }
}

func (n *node) midApply(t *testing.T) {
	t.Helper()
	n.until("the apply runs", func() bool { return n.host.count() == 1 })
}

func TestWhatAnApplyDropsInPassingIsPutBackBeforeTheCommit(t *testing.T) {
	t.Parallel()
	n, k, with := foreignNode(t, time.Minute)
	n.handler(with)
	n.want(2, "p", "br0")
	n.midApply(t)
	k.drop(0)
	close(n.host.hold)
	got := n.outcome(2)
	if got.Result != v1.TransactionCommitted {
		t.Fatalf("outcome = %+v", got)
	}
	if slices.Contains(got.GuardedBy, "foreign") {
		t.Errorf("guarded by %v", got.GuardedBy)
	}
	if got := k.state(); got != "2 routes, 2 put back" {
		t.Error(got)
	}
}

func TestWhatCannotBePutBackFailsTheChangeForGoodAndIsNamed(t *testing.T) {
	t.Parallel()
	n, k, with := foreignNode(t, 1500*time.Millisecond)
	n.handler(with)
	n.want(2, "p", "br0")
	n.midApply(t)
	k.drop(1)
	k.set(errors.New("network is unreachable"))
	close(n.host.hold)
	n.until("the change is being taken back", func() bool { return !n.host.has("br0") })
	k.set(nil)
	got := n.outcome(2)
	if got.Result != v1.TransactionRolledBack || !got.Final {
		t.Fatalf("outcome = %+v", got)
	}
	if want := "route 10.244.2.0/24 dev eth0 proto boot was dropped and cannot be put back: network is unreachable"; !strings.Contains(got.Message, want) {
		t.Errorf("message %q", got.Message)
	}
	if got := k.state(); got != "2 routes, 1 put back" {
		t.Error(got)
	}
}

func TestWhatARollbackDropsIsPutBackAfterACrashToo(t *testing.T) {
	t.Parallel()
	n, k, with := foreignNode(t, time.Hour)
	_, kill := n.handler(with)
	n.want(2, "p", "br0", "cut")
	n.midApply(t)
	close(n.host.hold)
	n.until("the change is in place and was compared", func() bool { return n.host.has("cut") && k.noted() == 2 })
	kill()
	k.drop(0)
	n.handler(with)
	if got := n.outcome(2); got.Result != v1.TransactionRolledBack {
		t.Fatalf("outcome = %+v", got)
	}
	if got := k.state(); got != "2 routes, 2 put back" {
		t.Error(got)
	}
}

func TestWhatARollbackDropsTwiceIsPutBackTwice(t *testing.T) {
	t.Parallel()
	n, k, with := foreignNode(t, time.Hour)
	_, kill := n.handler(with)
	n.want(2, "p", "br0", "cut")
	n.midApply(t)
	close(n.host.hold)
	n.until("the change is in place and was compared", func() bool { return n.host.has("cut") && k.noted() == 2 })
	kill()
	k.drop(0)
	k.willDrop(func() bool { return k.put == 2 })
	n.handler(with)
	if got := n.outcome(2); got.Result != v1.TransactionRolledBack {
		t.Fatalf("outcome = %+v", got)
	}
	if got := k.state(); got != "2 routes, 4 put back" {
		t.Error(got)
	}
}

func TestWhatARollbackDropsOnlyAfterItHasReturnedIsPutBack(t *testing.T) {
	t.Parallel()
	n, k, with := foreignNode(t, time.Second)
	n.handler(with)
	n.want(2, "p", "cut")
	n.midApply(t)
	close(n.host.hold)
	n.until("the change is in place and was compared", func() bool { return n.host.has("cut") && k.noted() == 2 })
	k.willDrop(func() bool { return !n.host.has("cut") })
	if got := n.outcome(2); got.Result != v1.TransactionRolledBack {
		t.Fatalf("outcome = %+v", got)
	}
	if got := k.state(); got != "2 routes, 2 put back" {
		t.Error(got)
	}
}

func TestWhatARollbackDropsAndCannotBePutBackIsReported(t *testing.T) {
	t.Parallel()
	n, k, with := foreignNode(t, time.Second)
	n.handler(with)
	n.want(2, "p", "cut")
	n.midApply(t)
	k.set(errors.New("network is unreachable"))
	k.drop(1) // in mid-apply: what goes after the comparison is its owner's doing
	close(n.host.hold)
	n.until("the change is in place", func() bool { return n.host.has("cut") })
	n.until("the change is taken back", func() bool { return !n.host.has("cut") })
	got := n.outcome(2)
	want := []string{"route 10.244.2.0/24 dev eth0 proto boot was dropped and cannot be put back: network is unreachable"}
	if got.Result != v1.TransactionRollbackIncomplete || !slices.Equal(got.Differences, want) {
		t.Fatalf("outcome = %+v", got)
	}
}

func TestWhatItsOwnerTookAwayInTheWindowDoesNotComeBackWithTheRollback(t *testing.T) {
	t.Parallel()
	n, k, with := foreignNode(t, time.Second)
	n.handler(with)
	n.want(2, "p", "cut")
	n.midApply(t)
	close(n.host.hold)
	n.until("it was compared", func() bool { return k.noted() == 2 })
	k.drop(1)
	if got := n.outcome(2); got.Result != v1.TransactionRolledBack {
		t.Fatalf("outcome = %+v", got)
	}
	if got := k.state(); got != "1 routes, 0 put back" {
		t.Error(got)
	}
}

func TestAfterARebootTheOwnersMakeTheirThingsAnew(t *testing.T) {
	t.Parallel()
	n, k, with := foreignNode(t, time.Hour)
	_, kill := n.handler(with)
	n.want(2, "p", "cut")
	n.midApply(t)
	close(n.host.hold)
	n.until("the change is in place and was compared", func() bool { return n.host.has("cut") && k.noted() == 2 })
	kill()
	k.drop(0)
	n.host.restartNetworkManager()
	n.boot = boot{"second"}
	n.handler(with)
	if got := n.outcome(2); got.Result != v1.TransactionRolledBack {
		t.Fatalf("outcome = %+v", got)
	}
	if got := k.state(); got != "0 routes, 0 put back" {
		t.Error(got)
	}
}
