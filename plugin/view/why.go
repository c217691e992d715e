package view

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// Failure is how a policy failed on a node.
type Failure struct {
	Policy string `json:"policy"`
	Node   string `json:"node"`
	// Step of the change in which it failed; checking is before anything is tried.
	Step string `json:"step"`
	// Evidence is what the node says: step, object, cause.
	Evidence string `json:"evidence"`
	// Guards had to pass after the change.
	Guards []string `json:"guards,omitempty"`
	// Did is what the node did about it.
	Did string `json:"did"`
	// Left are differences that a rollback left behind.
	Left []string `json:"left,omitempty"`
	// Again is when it is tried again.
	Again string `json:"again"`
	// ToDo is what a person can do.
	ToDo string `json:"toDo"`
}

// Failures are those among the enactments, by policy and node.
func Failures(enactments []v1.NodeNetworkConfigurationEnactment) []Failure {
	found := []Failure{}
	for i := range enactments {
		if cause := desired.CauseOf(&enactments[i]); cause != "" {
			found = append(found, failureOf(&enactments[i], cause))
		}
	}
	slices.SortFunc(found, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Node, b.Node))
	})
	return found
}

const checking = "checking"

// stepOfMessage is how a failure's message begins.
var stepOfMessage = regexp.MustCompile(`^(arming|applying|probing|committing)( for \S+)?: `)

func failureOf(enactment *v1.NodeNetworkConfigurationEnactment, cause string) Failure {
	status := &enactment.Status
	f := Failure{Policy: enactment.Policy(), Node: enactment.Node(), Step: checking, Evidence: cause, Guards: status.GuardedBy}
	if found := stepOfMessage.FindStringSubmatch(cause); found != nil {
		f.Step = found[1]
	}
	switch {
	case status.Rollback == nil && (f.Step == checking || f.Step == "arming"):
		f.Did = "it changed nothing"
	case status.Rollback == nil:
		f.Did = "it does not say"
	case status.Rollback.Result == string(v1.TransactionRollbackIncomplete):
		f.Did, f.Left = "it took the change back, and not everything is as before", status.Rollback.Differences
	default:
		f.Did = "it took the change back, everything is as before"
	}
	f.Again = again(status.Retry)
	f.ToDo = toDo(f)
	return f
}

func again(retry *v1.EnactmentRetry) string {
	switch {
	case retry != nil && len(retry.Awaits) > 0:
		return "once the node has " + strings.Join(retry.Awaits, ", ")
	case retry != nil && retry.After != nil:
		return fmt.Sprintf("at %s, by itself; attempts that failed: %d", retry.After.UTC().Format("15:04:05Z"), retry.Attempts)
	}
	return "not by itself: an edit of the policy is a new try"
}

// advice is what to do about a failure whose evidence has these words.
var advice = []struct{ words, toDo string }{
	{"is not one of spec.planHashes", "look at status.plan of the enactment, then pin its hash or correct the node"},
	{"conflicts with policy", "let one of the two policies set it, or give the right one a higher spec.priority"},
	{"and a controller share it", "move the pods that use the NIC off the node, or give them the bridge instead"},
	{"belongs to another owner", "leave the interface out of the policy"},
	{"it is tried again once it is there", "correct the name, or bring the interface onto the node"},
	{"cannot make interfaces of type", "give the node a kernel or module that can, or leave it out of the policy"},
	{"unknown key", "correct the policy; kubectl nmstate lint finds it before it is applied"},
	{"expected ", "correct the policy; kubectl nmstate lint finds it before it is applied"},
	{"reading the node's network back", "give the policy a longer spec.probeTimeoutSeconds"},
	{"default-gateway", "correct the route; if that gateway answers no ping, use spec.defaultProbes: Drop with probes of your own"},
	{"NetworkManager has it", "journalctl -u NetworkManager on the node says why"},
	{"confirm", "kubectl nmstate confirm, in time, once the policy is edited"},
}

func toDo(f Failure) string {
	if len(f.Left) > 0 {
		return "mend by hand what is left, then edit the policy"
	}
	for _, one := range advice {
		if strings.Contains(f.Evidence, one.words) {
			return one.toDo
		}
	}
	if f.Step == "probing" {
		return "what the probe asks for has to work with the change: correct the policy, or the probe"
	}
	return "read the evidence, and correct the policy or the node"
}

// Lines tell a failure to a person.
func (f Failure) Lines(paint Paint) []string {
	lines := []string{fmt.Sprintf("%s on %s  %s  step %s", f.Policy, f.Node, paint(Bad, string(Failing)), f.Step)}
	add := func(what, says string) {
		if says != "" {
			lines = append(lines, "  "+paint(Faint, pad(what, 10))+says)
		}
	}
	add("evidence", f.Evidence)
	add("guards", strings.Join(f.Guards, ", "))
	add("the node", f.Did)
	for _, left := range f.Left {
		add("left", left)
	}
	add("again", f.Again)
	add("to do", f.ToDo)
	return lines
}
