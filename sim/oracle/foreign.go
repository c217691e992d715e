package oracle

import (
	"fmt"
	"slices"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
)

// foreignThings: what no policy names is as before once a transaction is over, on the
// way forward and back (design §2, rule 8); unless the record says what could not
// be put back.
type foreignThings struct {
	// before are the kernels at the beginning of the trials; unseen of them is what
	// somebody did after the handler had noted what there was.
	before map[string]foreign.Snapshot
	unseen map[string]map[string]bool
}

const (
	// foreignMargin is for what somebody puts back a moment later.
	foreignMargin = 10 * time.Second
	// noteLag is how long before an apply the handler may have noted what there is.
	noteLag = time.Second
)

func newForeignThings() *foreignThings {
	return &foreignThings{before: map[string]foreign.Snapshot{}, unseen: map[string]map[string]bool{}}
}

func (*foreignThings) Name() string { return "foreign" }

func (o *foreignThings) Observe(f *Facts, e Event) error {
	switch what := e.What.(type) {
	case Applying:
		if t := f.Node(e.Node).asked; t != nil {
			o.before[e.Node], o.unseen[e.Node] = f.Kernel(e.Node), f.unseen(t, e.Node)
		}
	case JournalClosed:
		t := f.Node(e.Node).Trial
		if t == nil || t.Entry == nil || t.Ended == "" || t.Interrupted || !f.Has(e.Node) {
			return nil
		}
		var result v1.TransactionResult
		if last := what.Record.Last; len(t.Entry.Correction) == 0 && last != nil {
			result = last.Result
		}
		if result == v1.TransactionRollbackIncomplete {
			return nil
		}
		// A change that looks as it did before is committed though its checkpoint has gone back.
		named := foreign.NamedBy(parsed(t.Entry.Change))
		if t.Ended != Committed && result != v1.TransactionCommitted {
			named = named.Back()
		}
		o.look(f, e.Node, t, named)
	}
	return nil
}

// unseen is what the note in the journal does not have, since somebody's hand was
// at work between the note and the apply, on the way forward or back.
func (f *Facts) unseen(t *Trial, node string) map[string]bool {
	if t.Entry == nil || t.Entry.Foreign == nil || f.Calm(node, t.Asked-noteLag, Moves) {
		return nil
	}
	found := map[string]bool{}
	for _, l := range foreign.Lost(f.Kernel(node), *t.Entry.Foreign, foreign.NamedBy(parsed(t.Entry.Change)).Back()) {
		found[l.String()] = true
	}
	return found
}

// look compares now, and what is lost once more later.
func (o *foreignThings) look(f *Facts, node string, t *Trial, named foreign.Named) {
	before, unseen := o.before[node], o.unseen[node]
	lost := func() []foreign.Loss {
		found := foreign.Lost(before, f.Kernel(node), named)
		return slices.DeleteFunc(found, func(l foreign.Loss) bool { return l.Slight || unseen[l.String()] })
	}
	if len(lost()) == 0 {
		return
	}
	f.later(o, foreignMargin, node, func() error {
		if !f.Has(node) || f.Node(node).lastAsked != t.Asked || !f.Calm(node, t.Asked, Moves|Restarts) {
			return nil
		}
		if left := lost(); len(left) > 0 {
			return fmt.Errorf("the transaction is over (%s) and what it does not name is lost: %s", t.outcome(), few(left))
		}
		return nil
	})
}

// foreignCheckpoints: nobody's checkpoint is ended by another one's process, and while
// somebody else's is alive, which the node can know, no change is tried: it would be refused.
type foreignCheckpoints struct {
	// alive are those of somebody else, by node: since when.
	alive map[string]map[string]time.Duration
}

// foreignKnown is how long a checkpoint of somebody else may be alive until no change is
// tried: one that begins looks for it, and then measures its baseline.
const foreignKnown = 20 * time.Second

func newForeignCheckpoints() *foreignCheckpoints {
	return &foreignCheckpoints{alive: map[string]map[string]time.Duration{}}
}

func (*foreignCheckpoints) Name() string { return "foreign-checkpoints" }

func (c *foreignCheckpoints) Observe(f *Facts, e Event) error {
	switch what := e.What.(type) {
	case CheckpointMade:
		if what.Owner == "" {
			if c.alive[e.Node] == nil {
				c.alive[e.Node] = map[string]time.Duration{}
			}
			c.alive[e.Node][what.ID] = f.Elapsed()
		}
	case Applying:
		return c.tried(f, e.Node)
	case CheckpointEnded:
		delete(c.alive[e.Node], what.ID)
		if what.By != "" && what.Owner == "" {
			return fmt.Errorf("%s was %s by %s, and it is somebody else's", what.ID, what.How, what.By)
		}
	}
	return nil
}

func (c *foreignCheckpoints) tried(f *Facts, node string) error {
	if t := f.Node(node).asked; t == nil || t.Entry == nil {
		return nil // The way back has to be tried.
	}
	for _, id := range sortedKeys(c.alive[node]) {
		since := c.alive[node][id]
		if f.Elapsed()-since > foreignKnown && f.Calm(node, since, Restarts|Mute) {
			return fmt.Errorf("a change was tried, and %s of somebody else is alive since %s", id, since)
		}
	}
	return nil
}
