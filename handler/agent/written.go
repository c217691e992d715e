package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

const (
	// writtenWindow is how long the guards have, all together, to pass once more. The
	// checkpoint lives longer.
	writtenWindow = 5 * time.Second
	// scriptTime is what a script has until the guards are asked: NetworkManager does not
	// say when it has run.
	scriptTime = 2 * time.Second
)

// guardWritten asks the guards once more where the change has written into Open
// vSwitch's database, or scripts. These are on the disk at once, so no trial has them,
// and the guards have passed without. The checkpoint is still there to go back by.
func (a *Agent) guardWritten(ctx context.Context, entry journal.Entry, now profiles.Snapshot, change profiles.Change) error {
	scripts := change.Scripts.Left(*entry.Profiles)
	if change.OpenVSwitch.IsEmpty() && len(scripts) == 0 {
		return nil
	}
	if left := change.OpenVSwitch.Forth(now.OpenVSwitch).Names(); len(left) > 0 {
		return fmt.Errorf("the database of Open vSwitch has not taken %s", strings.Join(left, ", "))
	}
	if left := change.Scripts.Left(now); len(left) > 0 {
		return fmt.Errorf("what was written is not there, maybe since somebody else writes it too: %s", strings.Join(left, ", "))
	}
	given := "with what Open vSwitch's database was given"
	if len(scripts) > 0 {
		given = "with the scripts of the change"
	}
	if err := a.runScripts(ctx, change.Scripts.Runs(*entry.Profiles)); err != nil {
		return err
	}
	windowCtx, cancel := deadline.After(ctx, a.Clock, writtenWindow)
	defer cancel()
	for _, name := range entry.Transaction.Guards {
		if name == txn.Confirm {
			continue
		}
		interval, attempt := pace(entry.Transaction.Change, name)
		if err := probe.Until(windowCtx, a.Clock, a.guardOf(entry, name), name, interval, attempt); err != nil {
			return fmt.Errorf("%s: %w", given, err)
		}
	}
	return nil
}

// runScripts has NetworkManager run the scripts of devices, as nmstate does when it
// applies them. A device that is not there, or has no profile, has nothing to run.
func (a *Agent) runScripts(ctx context.Context, devices []string) error {
	for _, device := range devices {
		if err := a.do(ctx, []profiles.Action{{Verb: profiles.Reapply, Device: device}}); err != nil {
			return err
		}
	}
	if len(devices) > 0 {
		a.Clock.Wait(ctx, nil, scriptTime)
	}
	return nil
}

// scriptsBack needs nothing of what was tried, as openVSwitchBack.
func scriptsBack(entry journal.Entry, now profiles.Snapshot) []profiles.Action {
	if change, err := changeOf(entry); err == nil {
		return profiles.ScriptsBack(*entry.Profiles, now, change)
	}
	return nil // An unreadable change has written nothing.
}

func scriptDifferences(entry journal.Entry, now profiles.Snapshot) []string {
	if change, err := changeOf(entry); err == nil {
		return profiles.ScriptDifferences(*entry.Profiles, now, change)
	}
	return nil
}

// checkCommands refuses scripts that are new, where they are not allowed.
func (a *Agent) checkCommands(desired state.State) error {
	var committed state.State
	if a.record.Committed != nil {
		var err error
		if committed, err = state.Parse(a.record.Committed.Desired); err != nil {
			return fmt.Errorf("reading the committed state: %w", err)
		}
	}
	return state.CheckCommands(committed, state.Canonical(desired), a.Commands)
}
