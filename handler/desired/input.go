package desired

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Policy is a policy that selects the node, as it comes out there.
type Policy struct {
	Name       string
	UID        types.UID
	Generation int64
	// Newest: the API server itself has no newer generation.
	Newest   bool
	Priority int32
	// Created orders policies of the same priority: the older one first.
	Created time.Time
	// ProbeTimeoutSeconds of the policy, nil for the node's default.
	ProbeTimeoutSeconds *int32
	// Probes guard its change, beside the default ones unless DefaultProbes is
	// Drop. What their targets refer to is filled in.
	Probes        []v1.Probe
	DefaultProbes string
	// Mode is Apply (or empty) or Plan; PlanHashes, when there are any, are the
	// only plans that may be applied.
	Mode       string
	PlanHashes []string
	// PlanOf is the policy in whose place it is planned in mode Plan, empty for its own.
	PlanOf string
	// Confirmed is the generation that a person has confirmed, 0 for none.
	Confirmed int64
	// Hold is why its rollout lets no other node begin (HoldOf).
	Hold v1.ConditionReason
	// OnDelete and Drift are what becomes of its configuration later on.
	OnDelete, Drift string

	// Rendering is the policy's state for this node.
	Rendering
	// Captured are the captures that it was rendered with, Variables the values.
	Captured  map[string]v1.CapturedState
	Variables map[string]string
	// MatchedInterfaces are what spec.match selected; MatchesNothing tells
	// that it is there and selected nothing.
	MatchedInterfaces []string
	MatchesNothing    bool

	// SecretsKey is the node's key for the Secrets that it names; empty where it names none.
	SecretsKey string
	// Sealed are the secrets that it has in clear text, which its state refers to.
	Sealed []v1.SealedSecret

	// Err is why it cannot be rendered, which waiting does not change.
	Err error
	// Waiting, when not empty, is what rendering waits for on this node.
	Waiting string
}

// Input is everything that a decision about one node depends on.
type Input struct {
	// Node is the node's name; NodeUID owns the enactments.
	Node    string
	NodeUID types.UID
	Now     time.Time
	// Policies that select the node, in any order.
	Policies []Policy
	// Enactments of the node, in any order, also those whose policy is gone.
	Enactments []v1.NodeNetworkConfigurationEnactment
	// State is the node's NodeNetworkState, nil while there is none.
	State *v1.NodeNetworkState
	// LastWords are the onDelete of policies that were deleted, as they said at the end, by
	// their names. None of one that is there again, nor of one whose end nobody saw.
	LastWords map[string]string
	// Whole is the node's network where State tells only a part of it
	// (status.truncated); nil while it is not known here.
	Whole *state.State
}

// Decision is what to write now, in the order of the fields: a crash between
// any two writes is made good by deciding again. It is empty when there is
// nothing to do.
type Decision struct {
	// Statuses to write, complete. They come first: an outcome is recorded
	// before the NodeNetworkState that shows it moves on.
	Statuses []StatusWrite
	// Spec is the NodeNetworkState's new desired state; nil leaves it alone.
	Spec *Spec
	// Overruled is true where Spec replaces what somebody else wrote.
	Overruled bool
	// GivesUp names the policies whose enactments abandon the change in flight. An old
	// enactment may name one that was committed long ago.
	GivesUp []string
	// Charges is true where an enactment records from now on what the NodeNetworkState
	// reports as failed, or as not brought back. An old NodeNetworkState may report that
	// of a policy that has come back since, or of an attempt before the last one.
	Charges bool
	// Confirm is the generation of the NodeNetworkState that a person has
	// confirmed on the policy that it is about; 0 for none.
	Confirm int64
	// Create are the enactments that are missing. The API server leaves the
	// status out, which says "all Unknown" then as well.
	Create []*v1.NodeNetworkConfigurationEnactment
	// Delete are the names of the enactments that are over.
	Delete []string
	// TakeOver are enactments that come in the place of the older project's of the same
	// policies, which are deleted first.
	TakeOver []*v1.NodeNetworkConfigurationEnactment

	// Behind are policies of which enactments tell a newer generation than was
	// read: nothing is decided until they are read live, or the cache shows it.
	Behind []string

	// RequeueAfter is when time alone changes the decision; 0 means never.
	RequeueAfter time.Duration
	// Events to record once the statuses are written.
	Events []Event
	// Notes say why, for the log.
	Notes []string
}

// StatusWrite is one enactment's new status.
type StatusWrite struct {
	Name   string
	Status v1.NodeNetworkConfigurationEnactmentStatus
}

// Spec is what the policies' part of a NodeNetworkState's spec becomes.
type Spec struct {
	DesiredState        v1.State
	Sources             []v1.DesiredSource
	ProbeTimeoutSeconds *int32
	Probes              []v1.Probe
	DefaultProbes       string
	// Secrets that DesiredState, or what is committed, refers to.
	Secrets []v1.SealedSecret
	// Policy is the one policy in which it differs from what is committed, so
	// the one to read live before writing; empty when the node goes back to
	// what is committed.
	Policy string
	// TakeOver: the older project has configured Policy on the node.
	TakeOver bool
	// UID and Generation of the Policy; Generation 0 when Policy leaves.
	UID        types.UID
	Generation int64
}

// size is about what it takes in its object, in bytes.
func (s *Spec) size() int {
	const around = 64 // Of a source: keys, braces and quotes.
	size := len(s.DesiredState.Raw)
	for _, source := range s.Sources {
		size += around + len(source.Policy) + len(source.Hash)
		for _, path := range source.Paths {
			size += len(path) + len(`"",`)
		}
	}
	for _, one := range s.Secrets {
		size += around + len(one.Name) + len(one.Key) + len(one.Version) + len(one.Sealed)
	}
	return size
}

// Event is something that people should see on the policy.
type Event struct {
	Policy string
	// OnNode: it is recorded on the NodeNetworkState, since the policy is gone.
	OnNode  bool
	Warning bool
	Reason  string
	Message string
}

// Reasons of events on a policy.
const (
	EventConfigured      = "Configured"
	EventRolledBack      = "RolledBack"
	EventReconcileFailed = "ReconcileFailed"
)

// Empty tells whether nothing is to be written.
func (d Decision) Empty() bool {
	return len(d.Statuses) == 0 && d.Spec == nil && d.Confirm == 0 && len(d.Create) == 0 && len(d.Delete) == 0 && len(d.TakeOver) == 0
}
