package agent

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// garble leaves a file in the journal's folder that nobody can read.
func (n *node) garble(name string) {
	n.t.Helper()
	if err := os.WriteFile(filepath.Join(n.dir, name), []byte(`{"transaction":{"phase":"Prob`), 0o600); err != nil {
		n.t.Fatal(err)
	}
}

// told is what the NodeNetworkState says beside being Available.
func (n *node) told() string {
	if nns := n.get(); nns != nil {
		for _, c := range nns.Status.Conditions {
			if c.Type == v1.StateAvailable && c.Status == metav1.ConditionTrue {
				return c.Message
			}
		}
	}
	return ""
}

func (n *node) files() []string {
	n.t.Helper()
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		n.t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestAJournalThatCannotBeReadIsToldAndSetAsideAndTheNodeGoesOn(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.garble("journal.json")
	_, kill := n.handler()
	n.until("it is told", func() bool { return n.told() != "" })
	for _, part := range []string{filepath.Join(n.dir, "journal.json"), "journal.json.unreadable", "unexpected end of JSON input", "nothing was changed"} {
		if !strings.Contains(n.told(), part) {
			t.Errorf("told was %q, want it with %q", n.told(), part)
		}
	}
	if got := n.files(); !slices.Equal(got, []string{"journal.json.unreadable", "record.json"}) {
		t.Errorf("the journal's folder has %v", got)
	}

	kill()
	n.handler()
	n.want(2, "p", "br0")
	if got := n.outcome(2); got.Result != v1.TransactionCommitted {
		t.Errorf("the next change: %+v", got)
	}
	if n.told() == "" {
		t.Error("the next change has it forgotten before anybody can have read it")
	}
}

func TestAJournalThatCouldNotBeReadIsToldForADay(t *testing.T) {
	t.Parallel()
	for sentence, test := range map[string]struct {
		ago  time.Duration
		want string
	}{
		"an hour ago":  {time.Hour, "why"},
		"two days ago": {48 * time.Hour, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			now := time.Unix(1_000_000, 0)
			l := ledger{Record: journal.Record{Unread: &journal.Unread{At: now.Add(-test.ago), Message: "why"}}}
			if got := l.unread(now); got != test.want {
				t.Errorf("told is %q, want %q", got, test.want)
			}
		})
	}
}

func TestWhatWasToldOfTheJournalOutlivesTheHandler(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.garble("journal.json")
	_, kill := n.handler()
	n.until("it is told", func() bool { return n.told() != "" })
	kill()
	before := n.told()
	forgotten := n.get()
	forgotten.Status = v1.NodeNetworkStateStatus{}
	if err := n.api.Status().Update(t.Context(), forgotten); err != nil {
		t.Fatal(err)
	}
	n.handler()
	n.until("the next handler tells it", func() bool { return n.told() == before })
}

// trial is what a handler leaves that dies in its trial: a profile in /run that
// hides the one on disk, and the device with it.
func (h *host) trial() {
	h.mu.Lock()
	defer h.mu.Unlock()
	good := map[string]any{"name": "eth0", "type": "ethernet", "state": "up", "mtu": 1500}
	h.layers.tried("eth0", good)
	h.layers.put(fileOf(profiles.DiskDir, "eth0"), h.layers.files[fileOf(profiles.RunDir, "eth0")])
	bad := map[string]any{"name": "eth0", "type": "ethernet", "state": "up", "mtu": 9000}
	h.layers.tried("eth0", bad)
	shadow := h.layers.files[fileOf(profiles.RunDir, "eth0")]
	shadow.Content = append([]byte("[.nmmeta]\nshadowed-storage="+fileOf(profiles.DiskDir, "eth0")+"\n"), shadow.Content...)
	h.layers.put(fileOf(profiles.RunDir, "eth0"), shadow)
	h.interfaces["eth0"] = bad
}

func (h *host) mtu() any {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.interfaces["eth0"]["mtu"]
}

func (h *host) hides(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, there := h.layers.files[fileOf(profiles.RunDir, name)]
	return there
}

func TestATrialIsTakenBackByWhatNetworkManagerHasWhereTheJournalCannotBeRead(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.host.trial()
	n.garble("journal.json")
	n.handler()
	n.until("it is told", func() bool { return strings.Contains(n.told(), "activate profile eth0") })
	if n.host.hides("eth0") || n.host.mtu() == 9000 {
		t.Errorf("the trial is still there: MTU %v", n.host.mtu())
	}
	if n.host.count() != 0 {
		t.Error("something was applied")
	}
}

// What a trial made anew looks like somebody else's, so a person is told the file.
func TestProfilesThatMayBeOfTheTrialAreNamed(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.host.mu.Lock()
	n.host.layers.tried("veth1", map[string]any{"name": "veth1", "type": "veth", "state": "up"})
	n.host.mu.Unlock()
	n.garble("journal.json")
	n.handler()
	want := "left until the next boot, since it may be somebody else's: " + fileOf(profiles.RunDir, "veth1")
	n.until("it is told", func() bool { return strings.Contains(n.told(), want) })
}

func TestACheckpointThatMayBeSomebodyElsesIsLeftToEndByItself(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.host.trial()
	n.host.checkpoint, n.host.life = "/checkpoint/7", 1
	n.garble("journal.json")
	n.handler()
	n.until("the files are away", func() bool { return !n.host.hides("eth0") })
	if got, _ := n.host.Pending(t.Context()); len(got) != 1 || n.host.mtu() != 9000 {
		t.Fatalf("checkpoints %v, MTU %v: want both left alone", got, n.host.mtu())
	}
	n.until("the node is reported meanwhile", func() bool { return n.get() == nil || n.told() != "" })
	n.host.mu.Lock()
	n.host.checkpoint = "" // It ends, and NetworkManager brings the device back.
	n.host.interfaces["eth0"] = map[string]any{"name": "eth0", "type": "ethernet", "state": "up", "mtu": 1500}
	n.host.mu.Unlock()
	n.until("it is told", func() bool { return strings.Contains(n.told(), "checkpoint has ended") })
	if strings.Contains(n.told(), "activate") {
		t.Errorf("a device was activated again: %s", n.told())
	}
}

func TestACheckpointWithoutAnEndIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.host.checkpoint, n.host.life = "/checkpoint/7", 0
	n.garble("journal.json")
	n.handler()
	n.until("it is told", func() bool { return n.told() != "" })
}

func TestARecordThatCannotBeReadIsEmpty(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	_, kill := n.handler()
	n.want(2, "p", "br0")
	n.outcome(2)
	kill()
	applies := n.host.count()
	n.garble("record.json")
	n.handler()
	n.until("what was committed is applied once more", func() bool { return n.host.count() == applies+1 })
	n.until("it is set aside", func() bool { return slices.Contains(n.files(), "record.json.unreadable") })
}

// A transaction is taken back all the same where only the record cannot be read.
func TestAnOpenTransactionIsTakenBackBesideARecordThatCannotBeRead(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	_, kill := n.handler(func(o *Options) { o.Backend = stuck{o.Backend} })
	n.want(2, "p", "br0")
	n.untilProven(t)
	kill()
	n.garble("record.json")
	n.handler(func(o *Options) { o.Client, o.Live = nil, nil })
	n.until("it is taken back", func() bool {
		open, err := n.open(t)
		return err == nil && open == nil
	})
	if got := n.files(); !slices.Contains(got, "record.json.unreadable") {
		t.Errorf("the journal's folder has %v", got)
	}
}

// away is a NetworkManager that is not there yet.
type away struct {
	backend.Backend
	asked *atomic.Int32
	until int32
}

func (b away) Pending(ctx context.Context) ([]backend.Pending, error) {
	if b.asked.Add(1) <= b.until {
		return nil, backend.ErrUnavailable
	}
	return b.Backend.Pending(ctx)
}

func TestNetworkManagerIsWaitedForWhereTheJournalCannotBeRead(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.host.trial()
	n.garble("journal.json")
	asked := &atomic.Int32{}
	n.handler(func(o *Options) { o.Backend = away{o.Backend, asked, 2} })
	n.until("it is told", func() bool { return strings.Contains(n.told(), "activate profile eth0") })
	if asked.Load() < 3 {
		t.Errorf("asked %d times", asked.Load())
	}
}

func TestTheWayBackNeedsNoConnectionToTheCluster(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.host.trial()
	n.garble("journal.json")
	files, err := journal.NewFiles(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(Options{
		Node: "node1", Backend: n.host, Prober: probes{host: n.host}, Journal: files, Boot: n.boot,
		Clock: deadline.On(clock.RealClock{}), Spawn: func(task func()) { go task() }, Window: fakeWindow,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Recover(t.Context()); err != nil || n.host.hides("eth0") {
		t.Fatalf("recovering: %v; the trial is still there: %v", err, n.host.hides("eth0"))
	}
	if _, err := a.Reconcile(t.Context(), reconcile.Request{}); err == nil {
		t.Error("a turn went well without anybody to tell")
	}
	filters := true
	if err := a.Connect(t.Context(), Cluster{Client: n.api, Live: n.api, BridgeVLANFiltering: &filters}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := a.Reconcile(t.Context(), reconcile.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(n.told(), "journal.json.unreadable") {
		t.Errorf("told was %q", n.told())
	}
}
