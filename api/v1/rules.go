package v1

import "slices"

// InterfaceRule selects interfaces of a node: all of its fields must hold.
//
// +kubebuilder:validation:XValidation:rule="has(self.name) || has(self.type) || has(self.driver) || has(self.macAddress) || has(self.state) || has(self.vlanID) || has(self.lldp)",message="spec.match: a rule needs at least one of name, type, driver, macAddress, state, vlanID and lldp"
type InterfaceRule struct {
	// Name is a glob: "eth*", "ens[1-4]f0".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`
	// Type is nmstate's type: ethernet, bond, vlan and so on.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Type string `json:"type,omitempty"`
	// Driver of the device, as the kernel names it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Driver string `json:"driver,omitempty"`
	// MACAddress is the permanent address where there is one, otherwise the
	// present one; in any case of letters.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	MACAddress string `json:"macAddress,omitempty"`
	// State is nmstate's state: up, down or ignore.
	// +optional
	// +kubebuilder:validation:Enum=up;down;ignore
	State string `json:"state,omitempty"`
	// VLANID of a VLAN interface.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4094
	VLANID *int32 `json:"vlanID,omitempty"`
	// LLDP is what a neighbour of the interface announces.
	// +optional
	LLDP *LLDPRule `json:"lldp,omitempty"`
}

// LLDPRule selects interfaces by an LLDP neighbour: all of its fields must
// hold for one neighbour.
//
// +kubebuilder:validation:XValidation:rule="has(self.chassisID) || has(self.systemName) || has(self.portID) || has(self.vlanIDs)",message="spec.match: lldp needs at least one of chassisID, systemName, portID and vlanIDs"
type LLDPRule struct {
	// ChassisID of the neighbour.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ChassisID string `json:"chassisID,omitempty"`
	// SystemName is a glob.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	SystemName string `json:"systemName,omitempty"`
	// PortID of the neighbour's port.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	PortID string `json:"portID,omitempty"`
	// VLANIDs must all be announced.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4094
	VLANIDs []int32 `json:"vlanIDs,omitempty"`
}

// AutoConfig makes a configuration from LLDP announcements.
//
// +kubebuilder:validation:XValidation:rule="has(self.bonding) || has(self.vlan)",message="spec.autoConfig: needs bonding, vlan, or both"
type AutoConfig struct {
	// Bonding makes one bond of the interfaces that lead to the same switch
	// chassis.
	// +optional
	Bonding *AutoBonding `json:"bonding,omitempty"`
	// VLAN makes one VLAN interface for each announced VLAN id: on the bonds,
	// or without bonding on the interfaces themselves.
	// +optional
	VLAN *AutoVLAN `json:"vlan,omitempty"`
}

// AutoBonding is how bonds are made.
type AutoBonding struct {
	// Mode of the bonds. The default needs nothing of the switch.
	// +optional
	// +kubebuilder:default=active-backup
	// +kubebuilder:validation:Enum={"balance-rr","active-backup","balance-xor","broadcast","802.3ad","balance-tlb","balance-alb"}
	Mode string `json:"mode,omitempty"`
	// NamePrefix of the bonds, which are numbered from 0 in the order of the
	// chassis ids.
	// +optional
	// +kubebuilder:default=bond
	// +kubebuilder:validation:MaxLength=12
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z][a-zA-Z0-9_-]*$')",message="spec.autoConfig.bonding.namePrefix: letters, digits, '-' and '_', beginning with a letter, since it begins the name of an interface"
	NamePrefix string `json:"namePrefix,omitempty"`
}

// AutoVLAN has no settings yet.
type AutoVLAN struct{}

// Variable is where a variable's value on a node comes from: exactly one of
// the sources, and a default for nodes that have none.
//
// +kubebuilder:validation:XValidation:rule="(has(self.fromLabel) ? 1 : 0) + (has(self.fromAnnotation) ? 1 : 0) + (has(self.values) ? 1 : 0) == 1",message="spec.variables: each needs exactly one of fromLabel, fromAnnotation and values"
type Variable struct {
	// FromLabel is the key of a label of the Node.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	FromLabel string `json:"fromLabel,omitempty"`
	// FromAnnotation is the key of an annotation of the Node.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	FromAnnotation string `json:"fromAnnotation,omitempty"`
	// Values by node name.
	// +optional
	Values map[string]string `json:"values,omitempty"`
	// Default is the value on a node for which the source has none; without it
	// the policy cannot be rendered there.
	// +optional
	Default *string `json:"default,omitempty"`
}

// Rollout is how nodes get a policy step by step.
//
// +kubebuilder:validation:XValidation:rule="!has(self.pauseAfterCanary) || !self.pauseAfterCanary || has(self.canary)",message="spec.rollout.pauseAfterCanary: needs canary, the number of nodes that go first"
type Rollout struct {
	// Canary nodes go first. Only when all of them are configured, and have
	// been for soakSeconds, do others follow; if one fails, none does.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Canary *int32 `json:"canary,omitempty"`
	// PauseAfterCanary waits, after the canary nodes, until it is removed.
	// +optional
	PauseAfterCanary bool `json:"pauseAfterCanary,omitempty"`
	// Paused: no further node begins.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// SoakSeconds is how long a node must have been configured until it counts
	// as done, so that the next one may begin.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	SoakSeconds int32 `json:"soakSeconds,omitempty"`
}

// ProbeType is what a Probe does.
type ProbeType string

// The types of probes.
const (
	// ProbePing: the target, an address or a host name, answers a ping.
	ProbePing ProbeType = "ping"
	// ProbeDNS: the node's name servers resolve the target, a host name.
	ProbeDNS ProbeType = "dns"
	// ProbeTCP: the target, host:port, accepts a connection.
	ProbeTCP ProbeType = "tcp"
	// ProbeHTTP: the target, a URL, answers a GET with a status below 400, and
	// https with a certificate that holds. Redirects are not followed.
	ProbeHTTP ProbeType = "http"
	// ProbeConfirm: a person confirms that the node works.
	ProbeConfirm ProbeType = "confirm"
)

// Probe is one condition for keeping a change.
//
// +kubebuilder:validation:XValidation:rule="self.type == 'confirm' ? !has(self.target) : has(self.target)",message="spec.probes: target is required, except for confirm, which has none"
// +kubebuilder:validation:XValidation:rule="!(self.type in ['ping', 'dns']) || !has(self.target) || self.target.contains('{{') || self.target.matches('^[0-9A-Za-z:._%-]+$')",message="spec.probes: the target of ping is an address or a host name, that of dns a host name"
// +kubebuilder:validation:XValidation:rule="self.type != 'tcp' || !has(self.target) || self.target.contains('{{') || self.target.matches('^.+:[0-9]{1,5}$')",message="spec.probes: the target of tcp is host:port, such as 192.0.2.1:443"
// +kubebuilder:validation:XValidation:rule="self.type != 'http' || !has(self.target) || self.target.contains('{{') || self.target.matches('^https?://.+')",message="spec.probes: the target of http is a URL that begins with http:// or https://"
type Probe struct {
	// Type is what must work: ping, dns, tcp, http, or confirm, which waits for
	// a person.
	// +kubebuilder:validation:Enum=ping;dns;tcp;http;confirm
	Type ProbeType `json:"type"`
	// Target is an address or host name (ping), a host name (dns), host:port
	// (tcp) or a URL (http).
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Target string `json:"target,omitempty"`
	// TimeoutSeconds is how long after the apply it may take to pass; without
	// it probeTimeoutSeconds. For confirm it is how long a person has, once all
	// other probes passed.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1800
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`
	// IntervalSeconds between two tries, without it half a second.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=300
	IntervalSeconds *int32 `json:"intervalSeconds,omitempty"`
}

// ConfirmAnnotation confirms a change that a probe of type confirm guards: on
// a policy, its generation confirms that generation on every node; on a
// NodeNetworkState, its generation confirms what runs on that node.
const ConfirmAnnotation = "nmstate.io/confirm"

// PlanOfAnnotation, on a policy in mode Plan, names the policy in whose place it is
// planned, as if that one were edited to say what this one says. It has no meaning in
// mode Apply.
const PlanOfAnnotation = "nmstate.io/plan-of"

// Disruption is what a change does to an interface, or on top of it.
type Disruption string

// The classes of disruption, from the least to the worst.
const (
	// DisruptionNone: nothing changes.
	DisruptionNone Disruption = "None"
	// DisruptionReapply: settings change while the link stays up.
	DisruptionReapply Disruption = "Reapply"
	// DisruptionLinkFlap: the link goes down and comes back, or becomes
	// another's port.
	DisruptionLinkFlap Disruption = "LinkFlap"
	// DisruptionAddressLoss: an address or the whole interface goes.
	DisruptionAddressLoss Disruption = "AddressLoss"
	// DisruptionConnectivityRisk: a default route depends on what changes.
	DisruptionConnectivityRisk Disruption = "ConnectivityRisk"
)

// Severity orders the classes: 0 is the least. One that is not known might be the worst.
func (d Disruption) Severity() int {
	classes := []Disruption{DisruptionNone, DisruptionReapply, DisruptionLinkFlap, DisruptionAddressLoss, DisruptionConnectivityRisk}
	if i := slices.Index(classes, d); i >= 0 {
		return i
	}
	return len(classes)
}
