package oracle

import (
	"fmt"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// guards: a change is committed only after every guard passed on it, and the
// node was read back, on a checkpoint that is alive (design §2). Guards are
// those that the journal names; the default ones among them are all that passed
// before, as the process itself was answered, and the policy's own are all.
type guards struct{}

func (guards) Name() string { return "guards" }

func (guards) Observe(f *Facts, e Event) error {
	switch what := e.What.(type) {
	case Applying:
		if t := f.Node(e.Node).asked; t != nil && t.Entry != nil {
			return selected(f, t)
		}
	case CheckpointEnded:
		t := f.Node(e.Node).Trial
		if what.How != Committed || what.Owner == "" || t == nil || t.Checkpoint != what.ID {
			return nil
		}
		return t.proven(what.By)
	}
	return nil
}

func (t *Trial) proven(by string) error {
	switch {
	case t.Entry == nil:
		return nil // The rule journal says so.
	case t.Applied == 0:
		return fmt.Errorf("%s was committed before its apply was over", t.Checkpoint)
	case by != t.Process.Name && t.Proven == 0: // What was proven a later process commits (design §2).
		return fmt.Errorf("%s of %s was committed by %s", t.Checkpoint, t.Process.Name, by)
	case !t.ReadBack:
		return fmt.Errorf("%s was committed and the node was not read back after the apply", t.Checkpoint)
	}
	for _, guard := range t.Entry.Transaction.Guards {
		if guard != txn.Confirm && !t.Passed[guard] {
			return fmt.Errorf("%s was committed although %s has not passed since the apply", t.Checkpoint, guard)
		}
	}
	return nil
}

// selected finds a guard that should be one and is not.
func selected(f *Facts, t *Trial) error {
	change := t.Entry.Transaction.Change
	has := func(name string) bool { return contains(t.Entry.Transaction.Guards, name) }
	if !change.DropDefaults {
		for _, name := range []string{probe.DefaultGateway, probe.DNS, probe.APIServer, probe.NodeReady} {
			if f.probes[t.Process][name].allPassed() && !has(name) {
				return fmt.Errorf("%s passes and does not guard the change", name)
			}
		}
	}
	for _, own := range change.Probes {
		if !has(own.Name) {
			return fmt.Errorf("the change names the probe %s, which does not guard it", own.Name)
		}
	}
	return nil
}

// allPassed tells of a probe that has passed each time lately: in the background
// and in the baseline. One time alone may have come too late to count.
func (a answers) allPassed() bool {
	for _, passed := range a {
		if !passed {
			return false
		}
	}
	return len(a) == cap3
}

const cap3 = 3

// committed: what the record calls committed was committed on the host; or it
// is there, as after a NetworkManager that went away between the proof and the
// commit.
type committed struct{}

func (committed) Name() string { return "committed" }

func (committed) Observe(f *Facts, e Event) error {
	what, is := e.What.(JournalClosed)
	if !is || what.Record.Last == nil || what.Record.Last.Result != "Committed" {
		return nil
	}
	t := f.Node(e.Node).Trial
	if t == nil || t.Ended == Committed || !t.isTold(what.Record.Last) {
		return nil
	}
	missing := state.Missing(parsed(t.Entry.Change), f.Network(e.Node))
	if len(missing) == 0 || !f.Calm(e.Node, t.EndedAt+time.Millisecond, Moves|Restarts) {
		return nil
	}
	return fmt.Errorf("the record says Committed, the checkpoint was %s, and the node lacks %s", t.outcome(), few(missing))
}

// isTold tells whether a record's last transaction is the trial's: those of
// corrections are not told there.
func (t *Trial) isTold(last *v1.Transaction) bool {
	return t.Entry != nil && len(t.Entry.Correction) == 0 && last != nil && last.Generation == t.Entry.Transaction.Change.Generation
}

func (t *Trial) outcome() string {
	if t.Ended == "" {
		return "not ended"
	}
	return string(t.Ended)
}

// life: a checkpoint outlives everything that it is to be proven by, so that its
// end never races a commit.
type life struct{}

// lifeMargin is what it must live longer, at least.
const lifeMargin = 10 * time.Second

func (life) Name() string { return "life" }

func (life) Observe(f *Facts, e Event) error {
	what, is := e.What.(Applying)
	t := f.Node(e.Node).asked
	if !is || t == nil || t.Entry == nil {
		return nil
	}
	change := t.Entry.Transaction.Change
	longest := change.Window
	for _, own := range change.Probes {
		longest = max(longest, own.Timeout)
	}
	if need := longest + change.Confirm + lifeMargin; what.Life < need {
		return fmt.Errorf("the checkpoint lives %s, and the guards may take %s", what.Life, longest+change.Confirm)
	}
	return nil
}
