package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// activated: no change is committed that leaves a device disconnected which it wants
// up. The kernel does not show that, so the read-back of its state proves nothing of it.
// What is Open vSwitch's is judged by its database (handler/profiles, Activated).
type activated struct{}

func (activated) Name() string { return "activated" }

func (activated) Observe(f *Facts, e Event) error {
	what, is := e.What.(CheckpointEnded)
	t := f.Node(e.Node).Trial
	if !is || what.How != Committed || what.Owner == "" || t == nil || t.Checkpoint != what.ID || t.Entry == nil {
		return nil
	}
	stays := f.Disconnected(e.Node)
	for _, one := range parsed(t.Entry.Change).Interfaces() {
		if strings.HasPrefix(one.Type, "ovs-") {
			continue
		}
		if one.WantedUp() && slices.Contains(stays, one.Name) {
			return fmt.Errorf("%s was committed, which wants %s up, and NetworkManager has it disconnected", t.Checkpoint, one.Name)
		}
	}
	return nil
}
