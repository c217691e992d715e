package agent

import (
	"context"
	"errors"

	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// profilesFor reads what a change is made permanent from, or what a node that was taken
// back is compared with. Only a change that names Open vSwitch's database needs that
// to answer; the way back itself waits for no database.
func (a *Agent) profilesFor(ctx context.Context, entry journal.Entry) (profiles.Snapshot, error) {
	now, err := a.Backend.Profiles(ctx)
	if err != nil || now.OpenVSwitch != nil || hadOpenVSwitch(entry) == nil {
		return now, err
	}
	if change, err := changeOf(entry); err == nil && !change.OpenVSwitch.IsEmpty() {
		return profiles.Snapshot{}, errors.New("the database of Open vSwitch cannot be read")
	}
	return now, nil
}

// openVSwitchBack needs nothing of what was tried: the change says what it may
// have written, and the journal what was there.
func openVSwitchBack(entry journal.Entry, now profiles.Snapshot) []profiles.Action {
	if now.OpenVSwitch == nil {
		return nil // It cannot be read; the comparison tells.
	}
	if change, err := changeOf(entry); err == nil {
		return profiles.OpenVSwitchBack(hadOpenVSwitch(entry), now, change)
	}
	return nil // An unreadable change has written nothing.
}

func openVSwitchDifferences(entry journal.Entry, now profiles.Snapshot) []string {
	if change, err := changeOf(entry); err == nil {
		return profiles.OpenVSwitchDifferences(hadOpenVSwitch(entry), now, change)
	}
	return nil
}

// hadOpenVSwitch is what the database held before. A handler of before this was
// held out of trials has it in the report alone.
func hadOpenVSwitch(entry journal.Entry) state.Columns {
	if entry.Profiles.OpenVSwitch != nil {
		return entry.Profiles.OpenVSwitch
	}
	before, err := state.Parse(entry.Before)
	if err != nil {
		return nil
	}
	return before.Columns()
}
