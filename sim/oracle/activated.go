package oracle

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// activated: no change is committed that leaves a device disconnected which it wants
// up, and none stays so afterwards without a word: it is activated again, or told as
// drift. The kernel does not show that, so the read-back of its state proves nothing of it.
// What is Open vSwitch's is judged by its database (handler/profiles, Activated).
type activated struct{}

func (activated) Name() string { return "activated" }

func (activated) Observe(f *Facts, e Event) error {
	what, is := e.What.(CheckpointEnded)
	t := f.Node(e.Node).Trial
	if !is || what.How != Committed || what.Owner == "" || t == nil || t.Checkpoint != what.ID || t.Entry == nil || !f.Calm(e.Node, t.Made, Moves) {
		return nil // What somebody lets go in the meantime is told afterwards.
	}
	for _, name := range f.letGo(e.Node, parsed(t.Entry.Change)) {
		return fmt.Errorf("%s was committed, which wants %s up, and NetworkManager has it disconnected", t.Checkpoint, name)
	}
	return nil
}

// AtRest looks at every Available enactment of a managed node.
func (activated) AtRest(f *Facts) error {
	var first error
	f.eachEnactment(func(e *v1.NodeNetworkConfigurationEnactment, node, policy string) {
		if names := f.lostHold(e, node, policy); len(names) > 0 && first == nil {
			first = on(node, "policy %s is Available, which wants %s up, and NetworkManager has it disconnected without a word of the node's", policy, names[0])
		}
	})
	return first
}

// lostHold are the interfaces that a policy wants up which is Available on the node, that
// NetworkManager does not hold up, and of which the node does not tell.
func (f *Facts) lostHold(e *v1.NodeNetworkConfigurationEnactment, node, policy string) []string {
	if !f.isAvailable(e, node, policy) {
		return nil
	}
	return slices.DeleteFunc(f.letGo(node, parsed(e.Status.DesiredState.Raw)), func(name string) bool {
		return isTold(f.state(node), state.Difference{Path: state.Path{Section: "interfaces", Interface: name}})
	})
}

// letGo are the interfaces that a state wants up and NetworkManager has disconnected.
func (f *Facts) letGo(node string, wanted state.State) []string {
	gone := f.Disconnected(node)
	var names []string
	for _, one := range wanted.Interfaces() {
		if one.WantedUp() && !strings.HasPrefix(one.Type, "ovs-") && slices.Contains(gone, one.Name) {
			names = append(names, one.Name)
		}
	}
	return names
}
