package record

import (
	"fmt"
	"slices"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// Sources of what is committed.
func Sources(record journal.Record) []v1.DesiredSource {
	if record.Committed == nil {
		return nil
	}
	return record.Committed.Sources
}

// IsKept tells whether the desired state of a hash leaves out what stays on the node all
// the same, since its removal failed.
func IsKept(record journal.Record, hash string) bool {
	return record.Kept != nil && record.Kept.Hash == hash
}

// Stays is what stays beside what is committed.
func Stays(record journal.Record) (state.State, error) {
	stays, err := state.Parse(record.Stays)
	if err != nil {
		return state.State{}, fmt.Errorf("reading what stays beside the committed state: %w", err)
	}
	return stays, nil
}

// ChangedPolicy is the policy in which the wanted sources differ from the committed ones.
func ChangedPolicy(record journal.Record, spec v1.NodeNetworkStateSpec) string {
	return idle.ChangedPolicy(spec.Policy, spec.Sources, Sources(record))
}

// IsRemoval tells whether policies leave and nothing else changes. What a person writes
// instead is no removal.
func IsRemoval(record journal.Record, spec v1.NodeNetworkStateSpec) bool {
	if len(spec.Sources) >= len(Sources(record)) || ChangedPolicy(record, spec) != "" {
		return false
	}
	return len(spec.Sources) > 0 || spec.DesiredState.IsZero()
}

// Reverted are the paths of the policies with onDelete: Revert that leave, or that come out
// differently in what is wanted next: what was there before them is to come back. A removal
// that was kept is not undone again.
func Reverted(record journal.Record, next []v1.DesiredSource, hash string) []state.Path {
	if len(record.Originals) == 0 || IsKept(record, hash) {
		return nil
	}
	var paths []state.Path
	for _, source := range Sources(record) {
		stays := slices.ContainsFunc(next, func(s v1.DesiredSource) bool { return s.Policy == source.Policy && s.Hash == source.Hash })
		if source.OnDelete == v1.OnDeleteRevert && !stays {
			paths = append(paths, state.ParsePaths(source.Paths)...)
		}
	}
	return paths
}

// IsRestored tells whether the generation of the last change wants something else now. No
// API server changes what a generation says: its etcd was restored from a backup, and counts
// from an older number on.
func IsRestored(r journal.Record, wanted txn.Change) bool {
	return r.About != nil && r.Last != nil && r.Last.Generation == wanted.Generation &&
		r.About.Generation == wanted.Generation && r.About.Hash != wanted.Hash
}

// IsTakeOver tells whether the desired state differs from what is committed by one policy
// that the older project is said to have configured, and nothing of which is committed.
func IsTakeOver(record journal.Record, spec v1.NodeNetworkStateSpec) bool {
	if !spec.TakeOver || spec.Policy == "" || len(spec.Probes) > 0 {
		return false
	}
	rest := slices.DeleteFunc(v1.PlainSources(spec.Sources), func(s v1.Source) bool { return s.Policy == spec.Policy })
	same := func(a, b v1.Source) bool { return a.Policy == b.Policy && a.Hash == b.Hash }
	return len(rest) == len(spec.Sources)-1 && slices.EqualFunc(rest, v1.PlainSources(Sources(record)), same)
}

// Concludes tells of an entry whose change was committed, and that is only still there since
// its handler died, or the power went, between the two steps of closing the journal. Nothing
// of it is to be taken back: it is over, and what differs from it by now is drift. Only a
// commit is known by that. A change that was taken back may have begun again in the same
// second, and its record says nothing of the second attempt.
func Concludes(record journal.Record, entry journal.Entry) bool {
	last, committed, change := record.Last, record.Committed, entry.Transaction.Change
	return entry.Transaction.Proven && len(entry.Correction) == 0 &&
		last != nil && last.Result == v1.TransactionCommitted && last.Generation == change.Generation && last.Since.Equal(idle.InSeconds(entry.Since)) &&
		committed != nil && committed.Hash == change.Hash
}

// Past is what it says of earlier changes.
func Past(record journal.Record) idle.Past {
	past := idle.Past{Last: record.Last, Failed: record.Failed}
	if committed := record.Committed; committed != nil {
		past.Committed = &idle.Committed{Hash: committed.Hash, Sources: committed.Sources}
	}
	return past
}
