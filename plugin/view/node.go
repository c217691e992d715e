package view

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// Phase is how far a node is with a policy.
type Phase string

// The phases, those first that a person should see first.
const (
	// Failing: the change was refused or taken back.
	Failing Phase = "Failing"
	// Confirm: the change is applied and taken back unless a person confirms it.
	Confirm Phase = "Confirm"
	// Changing: a transaction is under way.
	Changing Phase = "Changing"
	// Soaking: configured, not for long enough yet.
	Soaking Phase = "Soaking"
	// Aborted: it never began, since the policy failed on others.
	Aborted Phase = "Aborted"
	// Pending: it has not begun.
	Pending Phase = "Pending"
	// Planned: mode Plan, and the plan is there.
	Planned Phase = "Planned"
	// Available: the node has the policy.
	Available Phase = "Available"
)

// phases in the order in which they are shown.
var phases = []Phase{Failing, Confirm, Changing, Soaking, Aborted, Pending, Planned, Available}

// Node is how a policy fares on a node.
type Node struct {
	Name  string `json:"name"`
	Phase Phase  `json:"phase"`
	// Cause is why it fails, or what it waits for, in one line.
	Cause string `json:"cause,omitempty"`
	// Slot: it holds one of the policy's slots.
	Slot bool `json:"slot,omitempty"`
	// Step of the transaction that is under way, such as Probing, and for how long it
	// has been under way.
	Step    string   `json:"step,omitempty"`
	Elapsed Duration `json:"elapsed,omitempty"`
	// Passed are the guards that have passed since the change, Out those that have not.
	Passed []string `json:"passed,omitempty"`
	Out    []string `json:"out,omitempty"`
	// ConfirmUntil is how long a person has to confirm.
	ConfirmUntil string `json:"confirmUntil,omitempty"`
	// SoakLeft is how long it still has to stay configured.
	SoakLeft Duration `json:"soakLeft,omitempty"`
	// RetryAt is when it is tried again.
	RetryAt *time.Time `json:"retryAt,omitempty"`
}

// Duration is written for people, in JSON too.
type Duration time.Duration

// String leaves out what is below a second.
func (d Duration) String() string { return time.Duration(d).Round(time.Second).String() }

// MarshalJSON writes it as String does.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// IsRunning tells whether a transaction may be under way on the enactment's node.
func IsRunning(enactment *v1.NodeNetworkConfigurationEnactment) bool {
	return v1.TrueCondition(enactment.Status.Conditions, v1.EnactmentProgressing) != nil
}

func nodeOf(policy *v1.NodeNetworkConfigurationPolicy, enactment *v1.NodeNetworkConfigurationEnactment, state *v1.NodeNetworkState, now time.Time) Node {
	n := Node{Name: enactment.Node()}
	n.readPhase(policy, enactment)
	status := &enactment.Status
	if rules := policy.Spec.Rollout; n.Phase == Available && rules != nil {
		n.SoakLeft = soakLeft(rules.SoakSeconds, enactment, now)
		if n.SoakLeft > 0 {
			n.Phase = Soaking
		}
	}
	if retry := status.Retry; n.Phase == Failing && retry != nil && retry.After != nil {
		n.RetryAt = &retry.After.Time
	}
	if state != nil {
		n.readTransaction(policy.Name, state.Status.Transaction, now)
	}
	if n.Phase == Confirm && IsConfirmed(policy) { // The node tells what it knew a moment ago.
		n.Phase, n.ConfirmUntil, n.Cause = Changing, "", "is confirmed; the node has not read that yet"
	}
	return n
}

func (n *Node) readPhase(policy *v1.NodeNetworkConfigurationPolicy, enactment *v1.NodeNetworkConfigurationEnactment) {
	conditions := enactment.Status.Conditions
	is := func(kind v1.ConditionType) *v1.Condition { return v1.TrueCondition(conditions, kind) }
	running := is(v1.EnactmentProgressing)
	reported := enactment.Status.PolicyGeneration == policy.Generation
	switch {
	case !reported && running != nil:
		n.Phase, n.Cause = Changing, "ends an older generation first"
	case !reported:
		n.Phase, n.Cause = Pending, "has not looked at this generation yet"
	case is(v1.EnactmentFailing) != nil:
		n.Phase, n.Cause = Failing, desired.CauseOf(enactment)
	case is(v1.Planned) != nil:
		n.Phase = Planned
		if plan := enactment.Status.Plan; plan != nil {
			n.Cause = string(plan.Disruption)
		}
	case is(v1.EnactmentAvailable) != nil:
		n.Phase = Available
	case running != nil:
		n.Phase = Changing
		if until := confirmation.FindStringSubmatch(running.Message); until != nil {
			n.Phase, n.ConfirmUntil = Confirm, until[1]
		}
	case is(v1.EnactmentAborted) != nil:
		n.Phase, n.Cause = Aborted, enactment.Spec.AbortedCause
	default:
		n.Phase = Pending
		if waits := is(v1.EnactmentPending); waits != nil {
			n.Cause = waits.Message
		}
	}
	// The policy's own status counts what the node was told; that it has read it follows.
	told := &enactment.Spec
	if n.Phase == Pending && told.AbortedGeneration == policy.Generation && told.ApprovedGeneration != policy.Generation {
		n.Phase, n.Cause = Aborted, told.AbortedCause
	}
}

// confirmation is what an enactment's message says while a person is waited for.
var confirmation = regexp.MustCompile(`waiting for confirmation until (\S+Z)`)

// readTransaction reads what the node tells of a change that is under way.
func (n *Node) readTransaction(policy string, t *v1.Transaction, now time.Time) {
	if !t.IsUnderWay() || t.Policy != policy || n.Phase != Changing && n.Phase != Confirm {
		return
	}
	n.Step = t.Phase
	if !t.Since.IsZero() {
		n.Elapsed = Duration(max(0, now.Sub(t.Since.Time)))
	}
	n.Out = t.WaitingFor
	for _, guard := range t.GuardedBy {
		if t.Phase == "Probing" && !slices.Contains(t.WaitingFor, guard) {
			n.Passed = append(n.Passed, guard)
		}
	}
	if n.Phase == Changing && t.Phase != "Probing" {
		n.Cause = t.Message
	}
	if until := confirmation.FindStringSubmatch(t.Message); until != nil {
		n.Phase, n.ConfirmUntil, n.Cause = Confirm, until[1], ""
	}
}

func soakLeft(seconds int32, enactment *v1.NodeNetworkConfigurationEnactment, now time.Time) Duration {
	soak := time.Duration(seconds) * time.Second
	var since time.Time
	if committed := enactment.Status.Committed; committed != nil && !committed.Since.IsZero() {
		since = committed.Since.Time
	} else if is := v1.TrueCondition(enactment.Status.Conditions, v1.EnactmentAvailable); is != nil {
		since = is.LastTransitionTime.Time
	}
	return Duration(min(soak, max(0, soak-now.Sub(since))))
}

// says is what stands behind the phase, in one line.
func (n Node) says(policy string) string {
	var parts []string
	switch n.Phase {
	case Confirm:
		parts = append(parts, "taken back at "+n.ConfirmUntil+" unless somebody confirms: kubectl nmstate confirm "+policy)
	case Soaking:
		parts = append(parts, "counts as done in "+n.SoakLeft.String())
	case Changing:
		if n.Step != "" {
			parts = append(parts, n.Step+" for "+n.Elapsed.String())
		}
	}
	if n.Cause != "" {
		parts = append(parts, n.Cause)
	}
	if len(n.Passed) > 0 {
		parts = append(parts, "passed: "+strings.Join(n.Passed, ", "))
	}
	if out := n.Out; len(out) > 0 && n.Phase == Changing {
		parts = append(parts, "out: "+strings.Join(out, ", "))
	}
	if n.RetryAt != nil {
		parts = append(parts, "tried again at "+n.RetryAt.UTC().Format("15:04:05Z"))
	}
	return strings.Join(parts, "; ")
}

// important puts the nodes first that a person should see first.
func important(nodes []Node) []Node {
	sorted := slices.Clone(nodes)
	slices.SortStableFunc(sorted, func(a, b Node) int {
		return cmp.Compare(slices.Index(phases, a.Phase), slices.Index(phases, b.Phase))
	})
	return sorted
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (d *Duration) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	read, err := time.ParseDuration(text)
	*d = Duration(read)
	return err
}
