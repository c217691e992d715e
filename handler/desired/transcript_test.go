package desired

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/golden"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// TestTranscripts plays testdata/*.txt: commands, then "----" and what was
// decided. Commands are those of world.command below.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			golden.Assert(t, play(t, string(raw)), filepath.Base(file))
		})
	}
}

func play(t *testing.T, script string) string {
	w := newWorld(t)
	var out strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(script), "\n\n") {
		commands, _, _ := strings.Cut(block, "\n----")
		out.WriteString(commands + "\n----\n")
		for line := range strings.Lines(commands) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				w.command(line)
			}
		}
		out.WriteString(w.settle() + "\n")
	}
	return out.String()
}

// settle decides until there is nothing to do, and tells what was decided.
func (w *world) settle() string {
	var out strings.Builder
	for range 5 {
		d := w.decide()
		for _, s := range d.Statuses {
			fmt.Fprintf(&out, "status %s: %s\n", strings.TrimPrefix(s.Name, node+"."), standing(s.Status))
		}
		if d.Spec != nil {
			fmt.Fprintf(&out, "spec %s\n", specLine(d.Spec))
		}
		if d.Overruled {
			fmt.Fprintf(&out, "overruled\n")
		}
		if d.Confirm != 0 {
			fmt.Fprintf(&out, "confirm generation %d of the state\n", d.Confirm)
		}
		for _, e := range d.Create {
			fmt.Fprintf(&out, "create %s\n", e.Name)
		}
		for _, name := range d.Delete {
			fmt.Fprintf(&out, "delete %s\n", name)
		}
		for _, e := range d.TakeOver {
			fmt.Fprintf(&out, "replace %s %v\n", e.Name, e.Annotations)
		}
		for _, e := range d.Events {
			fmt.Fprintf(&out, "event %s %s: %s\n", e.Policy, e.Reason, e.Message)
		}
		if d.Empty() {
			if d.RequeueAfter > 0 {
				fmt.Fprintf(&out, "again in %s\n", d.RequeueAfter.Round(time.Second))
			}
			return out.String()
		}
		w.write(d, 1000)
	}
	w.t.Errorf("still something to do:\n%s", out.String())
	return out.String()
}

func specLine(spec *Spec) string {
	var sources []string
	for _, s := range spec.Sources {
		source := fmt.Sprintf("%s@g%d", s.Policy, s.Generation)
		for _, setting := range []string{s.OnDelete, s.Drift} {
			if setting != "" {
				source += "," + setting
			}
		}
		sources = append(sources, source)
	}
	line := fmt.Sprintf("%v", sources)
	if spec.Policy != "" {
		line += " changes " + spec.Policy
	}
	if spec.TakeOver {
		line += " taken over"
	}
	if spec.ProbeTimeoutSeconds != nil {
		line += fmt.Sprintf(" window %ds", *spec.ProbeTimeoutSeconds)
	}
	for _, p := range spec.Probes {
		line += fmt.Sprintf(" probe %s %s", p.Type, p.Target)
	}
	if spec.DefaultProbes != "" {
		line += " defaults " + spec.DefaultProbes
	}
	return line + " " + string(spec.DesiredState.Raw)
}

func (w *world) command(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	name, argument, _ := strings.Cut(rest, " ")
	switch verb {
	case "policy": // NAME STATE
		w.policy(name, argument, 0)
	case "priority": // NAME N STATE
		number, text, _ := strings.Cut(argument, " ")
		var priority int32
		fmt.Sscan(number, &priority)
		w.policy(name, text, priority)
	case "window": // NAME SECONDS
		var seconds int32
		fmt.Sscan(argument, &seconds)
		w.policies[name].ProbeTimeoutSeconds = &seconds
	case "broken": // NAME MESSAGE
		w.policy(name, "{}", 0)
		w.policies[name].Rendering, w.policies[name].Err = Rendering{}, fmt.Errorf("%s", argument)
	case "touch": // NAME: a new generation that says the same
		w.policies[name].Generation++
	case "delete":
		w.remove(name)
	case "deselect":
		w.deselected[name] = true
	case "select":
		w.deselected[name] = false
	case "approve":
		w.approve(name)
	case "leave": // NAME: the rollout controller lets it leave the node
		w.leave(name)
	case "abort":
		w.abort(name)
	case "settle":
	case "crash": // N: the handler dies after N writes of its next decision
		var most int
		fmt.Sscan(name, &most)
		w.write(w.decide(), most)
	case "sleep": // DURATION
		d, err := time.ParseDuration(rest)
		if err != nil {
			w.t.Fatal(err)
		}
		w.now = w.now.Add(d)
	default:
		w.policyCommand(verb, name, argument)
	}
}

// policyCommand changes one setting of a policy.
func (w *world) policyCommand(verb, name, argument string) {
	p := w.policies[name]
	switch verb {
	case "on-delete": // NAME Retain|Revert
		p.OnDelete = argument
		p.Generation++
	case "drift": // NAME Correct|Report
		p.Drift = argument
		p.Generation++
	case "ping": // NAME TARGET: with no other probes
		p.Probes = append(p.Probes, v1.Probe{Type: v1.ProbePing, Target: argument})
		p.DefaultProbes = "Drop"
	case "variable": // NAME STATE: it comes out differently on the node
		w.rendered(name, argument)
	case "mode": // NAME Plan|Apply
		p.Mode = argument
		p.Generation++
	case "plan-of": // NAME POLICY: it is planned in the place of that one
		p.PlanOf = argument
	case "pin": // NAME HASHES, or nothing
		p.PlanHashes = strings.Fields(argument)
		p.Generation++
	case "report": // STATE: what the node reports
		w.state.Status.CurrentState = v1.NewState(stateOf(w.t, strings.TrimSpace(name+" "+argument)).JSON())
	case "ask": // NAME: a person has to confirm
		p.Probes = append(p.Probes, v1.Probe{Type: v1.ProbeConfirm})
		p.Generation++
	case "await-report": // NAME: how it comes out is not known yet
		p.Waiting = "Waiting for the first report"
	case "reported": // NAME
		p.Waiting = ""
	case "older": // NAME STATE: the older project has it on the node
		w.older(name, argument, v1.EnactmentAvailable)
	case "older-failing": // NAME STATE: and could not configure it
		w.older(name, argument, v1.EnactmentFailing)
	case "confirm": // NAME
		p.Confirmed = p.Generation
	case "approve-hash":
		w.enactment(name).Spec.ApprovedHash = p.Hash
		w.enactment(name).Generation++
	default:
		w.stateCommand(verb, strings.TrimSpace(name+" "+argument))
	}
}

func (w *world) stateCommand(verb, rest string) {
	switch verb {
	case "begin":
		w.handle("Probing", "", false, "")
	case "wait-for": // MESSAGE
		w.handle("Probing", "", false, rest)
	case "stand-by": // MESSAGE: it has not begun
		w.handle(v1.PhaseWaiting, "", false, rest)
	case "commit":
		w.handle("Idle", v1.TransactionCommitted, false, "")
		w.state.Status.Conditions = slices.DeleteFunc(w.state.Status.Conditions, func(c v1.Condition) bool { return c.Type == v1.StateFailing })
	case "take-over": // The state handler finds that the node has it already.
		w.handle("Idle", v1.TransactionCommitted, false, "taken over")
		w.state.Status.Transaction.GuardedBy = nil
	case "give-up": // MESSAGE: a removal failed for good, and what was there stays
		w.handle("Idle", v1.TransactionCommitted, false, "")
		w.state.Status.Conditions = []v1.Condition{{Type: v1.StateFailing, Status: yes, Message: rest}}
	case "refuse":
		w.handle("Idle", v1.TransactionRefused, false, rest)
	case "miss": // NAME MESSAGE: the node does not have the interface
		name, message, _ := strings.Cut(rest, " ")
		w.handle("Idle", v1.TransactionRefused, false, message)
		w.state.Status.Transaction.Awaits = []string{name}
	case "malformed":
		w.handle("Idle", v1.TransactionRefused, true, rest)
	case "fail":
		w.handle("Idle", v1.TransactionRolledBack, false, rest)
	case "retry": // MESSAGE: a removal failed, which the state handler tries again
		attempts := int32(1)
		if last := w.state.Status.Transaction; last.Generation == w.state.Generation {
			attempts += last.Attempts
		}
		w.handle("Idle", v1.TransactionRolledBack, false, rest)
		w.state.Status.Transaction.Attempts = attempts
		w.state.Status.ObservedGeneration = w.state.Generation
		w.state.Status.Transaction.RetryAfter = &metav1.Time{Time: w.now.Add(time.Second)}
		w.state.Status.Conditions = []v1.Condition{{Type: v1.StateFailing, Status: yes, Message: rest}}
	case "lose":
		w.handle("Idle", v1.TransactionRolledBack, true, rest)
	case "lose-late": // NAME MESSAGE: its change was begun, and is not in the spec any more
		last := w.state.Status.Transaction
		last.Policy, last.Message, _ = strings.Cut(rest, " ")
		last.Phase, last.Result, last.Final = "Idle", v1.TransactionRolledBack, true
		w.state.Status.ObservedGeneration = w.state.Generation
	case "wreck":
		w.handle("Idle", v1.TransactionRollbackIncomplete, false, rest)
	case "supersede":
		w.handle("Idle", v1.TransactionSuperseded, false, rest)
	case "managed":
		is := rest == "true"
		w.state.Spec.Managed = &is
		w.state.Generation++
	case "aside": // The state handler says that nobody manages the node.
		w.sayNotManaged()
	case "by-hand": // STATE: somebody writes spec.desiredState
		w.state.Spec.DesiredState = v1.NewState(stateOf(w.t, rest).JSON())
		w.state.Generation++
	case "lose-enactments":
		clear(w.enactments)
	case "no-state":
		w.state = nil
	default:
		w.t.Fatalf("unknown command %q", verb)
	}
}
