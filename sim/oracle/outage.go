package oracle

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// outage: a lost probe is final for a policy's generation on a node: the same is
// not tried there a second time (design §2, rule 5).
type outage struct {
	lost map[tried]loss
	// byHand is the hash of what somebody wrote into a node's desired state: it fails in
	// that person's name.
	byHand map[string]string
}

// loss of a probe: when, and by which desired state, made from what.
type loss struct {
	at      time.Duration
	sources []v1.Source
	hash    string
}

// isOther tells of what somebody wrote over the change that lost a probe, and left
// its sources: these come to one desired state only.
func (l loss) isOther(t *Trial) bool {
	return slices.Equal(l.sources, v1.PlainSources(t.Entry.Sources)) && l.hash != t.Entry.Transaction.Change.Hash
}

// tried is what was tried where.
type tried struct {
	node, policy, uid, hash string
	generation              int64
}

func newOutage() *outage { return &outage{map[tried]loss{}, map[string]string{}} }

func (*outage) Name() string { return "outage" }

func (o *outage) Observe(f *Facts, e Event) error {
	switch what := e.What.(type) {
	case Wrote:
		o.forget(what)
		o.leave(f, what)
		o.note(what)
	case CheckpointEnded:
		t := f.Node(e.Node).Trial
		if what.How == RolledBack && t != nil && t.Checkpoint == what.ID && what.By == t.Process.Name && o.isLost(f, e, t) {
			if key, is := f.triedBy(e.Node, t); is && o.byHand[e.Node] != t.Entry.Transaction.Change.Hash {
				o.lost[key] = loss{e.At, v1.PlainSources(t.Entry.Sources), t.Entry.Transaction.Change.Hash}
			}
		}
	case CheckpointMade:
		t := f.Node(e.Node).Trial
		if t == nil || t.Made != e.At {
			return nil
		}
		key, is := f.triedBy(e.Node, t)
		if was, again := o.lost[key]; is && again && !was.isOther(t) {
			return fmt.Errorf("generation %d of policy %s lost a probe at %s and is tried again", key.generation, key.policy, was.at)
		}
		if is {
			o.moveOn(key)
		}
	}
	return nil
}

// moveOn: the generation comes to something else on the node now, since somebody has
// changed a label that it is made from. Should it come to the same once more, that is a
// person's wish too, and not a retry.
func (o *outage) moveOn(to tried) {
	for key := range o.lost {
		other := key
		other.hash = to.hash
		if other == to && key != to {
			delete(o.lost, key)
		}
	}
}

func (o *outage) note(w Wrote) {
	state, is := w.After.(*v1.NodeNetworkState)
	if !is || !w.Spec {
		return
	}
	delete(o.byHand, state.Name)
	if role, _ := roleOf(w.Process); role == roleOutside {
		o.byHand[state.Name] = hashOf(state.Spec.DesiredState)
	}
}

// isLost tells whether a guard had its time, and never passed.
func (o *outage) isLost(f *Facts, e Event, t *Trial) bool {
	if t.Entry == nil || t.Applied == 0 || t.Interrupted || !f.Calm(e.Node, t.Asked, Restarts|Hinders|Clock) {
		return false
	}
	change := t.Entry.Transaction.Change
	if nns := f.state(e.Node); t.Unwanted || nns == nil || !isManaged(nns) || hashOf(nns.Spec.DesiredState) != change.Hash {
		return false // It may have been given up for that (design §3: a newer generation supersedes the running one).
	}
	for _, guard := range t.Entry.Transaction.Guards {
		if guard != txn.Confirm && !t.Passed[guard] && e.At-t.Applied >= change.Timeout(guard)-time.Second {
			return true
		}
	}
	return false
}

// forget what was tried where the objects that remember it are gone.
func (o *outage) forget(w Wrote) {
	if w.After != nil {
		o.setAside(w)
		return
	}
	for key := range o.lost {
		switch before := w.Before.(type) {
		case *v1.NodeNetworkState:
			if before.Name == key.node {
				delete(o.lost, key)
			}
		case *v1.NodeNetworkConfigurationEnactment:
			if before.Node() == key.node && before.Policy() == key.policy {
				delete(o.lost, key)
			}
		}
	}
}

// leave: a policy that the node takes out of its desired state, since it does not select
// the node, begins anew when somebody has it select the node again. Its enactment goes
// next; it may be there still, if the API server could not be reached just then.
func (o *outage) leave(f *Facts, w Wrote) {
	before, had := w.Before.(*v1.NodeNetworkState)
	after, has := w.After.(*v1.NodeNetworkState)
	if !had || !has {
		return
	}
	for key := range o.lost {
		if f.leaves(before, after, key) {
			delete(o.lost, key)
		}
	}
}

// leaves tells whether the desired state gives up what was tried, since its policy does
// not select the node.
func (f *Facts) leaves(before, after *v1.NodeNetworkState, key tried) bool {
	p := f.policy(key.policy)
	return key.node == after.Name && names(before, key.policy) && !names(after, key.policy) && (p == nil || !f.selects(p, key.node))
}

// names tells whether the desired state has the policy's part.
func names(s *v1.NodeNetworkState, policy string) bool {
	return slices.ContainsFunc(s.Spec.Sources, func(source v1.DesiredSource) bool { return source.Policy == policy })
}

// setAside: a node that is managed again has another generation of its desired
// state, which the state handler tries once more where the node was set aside
// before the outcome was told. A person has asked for it, so it is let pass here.
func (o *outage) setAside(w Wrote) {
	after, is := w.After.(*v1.NodeNetworkState)
	before, had := w.Before.(*v1.NodeNetworkState)
	if !is || !had || isManaged(before) == isManaged(after) {
		return
	}
	for key := range o.lost {
		if key.node == after.Name {
			delete(o.lost, key)
		}
	}
}

// triedBy is what a trial tries; false for what is no policy's generation.
func (f *Facts) triedBy(node string, t *Trial) (tried, bool) {
	source, is := t.Policy()
	p := f.policy(source.Policy)
	if !is || p == nil {
		return tried{}, false
	}
	return tried{node: node, policy: source.Policy, uid: string(p.UID), hash: source.Hash, generation: source.Generation}, true
}

// backoff: what fails without a lost probe is tried again later and later: from
// one second, doubling, to four minutes at least.
type backoff struct {
	failed map[tried]failures
	// latest is what each node tried last.
	latest map[string]tried
	began  map[string]opening
}

// opening of a node's journal: since when by the node's clock, and by ours.
type opening struct {
	since time.Time
	at    time.Duration
}

// failures in a row.
type failures struct {
	times int
	// last is when it was over. It began by the node's clock, and by ours no earlier
	// than opened.
	last, opened time.Duration
	began        time.Time
	// generation of the NodeNetworkState that failed last: a journal may be
	// closed more than once.
	generation int64
}

func newBackoff() *backoff {
	return &backoff{map[tried]failures{}, map[string]tried{}, map[string]opening{}}
}

func (*backoff) Name() string { return "back-off" }

func (b *backoff) Observe(f *Facts, e Event) error {
	if saved, is := e.What.(JournalSaved); is && !b.began[e.Node].since.Equal(saved.Entry.Since) {
		b.began[e.Node] = opening{saved.Entry.Since, e.At}
	}
	if wrote, is := e.What.(Wrote); is {
		b.forget(f, wrote)
	}
	what, is := e.What.(JournalClosed)
	if !is || what.Record.Last == nil {
		return nil
	}
	last := what.Record.Last
	key := tried{node: e.Node, policy: last.Policy}
	p := f.policy(last.Policy)
	if p == nil {
		return nil
	}
	key.uid = string(p.UID)
	for _, s := range last.Sources {
		if s.Policy == last.Policy {
			key.generation, key.hash = s.Generation, s.Hash
		}
	}
	if t := f.Node(e.Node).Trial; t != nil && t.Entry != nil && len(t.Entry.Correction) > 0 {
		return nil
	}
	// Where a newer generation has failed, the node goes back at once.
	back := key.generation < p.Generation && b.latest[e.Node] != key
	b.latest[e.Node] = key
	switch last.Result {
	case v1.TransactionCommitted:
		delete(b.failed, key)
		return nil
	case v1.TransactionSuperseded:
		return nil
	}
	before := b.failed[key]
	if before.times > 0 && (before.generation == last.Generation || !last.Since.After(before.began)) {
		// Told again, of this or a newer generation that wants what failed: how an
		// attempt ended that began earlier is no attempt (design §2, rule 5: final).
		return nil
	}
	b.failed[key] = failures{before.times + 1, e.At, b.began[e.Node].at, last.Since.Time, last.Generation}
	least := before.wait()
	// By its beginning, in whole seconds: a full disk has it recorded later.
	if gap := last.Since.Sub(before.began) + time.Second; before.times > 0 && gap < least && !back && before.undisturbed(f, e.Node) {
		return fmt.Errorf("generation %d of policy %s has failed %d times and was tried again after %s, before %s", key.generation, key.policy, before.times, gap, least)
	}
	return nil
}

// forget the failures that an enactment counted which is gone, or whose policy the node
// has given up as it does not select it: the policy is a new one there when it comes
// back. And those that the policy handler may not have read: somebody wrote another
// desired state over what failed.
func (b *backoff) forget(f *Facts, w Wrote) {
	before, had := w.Before.(*v1.NodeNetworkState)
	after, has := w.After.(*v1.NodeNetworkState)
	for key := range b.failed {
		if left(w, key) || writtenOver(w, key.node) || had && has && f.leaves(before, after, tried{node: key.node, policy: key.policy}) {
			delete(b.failed, key)
		}
	}
}

func left(w Wrote, key tried) bool {
	before, is := w.Before.(*v1.NodeNetworkConfigurationEnactment)
	return is && w.After == nil && before.Node() == key.node && before.Policy() == key.policy
}

func writtenOver(w Wrote, node string) bool {
	before, had := w.Before.(*v1.NodeNetworkState)
	after, has := w.After.(*v1.NodeNetworkState)
	role, _ := roleOf(w.Process)
	return had && has && role == roleOutside && after.Name == node && !bytes.Equal(before.Spec.DesiredState.Raw, after.Spec.DesiredState.Raw)
}

// undisturbed: no fault since then; and the clock of the next attempt is that by
// which this one began. Controllers that were set back in the middle of it may not have
// counted it yet.
func (f failures) undisturbed(facts *Facts, node string) bool {
	return facts.Calm(node, f.last, everything) && facts.Calm(Controllers, f.last, everything) && facts.Calm(node, f.opened, Clock) &&
		facts.Calm(Controllers, f.opened, Stale)
}

// wait is the least until the next attempt has failed too. The first ones may be
// counted anew, where the outcome was not told.
func (f failures) wait() time.Duration {
	const lenient, most = 3, 4 * time.Minute
	if f.times <= lenient {
		return 0
	}
	wait := min(time.Second<<min(f.times-1-lenient+2, 20), most)
	return wait - wait/10
}
