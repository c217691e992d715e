package oracle

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// selection: where a policy is Available on a node, it configures every interface there
// that spec.match selects, also one that came after the policy. What the node's policies
// make is left out.
type selection struct{}

func (selection) Name() string { return "selection" }

func (selection) Observe(*Facts, Event) error { return nil }

func (selection) AtRest(f *Facts) error {
	var lines []string
	f.Each(&v1.NodeNetworkConfigurationPolicy{}, func(o client.Object) {
		p := o.(*v1.NodeNetworkConfigurationPolicy)
		if len(p.Spec.Match) == 0 || len(p.Spec.Capture) > 0 {
			return
		}
		f.Each(&corev1.Node{}, func(o client.Object) {
			if left := f.leftOut(p, o.GetName()); len(left) > 0 {
				lines = append(lines, fmt.Sprintf("policy %s: %s of node %s matches and is left out", p.Name, strings.Join(left, ", "), o.GetName()))
			}
		})
	})
	if len(lines) > 0 {
		return fmt.Errorf("not configured: %s", strings.Join(lines, "; "))
	}
	return nil
}

// leftOut are the interfaces that the policy selects on the node and does not configure.
func (f *Facts) leftOut(p *v1.NodeNetworkConfigurationPolicy, node string) []string {
	e, nns := f.enactment(node, p.Name), f.state(node)
	if e == nil || nns == nil || !f.selects(p, node) || !f.Has(node) || !f.HasPod(node) || f.IsTaken(node) || f.isAway(node) || !ownedBy(e, p) ||
		e.Status.PolicyGeneration != p.Generation || !conditionIs(e.Status.Conditions, v1.EnactmentAvailable) {
		return nil
	}
	left, err := desired.Joined(p.Spec.Match, f.Network(node), parsed(nns.Spec.DesiredState.Raw), e.Status.MatchedInterfaces,
		desired.DefaultProtected(), p.Spec.AutoConfig != nil)
	if err != nil || f.isSilent(p, node, slices.Concat(e.Status.MatchedInterfaces, left)) {
		return nil // The enactment says so, or it waits for those that it has.
	}
	return left
}

// isSilent tells of a policy that is made of what neighbours announce, where one of the
// interfaces has none now: none leaves a policy, so nothing can be made of them all.
func (f *Facts) isSilent(p *v1.NodeNetworkConfigurationPolicy, node string, matched []string) bool {
	if p.Spec.AutoConfig == nil {
		return false
	}
	_, waiting, err := desired.AutoConfigure(*p.Spec.AutoConfig, f.Network(node), matched)
	return err != nil || waiting != ""
}
