package oracle

import (
	"context"
	"net/netip"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/agent"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
	"github.com/nmstate/kubernetes-nmstate/sim/cluster"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Watch is the oracles' place in a cluster: its cluster.Watcher. It is made
// before the cluster, which gets it as an option; Begin then sets the rules on.
type Watch struct {
	// Checkpoint is told what becomes of checkpoints too; nil for nobody.
	Checkpoint func(host.CheckpointEvent)

	set *Set
	// processes that live, by name; of two with one name, the later one.
	processes map[string]*world.Process
}

var _ cluster.Watcher = (*Watch)(nil)

// NewWatch watches nothing yet.
func NewWatch() *Watch {
	return &Watch{processes: map[string]*world.Process{}}
}

// Begin sets rules on a cluster that was made with the watch.
func (w *Watch) Begin(c *cluster.Cluster, fail func(error), rules ...Oracle) *Set {
	w.set = New(truth{c}, fail, rules...)
	c.API.Written(w.written)
	return w.set
}

func (w *Watch) tell(node string, p *world.Process, what What) {
	if w.set != nil {
		w.set.Tell(Event{Node: node, Process: p, What: what})
	}
}

func (w *Watch) written(write apiserver.Write) {
	wrote := Wrote{write}
	node := ""
	switch write.Kind {
	case "NodeNetworkState", "Node":
		node = write.Name
	case "NodeNetworkConfigurationEnactment":
		node = wrote.enactmentNode()
	}
	w.tell(node, w.processes[write.Process], wrote)
}

// Added implements cluster.Watcher.
func (w *Watch) Added(n *cluster.Node) {
	n.Host.OnCheckpoint = func(e host.CheckpointEvent) {
		if w.Checkpoint != nil {
			w.Checkpoint(e)
		}
		w.checkpoint(n.Name, e)
	}
	n.Host.OnDisk = func(path string) { w.tell(n.Name, nil, DiskWritten{path}) }
}

func (w *Watch) checkpoint(node string, e host.CheckpointEvent) {
	id, p := string(e.Checkpoint), w.processes[e.Owner]
	switch e.Kind {
	case host.CheckpointMade:
		w.tell(node, p, CheckpointMade{ID: id, Owner: e.Owner})
	case host.CheckpointApplied:
		w.tell(node, p, Applied{ID: id})
	default:
		how := map[host.CheckpointKind]Ending{
			host.CheckpointCommitted: Committed, host.CheckpointRolledBack: RolledBack, host.CheckpointExpired: Expired, host.CheckpointLost: Lost,
		}[e.Kind]
		w.tell(node, p, CheckpointEnded{ID: id, Owner: e.Owner, By: e.By, How: how})
	}
}

func (w *Watch) process(p *world.Process) {
	if w.processes[p.Name] == p {
		return
	}
	w.processes[p.Name] = p
	p.OnDeath(func() {
		if w.processes[p.Name] == p {
			delete(w.processes, p.Name)
		}
		_, node := roleOf(p.Name)
		w.tell(node, p, Died{})
	})
}

// Client implements cluster.Watcher.
func (w *Watch) Client(p *world.Process, node string, c client.Client) client.Client {
	w.process(p)
	return watchedClient{c, watchedReader{c, w, p, node, false, false}}
}

// Live implements cluster.Watcher.
func (w *Watch) Live(p *world.Process, node string, r client.Reader) client.Reader {
	w.process(p)
	return watchedReader{r, w, p, node, true, false}
}

// Agent implements cluster.Watcher.
func (w *Watch) Agent(p *world.Process, o *agent.Options) {
	w.process(p)
	if c, is := o.Client.(watchedClient); is {
		c.reader.agent = true
		o.Client = c
	}
	ports := watched{w, p, o.Node}
	o.Backend = watchedBackend{o.Backend, ports}
	o.Prober = watchedProber{o.Prober, ports}
	o.Journal = watchedJournal{o.Journal, ports}
}

type watchedReader struct {
	client.Reader
	watch *Watch
	p     *world.Process
	node  string
	live  bool
	agent bool
}

func (r watchedReader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := r.Reader.Get(ctx, key, object, options...)
	read := Read{Live: r.live, Agent: r.agent, Like: object, Name: key.Name}
	switch {
	case err == nil:
		read.Object = remembered(object)
	case client.IgnoreNotFound(err) != nil:
		return err
	}
	r.watch.tell(r.node, r.p, read)
	return err
}

// remembered is what the rules look at of an object that was read. It is a copy: the
// object is the caller's to change. A run with thousands of nodes keeps many of them, so
// the large parts, which no rule reads, are left out.
func remembered(object client.Object) client.Object {
	meta := metav1.ObjectMeta{Name: object.GetName(), UID: object.GetUID(), Generation: object.GetGeneration()}
	switch o := object.(type) {
	case *v1.NodeNetworkState:
		spec := v1.NodeNetworkStateSpec{DesiredState: o.Spec.DesiredState} // Nobody writes into its bytes.
		if o.Spec.Managed != nil {
			spec.Managed = new(*o.Spec.Managed)
		}
		return &v1.NodeNetworkState{ObjectMeta: meta, Spec: spec}
	case *v1.NodeNetworkConfigurationPolicy:
		return &v1.NodeNetworkConfigurationPolicy{ObjectMeta: meta}
	default:
		return &metav1.PartialObjectMetadata{ObjectMeta: meta}
	}
}

type watchedClient struct {
	client.Client
	reader watchedReader
}

func (c watchedClient) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return c.reader.Get(ctx, key, object, options...)
}

// watched is whose ports they are.
type watched struct {
	watch *Watch
	p     *world.Process
	node  string
}

func (w watched) tell(what What)     { w.watch.tell(w.node, w.p, what) }
func (w watched) now() time.Duration { return w.p.World().Elapsed() }

type watchedBackend struct {
	backend.Backend
	watched
}

func (b watchedBackend) Show(ctx context.Context) (state.State, error) {
	began := b.now()
	shown, err := b.Backend.Show(ctx)
	if err == nil {
		b.tell(Shown{began})
	}
	return shown, err
}

func (b watchedBackend) Apply(ctx context.Context, desired state.State, life time.Duration, armed func(backend.Checkpoint)) (backend.Checkpoint, profiles.Files, error) {
	b.tell(Applying{desired, life})
	return b.Backend.Apply(ctx, desired, life, armed)
}

func (b watchedBackend) Commit(ctx context.Context, checkpoint backend.Checkpoint) error {
	b.tell(Committing{string(checkpoint)})
	return b.Backend.Commit(ctx, checkpoint)
}

type watchedProber struct {
	probe.Prober
	watched
}

func (b watchedProber) Probe(ctx context.Context, name string) error {
	began := b.now()
	err := b.Prober.Probe(ctx, name)
	b.tell(Probed{name, err, began})
	return err
}

func (b watchedProber) Ask(ctx context.Context, name string, groups [][]netip.Addr) error {
	began := b.now()
	err := b.Prober.Ask(ctx, name, groups)
	b.tell(Probed{name, err, began})
	return err
}

type watchedJournal struct {
	journal.Journal
	watched
}

func (j watchedJournal) Save(entry journal.Entry) error {
	err := j.Journal.Save(entry)
	if err == nil {
		j.tell(JournalSaved{entry})
	}
	return err
}

func (j watchedJournal) Close(record journal.Record) error {
	err := j.Journal.Close(record)
	if err == nil {
		j.tell(JournalClosed{record})
	}
	return err
}
