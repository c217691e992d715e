package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// fakeWindow is the probe window where a test says nothing: long enough for a
// good change on a busy machine, since a bad one takes all of it.
const fakeWindow = 1500 * time.Millisecond

// host is a node's network in memory: interfaces by name, one checkpoint.
type host struct {
	mu         sync.Mutex
	interfaces map[string]map[string]any
	saved      map[string]map[string]any
	checkpoint backend.Checkpoint
	// bare are the interfaces that are hardware, as they are without a profile.
	bare        map[string]map[string]any
	layers      layers
	savedLayers layers
	life        time.Duration
	made        int
	instance    int
	applies     int
	refuse      error
	// needs is an interface without which the API server is out of reach.
	needs string
	// forbids is an interface with which it is.
	forbids string
	// disconnected is a device that NetworkManager does not activate.
	disconnected string
	// standing are devices as NetworkManager has them until they are configured.
	standing map[string]profiles.Device
	// told are the states that were to be applied, as JSON.
	told []string
	// hold, when set, keeps an apply from returning until it is closed or killed.
	hold chan struct{}
	// silent is why it does not tell its checkpoints.
	silent error
}

// answer has it tell its checkpoints, or not.
func (h *host) answer(silent error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.silent = silent
}

func newHost() *host {
	h := &host{interfaces: map[string]map[string]any{}}
	h.interfaces["eth0"] = map[string]any{"name": "eth0", "type": "ethernet", "state": "up"}
	h.bare = maps.Clone(h.interfaces)
	return h
}

func (h *host) Show(context.Context) (state.State, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.show(), nil
}

func (h *host) show() state.State {
	var list []any
	for _, name := range slices.Sorted(mapsKeys(h.interfaces)) {
		list = append(list, h.interfaces[name])
	}
	return state.FromTree(map[string]any{"interfaces": list})
}

func mapsKeys(m map[string]map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range m {
			if !yield(name) {
				return
			}
		}
	}
}

func (h *host) Apply(ctx context.Context, desired state.State, rollbackAfter time.Duration, armed func(backend.Checkpoint)) (backend.Checkpoint, profiles.Files, error) {
	h.mu.Lock()
	if h.refuse != nil {
		defer h.mu.Unlock()
		return "", nil, h.refuse
	}
	h.applies++
	h.made++
	h.saved = map[string]map[string]any{}
	maps.Copy(h.saved, h.interfaces)
	h.savedLayers = h.layers.clone()
	made := backend.Checkpoint(fmt.Sprintf("/checkpoint/%d", h.made))
	h.checkpoint, h.life = made, rollbackAfter
	h.told = append(h.told, string(desired.JSON()))
	for _, i := range desired.Interfaces() {
		delete(h.standing, i.Name)
		if i.IsAbsent() {
			delete(h.interfaces, i.Name)
			delete(h.layers.active, i.Name)
		} else {
			h.interfaces[i.Name] = asShown(i.Tree())
			h.layers.tried(i.Name, i.Tree())
		}
	}
	hold := h.hold
	h.mu.Unlock()
	armed(made)
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return "", nil, ctx.Err()
		}
	}
	return made, nil, nil
}

func (h *host) Commit(_ context.Context, c backend.Checkpoint) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.checkpoint != c {
		return backend.ErrGone
	}
	h.checkpoint = ""
	return nil
}

func (h *host) Rollback(_ context.Context, c backend.Checkpoint) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.checkpoint != c {
		return backend.ErrGone
	}
	h.checkpoint, h.interfaces, h.layers = "", h.saved, h.savedLayers
	return nil
}

func (h *host) Pending(context.Context) ([]backend.Pending, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.silent != nil {
		return nil, h.silent
	}
	if h.checkpoint == "" {
		return nil, nil
	}
	return []backend.Pending{{Checkpoint: h.checkpoint, RollbackAfter: h.life}}, nil
}

func (h *host) Instance(context.Context) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprint(h.instance), nil
}

// Revert names every interface as it was, and what was not there as absent.
func (h *host) Revert(_ context.Context, desired, current state.State) (state.State, error) {
	var list []any
	for _, i := range desired.Interfaces() {
		if was, there := current.Interface(i.Name); there {
			list = append(list, was.Tree())
		} else {
			list = append(list, map[string]any{"name": i.Name, "state": "absent"})
		}
	}
	return state.FromTree(map[string]any{"interfaces": list}), nil
}

func (h *host) restartNetworkManager() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.instance++
	h.checkpoint = ""
}

func (h *host) has(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, there := h.interfaces[name]
	return there
}

func (h *host) lacks() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, needed := h.interfaces[h.needs]
	_, forbidden := h.interfaces[h.forbids]
	return h.needs != "" && !needed || forbidden
}

func (h *host) need(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.needs = name
}

func (h *host) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.applies
}

// mortal is the host as a process sees it: once the process is killed, what
// it had under way has no effect any more.
type mortal struct {
	*host
	life context.Context
}

func (m mortal) Apply(ctx context.Context, s state.State, d time.Duration, armed func(backend.Checkpoint)) (backend.Checkpoint, profiles.Files, error) {
	if m.life.Err() != nil {
		return "", nil, m.life.Err()
	}
	return m.host.Apply(ctx, s, d, armed)
}

func (m mortal) Commit(ctx context.Context, c backend.Checkpoint) error {
	if m.life.Err() != nil {
		return m.life.Err()
	}
	return m.host.Commit(ctx, c)
}

func (m mortal) Rollback(ctx context.Context, c backend.Checkpoint) error {
	if m.life.Err() != nil {
		return m.life.Err()
	}
	return m.host.Rollback(ctx, c)
}

func (m mortal) Do(ctx context.Context, a profiles.Action) error {
	if m.life.Err() != nil {
		return m.life.Err()
	}
	return m.host.Do(ctx, a)
}

// mortalJournal is the same for the journal.
type mortalJournal struct {
	*journal.Files
	life context.Context
}

func (m mortalJournal) Save(entry journal.Entry) error {
	if m.life.Err() != nil {
		return m.life.Err()
	}
	return m.Files.Save(entry)
}

func (m mortalJournal) Close(record journal.Record) error {
	if m.life.Err() != nil {
		return m.life.Err()
	}
	return m.Files.Close(record)
}

// probes pass unless the host has the interface "cut"; no port is ever open.
type probes struct {
	probe.NoTargets
	host *host
}

func (p probes) Names() []string { return []string{probe.APIServer, probe.DefaultGateway} }

func (p probes) Probe(_ context.Context, name string) error {
	if strings.HasPrefix(name, "tcp ") {
		return errors.New(name + ": connection refused")
	}
	if name == probe.APIServer && (p.host.has("cut") || p.host.lacks()) {
		return errors.New("api-server: no answer")
	}
	return nil
}

// boot is one boot of the host.
type boot struct{ id string }

func (b boot) ID() (string, error)             { return b.id, nil }
func (b boot) Elapsed() (time.Duration, error) { return 0, nil }

// node is a host with an API server, on which handlers come and go.
type node struct {
	t      *testing.T
	host   *host
	api    client.WithWatch
	dir    string
	boot   boot
	writes int
	mu     sync.Mutex
}

func newNode(t *testing.T) *node {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	n := &node{t: t, host: newHost(), dir: t.TempDir(), boot: boot{"first"}}
	count := func() {
		n.mu.Lock()
		n.writes++
		n.mu.Unlock()
	}
	n.api = interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).
		WithObjects(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1", UID: "u"}}).
		WithStatusSubresource(&v1.NodeNetworkState{}).Build(), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			count()
			return c.Create(ctx, o, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			count()
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	})
	return n
}

// handler starts a handler on the node and returns how to kill it: from then
// on it does nothing any more.
func (n *node) handler(options ...func(*Options)) (*Agent, context.CancelFunc) {
	n.t.Helper()
	files, err := journal.NewFiles(n.dir)
	if err != nil {
		n.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(logf.IntoContext(n.t.Context(), testr.New(n.t)))
	n.t.Cleanup(cancel)
	o := Options{
		Node: "node1", Client: n.api, Live: n.api, Backend: mortal{n.host, ctx}, Prober: probes{host: n.host}, Journal: mortalJournal{files, ctx},
		Boot: n.boot, Clock: deadline.On(clock.RealClock{}), Spawn: func(task func()) { go task() }, Window: fakeWindow,
	}
	for _, option := range options {
		option(&o)
	}
	a, err := New(o)
	if err != nil {
		n.t.Fatal(err)
	}
	ended := make(chan struct{})
	n.t.Cleanup(func() { cancel(); <-ended }) // It logs to the test.
	go func() {
		defer close(ended)
		if err := a.Recover(ctx); err != nil {
			return
		}
		for ctx.Err() == nil {
			if _, err := a.Reconcile(ctx, reconcile.Request{}); err != nil && ctx.Err() == nil {
				n.t.Logf("turn: %v", err)
			}
			a.Clock.Wait(ctx, a.wake, 20*time.Millisecond)
		}
	}()
	return a, cancel
}

// want writes the desired state: one interface, from a policy or by hand.
func (n *node) want(generation int64, policy string, interfaces ...string) {
	n.t.Helper()
	var list []any
	for _, name := range interfaces {
		list = append(list, map[string]any{"name": name, "type": "dummy", "state": "up"})
	}
	raw := state.FromTree(map[string]any{"interfaces": list}).JSON()
	n.edit(func(nns *v1.NodeNetworkState) {
		nns.Generation = generation
		nns.Spec.DesiredState = v1.NewState(raw)
		nns.Spec.Sources = nil
		if policy != "" {
			nns.Spec.Sources = []v1.DesiredSource{{Source: v1.Source{Policy: policy, Generation: generation, Hash: "h"}}}
		}
	})
}

func (n *node) edit(change func(*v1.NodeNetworkState)) {
	n.t.Helper()
	n.until("the NodeNetworkState can be edited", func() bool {
		nns := n.get()
		if nns == nil {
			return false
		}
		change(nns)
		return n.api.Update(n.t.Context(), nns) == nil
	})
}

func (n *node) get() *v1.NodeNetworkState {
	var nns v1.NodeNetworkState
	if n.api.Get(n.t.Context(), client.ObjectKey{Name: "node1"}, &nns) != nil {
		return nil
	}
	return &nns
}

// outcome waits for the end of the transaction of a generation.
func (n *node) outcome(generation int64) *v1.Transaction {
	n.t.Helper()
	var found *v1.Transaction
	n.until(fmt.Sprintf("generation %d has an outcome", generation), func() bool {
		if nns := n.get(); nns != nil && nns.Status.ObservedGeneration == generation {
			found = nns.Status.Transaction
		}
		return found != nil && found.Generation == generation
	})
	return found
}

// open is the journal's entry; nil for none.
func (n *node) open(t *testing.T) (*journal.Entry, error) {
	t.Helper()
	files, err := journal.NewFiles(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	return files.Load()
}

func (n *node) untilProven(t *testing.T) {
	t.Helper()
	n.until("the change is proven", func() bool {
		open, err := n.open(t)
		return err == nil && open != nil && open.Transaction.Proven
	})
}

func (n *node) until(what string, holds func() bool) {
	n.t.Helper()
	deadline := time.After(20 * time.Second)
	for !holds() {
		select {
		case <-deadline:
			n.t.Fatalf("waited in vain until %s; the NodeNetworkState is %+v", what, n.get())
		case <-time.After(5 * time.Millisecond):
		}
	}
}
