package sweep

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/sim/scenario"
)

// End is what there is when everything has come to its end.
type End struct {
	// Picture in the form of sim/scenario.
	Picture string
	// Lost are the enactments, "node.policy", whose change was taken back since a
	// guard had no answer in its time.
	Lost map[string]bool
}

// same tells how an end differs from the one without a fault, unless it may.
//
// One thing may: whether a guard of a policy had its answer in time on a node.
// Where it had none that is final for the policy's generation there (design §2,
// rule 5), and whoever keeps the handler from asking, or the person from being
// asked, brings it about. A policy that turns on that one (Turns) may end otherwise
// on that node too. The other way round, a probe that fails before the change is no
// guard of it, and a change that is tried at another time may find what the
// scenario had taken away. The rollout stops there or goes on, so that other nodes
// may be Aborted or not. That a commit had its guards, and that what was
// taken back is as it was before, is for the rules.
func same(want, got End, turns map[string]string) error {
	if want.Picture == got.Picture {
		return nil
	}
	// A device that was activated once more has another metric.
	want.Picture, got.Picture = inOrder(want.Picture), inOrder(got.Picture)
	policies, nodes := map[string]bool{}, map[string]bool{}
	for name := range union(want.Lost, got.Lost) {
		if node, policy, _ := strings.Cut(name, "."); want.Lost[name] != got.Lost[name] {
			policies[policy], nodes[node] = true, true
		}
	}
	for line := range strings.Lines(want.Picture + got.Picture) {
		if name, is := strings.CutPrefix(line, "enactment "); is && strings.Contains(line, ": "+string(v1.EnactmentAborted)) {
			node, policy, _ := strings.Cut(name[:strings.Index(name, ":")], ".")
			if policies[policy] {
				nodes[node] = true
			}
		}
	}
	for policy, on := range turns {
		policies[policy] = policies[policy] || policies[on]
	}
	may := func(line string) bool {
		words := strings.Fields(line)
		subject := strings.TrimSuffix(words[1], ":")
		switch words[0] {
		case "policy":
			return policies[subject]
		case "enactment":
			node, policy, _ := strings.Cut(subject, ".")
			return policies[policy] && nodes[node]
		}
		return nodes[strings.TrimSuffix(words[0], ":")]
	}
	if lines := slices.DeleteFunc(difference(want.Picture, got.Picture), func(line string) bool { return may(line[2:]) }); len(lines) > 0 {
		return errors.New("another end: " + strings.Join(lines, "; "))
	}
	return nil
}

func union(a, b map[string]bool) map[string]bool {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]bool{}
	}
	maps.Copy(all, b)
	return all
}

// difference has the lines that only one of two pictures has.
func difference(want, got string) []string {
	a, b := strings.Split(strings.TrimSpace(want), "\n"), strings.Split(strings.TrimSpace(got), "\n")
	var lines []string
	for _, line := range a {
		if !slices.Contains(b, line) {
			lines = append(lines, "- "+line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			lines = append(lines, "+ "+line)
		}
	}
	return lines
}

// isLost tells by its message whether a change was taken back since a guard had
// no answer in its time: a probe, or a person, who is asked once by a scenario and
// is not there for the second try.
func isLost(message string) bool {
	return strings.HasPrefix(message, "probing for ") || strings.HasPrefix(message, "not confirmed within ") ||
		strings.Contains(message, "as once before: it is not tried again")
}

// lost are the enactments that say so.
func (r *run) lost() map[string]bool {
	names := map[string]bool{}
	r.cluster.API.Each(&v1.NodeNetworkConfigurationEnactment{}, func(o client.Object) {
		e := o.(*v1.NodeNetworkConfigurationEnactment)
		if c := v1.TrueCondition(e.Status.Conditions, v1.EnactmentFailing); c != nil && isLost(c.Message) {
			names[e.Name] = true
		}
	})
	return names
}

// String is for a person.
func (e End) String() string {
	text := e.Picture
	if len(e.Lost) > 0 {
		text += fmt.Sprintf("lost probes: %d\n", len(e.Lost))
	}
	return text
}

func inOrder(picture string) string {
	return scenario.InOrder(strings.TrimSuffix(picture, "\n")) + "\n"
}
