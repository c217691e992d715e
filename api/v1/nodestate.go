package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ForceRefreshLabel on a NodeNetworkState asks for a report now: a new value
// is a new request.
const ForceRefreshLabel = "nmstate.io/force-nns-refresh"

// PolicyFieldManager is the name, in a NodeNetworkState's managed fields, of
// what policies made.
const PolicyFieldManager = "nmstate-policies"

// Source is a policy that the desired state was made from.
type Source struct {
	// Policy is the policy's name.
	Policy string `json:"policy"`
	// Generation of the policy.
	Generation int64 `json:"generation"`
	// Hash of the policy's state as rendered for the node.
	Hash string `json:"hash"`
}

// DesiredSource is a policy's part in a desired state.
type DesiredSource struct {
	Source `json:",inline"`
	// OnDelete of the policy; empty for the default.
	// +optional
	OnDelete string `json:"onDelete,omitempty"`
	// Drift of the policy; empty for the default.
	// +optional
	Drift string `json:"drift,omitempty"`
	// DefaultProbes of the policy; empty for the default. They guard what puts its drift
	// right, too.
	// +optional
	DefaultProbes string `json:"defaultProbes,omitempty"`
	// Paths of desiredState that the policy set, each standing for everything
	// below it. A leaf that several policies set to the same value is in each.
	// +optional
	// +listType=atomic
	Paths []string `json:"paths,omitempty"`
}

// PlainSources are what a status says of the sources of a spec.
func PlainSources(sources []DesiredSource) []Source {
	var plain []Source
	for _, s := range sources {
		plain = append(plain, s.Source)
	}
	return plain
}

// Drift is a leaf that is not what it was brought to.
type Drift struct {
	// Path in the desired state.
	Path string `json:"path"`
	// Expected and Found values; empty for nothing.
	// +optional
	Expected string `json:"expected,omitempty"`
	// +optional
	Found string `json:"found,omitempty"`
	// Policy that owns the leaf; empty for a hand-written desired state.
	// +optional
	Policy string `json:"policy,omitempty"`
	// Since is when it was found.
	// +optional
	Since metav1.Time `json:"since,omitempty,omitzero"`
	// Action says what is done about it: Correcting, Damped or Reported.
	// +optional
	Action string `json:"action,omitempty"`
}

// NodeNetworkStateSpec is what a node should be.
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.nodeName) || size(oldSelf.nodeName) == 0 || (has(self.nodeName) && self.nodeName == oldSelf.nodeName)",message="spec.nodeName: cannot be changed; the object is named after its node"
type NodeNetworkStateSpec struct {
	// Managed: false stops all enforcement and reporting for the node.
	// +optional
	// +kubebuilder:default=true
	Managed *bool `json:"managed,omitempty"`
	// NodeName is the node, always the object's name.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// DesiredState is the nmstate state that the node is brought to. The
	// policies that match the node write it; without any it may be written by
	// hand.
	// +optional
	DesiredState State `json:"desiredState,omitempty,omitzero"`
	// Sources are the policies that desiredState was made from, in merge order.
	// +optional
	// +listType=map
	// +listMapKey=policy
	Sources []DesiredSource `json:"sources,omitempty"`
	// Policy that desiredState was changed for last; empty where the node goes back to what
	// is committed. Another one may come back with it, or leave.
	// +optional
	Policy string `json:"policy,omitempty"`
	// TakeOver: the older project has configured policy on the node. Where the node has all
	// of it, it is committed as it is, and nothing is applied.
	// +optional
	TakeOver bool `json:"takeOver,omitempty"`
	// ProbeTimeoutSeconds is the probe window of the next transaction.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1800
	ProbeTimeoutSeconds *int32 `json:"probeTimeoutSeconds,omitempty"`
	// Probes of the next transaction, on top of the default ones.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Probes []Probe `json:"probes,omitempty"`
	// DefaultProbes: Keep (default) or Drop.
	// +optional
	// +kubebuilder:validation:Enum=Keep;Drop
	DefaultProbes string `json:"defaultProbes,omitempty"`
	// Secrets that desiredState refers to, or what is committed of its sources.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4096
	Secrets []SealedSecret `json:"secrets,omitempty"`
}

// PhaseWaiting of a transaction that waits for somebody else's checkpoint before it begins.
const PhaseWaiting = "Waiting"

// TransactionResult is how a transaction ended.
type TransactionResult string

// The ends of a transaction.
const (
	// TransactionCommitted: the change is permanent and was read back.
	TransactionCommitted TransactionResult = "Committed"
	// TransactionRefused: nothing was changed.
	TransactionRefused TransactionResult = "Refused"
	// TransactionRolledBack: the change was taken back.
	TransactionRolledBack TransactionResult = "RolledBack"
	// TransactionRollbackIncomplete: something did not come back.
	TransactionRollbackIncomplete TransactionResult = "RollbackIncomplete"
	// TransactionSuperseded: the desired state changed meanwhile; taken back.
	TransactionSuperseded TransactionResult = "Superseded"
)

// Transaction is the running transaction of a node, or its last one. One that runs is
// told once it has run for two seconds, or asks a person for confirmation.
type Transaction struct {
	// Generation of the NodeNetworkState that it enforces.
	Generation int64 `json:"generation"`
	// Phase is Idle when it ended, otherwise where it stands: Waiting for somebody else's
	// checkpoint before it begins.
	// +kubebuilder:validation:Enum=Idle;Waiting;Baseline;Arming;Applying;Probing;Committing;RollingBack;Settling
	Phase string `json:"phase"`
	// Since is when it began.
	// +optional
	Since metav1.Time `json:"since,omitempty"`
	// Policy is the changed policy; empty when the desired state was written
	// by hand or a policy went.
	// +optional
	Policy string `json:"policy,omitempty"`
	// Sources that it applies.
	// +optional
	Sources []Source `json:"sources,omitempty"`
	// Result, once it ended.
	// +optional
	Result TransactionResult `json:"result,omitempty"`
	// Final: the same desired state is not tried again (a probe was lost, or
	// the state is malformed).
	// +optional
	Final bool `json:"final,omitempty"`
	// Message is the failure in one line: step, object, cause. While the
	// transaction runs it says what a person has to do, or why it is taken back.
	// +optional
	Message string `json:"message,omitempty"`
	// GuardedBy lists the probes that had to pass.
	// +optional
	GuardedBy []string `json:"guardedBy,omitempty"`
	// NotVerified lists what of a committed change nothing has proved, one line
	// each: what cannot be read back, and default gateways that it took away.
	// +optional
	// +listType=atomic
	NotVerified []string `json:"notVerified,omitempty"`
	// WaitingFor lists what has not passed yet in phase Probing: probes, and
	// "desired-state" (the node has what was asked for), "foreign" (nothing of
	// others is lost) and "confirm" (a person).
	// +optional
	// +listType=atomic
	WaitingFor []string `json:"waitingFor,omitempty"`
	// Differences that a rollback left behind, one line each.
	// +optional
	Differences []string `json:"differences,omitempty"`
	// Attempts that failed in a row with this desired state.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`
	// Awaits are interfaces that are not on the node: a policy that names them is
	// tried again once the node has all of them.
	// +optional
	// +listType=atomic
	Awaits []string `json:"awaits,omitempty"`
	// RetryAfter is the time of the next attempt of a hand-written state.
	// +optional
	RetryAfter *metav1.Time `json:"retryAfter,omitempty"`
}

// IsUnderWay tells whether it is told as one that runs; none at all does not.
func (t *Transaction) IsUnderWay() bool { return t != nil && t.Phase != "Idle" }

// SaysNotManaged tells whether the node's handler has said of this generation that
// nobody manages the node, and that no change is under way there.
func (s *NodeNetworkState) SaysNotManaged() bool {
	c := FindCondition(s.Status.Conditions, StateAvailable)
	return !s.Status.Transaction.IsUnderWay() && c != nil && c.Reason == ReasonNotManaged && c.ObservedGeneration == s.Generation
}

// HistoryLimit is how many transactions a node remembers.
const HistoryLimit = 10

// PastTransaction is a transaction of a node that has ended, in short.
type PastTransaction struct {
	// Ended is when it ended.
	Ended metav1.Time `json:"ended"`
	// Since is when it began; of several attempts, the first one.
	// +optional
	Since metav1.Time `json:"since,omitempty,omitzero"`
	// Policy that was changed, and its generation; empty where the desired state was
	// written by hand, a policy went, or drift was put right.
	// +optional
	Policy string `json:"policy,omitempty"`
	// +optional
	PolicyGeneration int64 `json:"policyGeneration,omitempty"`
	// Removed are policies that went.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Removed []string `json:"removed,omitempty"`
	// Corrected is what had drifted and was to be put right.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Corrected []string `json:"corrected,omitempty"`
	// Result is how it ended.
	// +kubebuilder:validation:Enum=Committed;Refused;RolledBack;RollbackIncomplete;Superseded
	Result TransactionResult `json:"result"`
	// Message is the failure in one line, shortened.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
	// Attempts that came to the same, one after the other; absent for one.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`
}

// Capabilities are what a node's kernel can do.
type Capabilities struct {
	// LinkTypes are the types of interfaces that the kernel can make, as nmstate
	// names them.
	// +optional
	// +listType=set
	LinkTypes []string `json:"linkTypes,omitempty"`
	// MissingLinkTypes are those that it cannot make. A type in neither list needs
	// a module that is not loaded: it is tried when a policy asks for it.
	// +optional
	// +listType=set
	MissingLinkTypes []string `json:"missingLinkTypes,omitempty"`
}

// NodeNetworkStateStatus is what a node is.
type NodeNetworkStateStatus struct {
	// CurrentState as last reported.
	// +optional
	CurrentState State `json:"currentState,omitempty,omitzero"`
	// Truncated says what currentState leaves out; absent where it is whole.
	// +optional
	Truncated *Truncated `json:"truncated,omitempty"`
	// LastSuccessfulUpdateTime of currentState.
	// +optional
	LastSuccessfulUpdateTime metav1.Time `json:"lastSuccessfulUpdateTime,omitempty"`
	// ObservedGeneration is the generation whose desired state was committed
	// or failed for good.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// AppliedHash is the hash of the desired state that was last committed.
	// +optional
	AppliedHash string `json:"appliedHash,omitempty"`
	// AppliedSources are the policies of the last committed desired state.
	// +optional
	AppliedSources []Source `json:"appliedSources,omitempty"`
	// Transaction that runs, or ran last. A quick one is told when it has ended.
	// +optional
	Transaction *Transaction `json:"transaction,omitempty"`
	// History are the last ten transactions that have ended, the newest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	History []PastTransaction `json:"history,omitempty"`
	// Before is what was there before policies set what they have committed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	Before []Before `json:"before,omitempty"`
	// BeforeOmitted counts the interfaces and sections that before leaves out: it takes at
	// most 64 KiB.
	// +optional
	BeforeOmitted int32 `json:"beforeOmitted,omitempty"`
	// Drift is what is not as it was brought to, at most 100 leaves.
	// +optional
	// +listType=atomic
	Drift []Drift `json:"drift,omitempty"`
	// BridgeVLANFiltering tells whether the node's kernel can filter VLANs on
	// a bridge; absent while it is not known.
	// +optional
	BridgeVLANFiltering *bool `json:"bridgeVLANFiltering,omitempty"`
	// Capabilities of the node's kernel, found out by trying.
	// +optional
	Capabilities *Capabilities `json:"capabilities,omitempty"`
	// SecretsKey is what values of Secrets are sealed with for this node: the public
	// half of a key whose other half never leaves the node's disk.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	SecretsKey string `json:"secretsKey,omitempty"`
	// HandlerVersion and HostNetworkManagerVersion are what did it.
	// +optional
	HandlerVersion string `json:"handlerVersion,omitempty"`
	// +optional
	HostNetworkManagerVersion string `json:"hostNetworkManagerVersion,omitempty"`
	// HandlerNmstateVersion is the libnmstate that the handler is linked with.
	// +optional
	HandlerNmstateVersion string `json:"handlerNmstateVersion,omitempty"`
	// HandlerNetworkManagerVersion is the NetworkManager that the handler talks
	// to: the host's, since the handler brings none of its own.
	// +optional
	HandlerNetworkManagerVersion string `json:"handlerNetworkManagerVersion,omitempty"`
	// ResolvConfManager is how the node's NetworkManager keeps /etc/resolv.conf (its
	// rc-manager). With unmanaged it leaves that file alone, and name servers of policies
	// come into it only if something else writes them there.
	// +optional
	ResolvConfManager string `json:"resolvConfManager,omitempty"`
	// NetworkManagerLimits are what the node's NetworkManager does not do and a
	// newer one does, one line each.
	// +optional
	// +listType=atomic
	NetworkManagerLimits []string `json:"networkManagerLimits,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []Condition `json:"conditions,omitempty"`
}

// NodeNetworkState is the network of the node of the same name: what it should
// be beside what it is.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:resource:path=nodenetworkstates,shortName=nns,scope=Cluster,categories=nmstate-all
// +kubebuilder:printcolumn:name="Managed",type="boolean",JSONPath=".spec.managed",description="Whether the node is changed and reported"
// +kubebuilder:printcolumn:name="Available",type="string",JSONPath=".status.conditions[?(@.type==\"Available\")].status",description="Whether the node's network is read and reported"
// +kubebuilder:printcolumn:name="Drift",type="string",JSONPath=".status.conditions[?(@.type==\"Drifted\")].status",description="Whether something is not as it was brought to"
// +kubebuilder:printcolumn:name="Failing",type="string",priority=1,JSONPath=".status.conditions[?(@.type==\"Failing\")].status",description="Whether the last enforcement failed"
// +kubebuilder:printcolumn:name="Phase",type="string",priority=1,JSONPath=".status.transaction.phase",description="Where the change that runs stands, Idle while none does"
// +kubebuilder:printcolumn:name="Changed",type="date",JSONPath=".status.lastSuccessfulUpdateTime",description="Age of the last change"
type NodeNetworkState struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec NodeNetworkStateSpec `json:"spec,omitempty"`
	// +optional
	Status NodeNetworkStateStatus `json:"status,omitempty"`
}

// NodeNetworkStateList is a list of node states.
//
// +kubebuilder:object:root=true
type NodeNetworkStateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeNetworkState `json:"items"`
}
