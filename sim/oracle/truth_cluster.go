package oracle

import (
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/sim/cluster"
)

// truth is that of a cluster.
type truth struct{ cluster *cluster.Cluster }

func (t truth) Elapsed() time.Duration               { return t.cluster.World.Elapsed() }
func (t truth) After(d time.Duration, action func()) { t.cluster.World.After(d, action) }
func (t truth) Centralized() bool                    { return t.cluster.Mode() == cluster.Centralized }

func (t truth) LeaderSince() time.Duration { return t.cluster.LeaderSince() }

func (t truth) Has(node string) bool {
	n := t.cluster.Node(node)
	return n != nil && n.Host.On()
}

func (t truth) HasPod(node string) bool {
	n := t.cluster.Node(node)
	return n != nil && n.HasPod()
}

func (t truth) IsBare(node string) bool {
	n := t.cluster.Node(node)
	return n != nil && n.IsBare()
}

func (t truth) IsTaken(node string) bool {
	n := t.cluster.Node(node)
	return n != nil && n.IsTaken()
}

func (t truth) Nodes() []string {
	var names []string
	for _, n := range t.cluster.Nodes() {
		names = append(names, n.Name)
	}
	slices.Sort(names)
	return names
}

func (t truth) Network(node string) state.State {
	if n := t.cluster.Node(node); n != nil {
		return n.Host.Show()
	}
	return state.State{}
}

func (t truth) Kernel(node string) foreign.Snapshot {
	if n := t.cluster.Node(node); n != nil {
		return n.Host.Snapshot()
	}
	return foreign.Snapshot{}
}

func (t truth) Revision(node string) uint64 {
	if n := t.cluster.Node(node); n != nil {
		return n.Host.Revision()
	}
	return 0
}

func (t truth) Reaches(node, probe string) bool {
	n := t.cluster.Node(node)
	return n != nil && n.Reaches(probe)
}

func (t truth) Open(node string) bool {
	n := t.cluster.Node(node)
	return n != nil && n.Host.JournalOpen()
}

func (t truth) Journal(node string) *journal.Entry {
	if n := t.cluster.Node(node); n != nil {
		return n.Host.Entry()
	}
	return nil
}

func (t truth) Record(node string) journal.Record {
	if n := t.cluster.Node(node); n != nil {
		return n.Host.Record()
	}
	return journal.Record{}
}

func (t truth) Disconnected(node string) []string { return t.cluster.Node(node).Host.Stays() }

func (t truth) Disk(node string) Disk {
	n := t.cluster.Node(node)
	if n == nil {
		return Disk{}
	}
	return Disk{
		Armed: n.Host.Armed(), Now: n.Host.Files(), Unsynced: n.Host.Unsynced(), Unsaved: n.Host.Unsaved(),
		ArmedUnsaved: n.Host.ArmedUnsaved(),
		Ended:        len(n.Host.Checkpoints()) == 0,
	}
}

func (t truth) Look(like client.Object, name string) client.Object {
	return t.cluster.API.Look(like, name)
}

func (t truth) Each(like client.Object, f func(client.Object)) { t.cluster.API.Each(like, f) }
