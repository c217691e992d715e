package swarm

import (
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/sim/cluster"
	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
)

// residue is what a run may leave on its nodes although its policies undo what they
// did (docs/undo.md).
type residue struct {
	// before are the nodes as the run found them.
	before map[string]state.State
	// kept are those where an undo cost a probe: there what was to go stays for good.
	kept map[string]bool
}

func newResidue(nodes []*cluster.Node) *residue {
	l := &residue{map[string]state.State{}, map[string]bool{}}
	for _, n := range nodes {
		l.before[n.Name] = n.Host.Show()
	}
	return l
}

// Name implements oracle.Oracle.
func (*residue) Name() string { return histories }

// Observe implements oracle.Oracle. It finds nothing, it takes notes.
func (l *residue) Observe(_ *oracle.Facts, e oracle.Event) error {
	if closed, is := e.What.(oracle.JournalClosed); is && closed.Record.Kept != nil {
		l.kept[e.Node] = true
	}
	return nil
}

// stays tells of a setting of an interface that policies have made and that
// stays: nothing was there before that it could go back to when no policy names
// the setting any more.
func (l *residue) stays(n *cluster.Node, d state.Difference) bool {
	if d.Path.Section != "interfaces" {
		return false
	}
	name, setting := d.Path.Interface, d.Path.Leaf
	if bond, is := bondOf(n.Host.Show(), name); is && setting == "mtu" {
		d.Path.Interface = bond
		return l.stays(n, d)
	}
	if _, was := l.before[n.Name].Interface(name); was || setting == "" {
		return false
	}
	committed := n.Host.Record().Committed
	if committed == nil {
		return false
	}
	desired, err := state.Parse(committed.Desired)
	return err == nil && !state.Owns(state.Paths(desired), d)
}

// bondOf is the bond that an interface is a port of and has its MTU from.
func bondOf(now state.State, name string) (string, bool) {
	port, _ := now.Interface(name)
	controller, is := port.Controller()
	bond, there := now.Interface(controller)
	return controller, is && there && bond.Type == "bond" && bond.Tree()["mtu"] == port.Tree()["mtu"]
}
