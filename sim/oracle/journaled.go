package oracle

import "fmt"

// journaled: the transaction, with the way back, is on the disk before an apply
// changes anything.
type journaled struct{}

func (journaled) Name() string { return "journal" }

func (journaled) Observe(f *Facts, e Event) error {
	what, is := e.What.(CheckpointMade)
	if !is || what.Owner == "" {
		return nil
	}
	entry := f.Journal(e.Node)
	switch {
	case entry == nil:
		return fmt.Errorf("%s is there and no transaction is on the disk", what.ID)
	case len(entry.Revert) == 0 || len(entry.Before) == 0:
		return fmt.Errorf("%s is there and the way back is not on the disk", what.ID)
	}
	return nil
}
