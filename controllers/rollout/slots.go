package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// phase is how far a node is with the policy's generation, see doc.go.
type phase int

const (
	waiting phase = iota
	working
	available
	failing
	aborted
)

func (p phase) String() string {
	return [...]string{"waiting", "progressing", "available", "failing", "aborted"}[p]
}

// place is a node's place in the rollout.
type place struct {
	Node
	// enacted: the node has an enactment, and it is of this very policy, not
	// of a deleted one of the same name.
	enacted bool
	phase   phase
	// approved for the policy's generation.
	approved bool
	// changing: a transaction may be open on the node that no slot of this
	// generation stands for: an older one, or the node no longer matches.
	changing bool
}

// holds a slot of the policy's generation.
func (p place) holds() bool { return p.Matches && p.approved && p.phase != available }

// occupies one of the slots, of this generation or of an older one.
func (p place) occupies() bool { return p.holds() || p.changing }

// ignored: the rollout does not wait for the node. Once it has begun, or
// failed, it is no longer left out, whatever the node's condition tells: a
// policy is not finished while a node is in the middle of it.
func (p place) ignored() bool { return p.Matches && !p.Ready && !p.holds() && p.phase != failing }

func (p place) absent() bool { return p.Matches && p.Ready && !p.enacted }

func (p place) mayBeWritten() bool { return p.Matches && p.enacted }

func isFailing(p place) bool { return p.Matches && p.phase == failing }

func isAborted(p place) bool { return p.Matches && p.phase == aborted }

// placesOf puts nodes and enactments together, in the order of the names. An
// enactment without a node in the input is of a deleted node: it has no place.
func placesOf(in Input) []place {
	enactments := make(map[string]*v1.NodeNetworkConfigurationEnactment, len(in.Enactments))
	for i := range in.Enactments {
		enactments[nodeOf(&in.Enactments[i], in.Policy)] = &in.Enactments[i]
	}
	places := make([]place, len(in.Nodes))
	for i, node := range in.Nodes {
		places[i].Node = node
		if enactment, found := enactments[node.Name]; found {
			places[i].read(enactment, in.Policy)
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.Name, b.Name) })
	return places
}

// nodeOf reads the node from the enactment's name: a label value would be too
// short for some node names.
func nodeOf(enactment *v1.NodeNetworkConfigurationEnactment, policy *v1.NodeNetworkConfigurationPolicy) string {
	return strings.TrimSuffix(enactment.Name, "."+policy.Name)
}

func (p *place) read(enactment *v1.NodeNetworkConfigurationEnactment, policy *v1.NodeNetworkConfigurationPolicy) {
	p.enacted = ownedBy(enactment, policy)
	p.changing = mayBeChanging(enactment)
	if !p.enacted {
		return
	}
	generation := policy.Generation
	p.approved = enactment.Spec.ApprovedGeneration == generation
	reported := enactment.Status.PolicyGeneration == generation
	switch {
	case reported && isTrue(enactment, v1.EnactmentAvailable):
		p.phase = available
	case reported && isTrue(enactment, v1.EnactmentFailing):
		p.phase = failing
	case p.approved:
		p.phase = working
	case enactment.Spec.AbortedGeneration == generation:
		p.phase = aborted
	}
	// What this generation does is told by its slot, where the node has one.
	p.changing = p.changing && !(p.approved && p.Matches)
}

// mayBeChanging tells whether a transaction that the enactment allowed may be
// open on the node: it shows Progressing, or does not yet tell how what was
// approved last has ended.
func mayBeChanging(enactment *v1.NodeNetworkConfigurationEnactment) bool {
	approved, reported := enactment.Spec.ApprovedGeneration, enactment.Status.PolicyGeneration
	switch {
	case isTrue(enactment, v1.EnactmentProgressing):
		return true
	case approved == 0 || reported > approved:
		return false
	case reported < approved:
		return true
	}
	return !isTrue(enactment, v1.EnactmentAvailable) && !isTrue(enactment, v1.EnactmentFailing) &&
		!isTrue(enactment, v1.EnactmentAborted)
}

// ownedBy tells an enactment of this policy from one of a deleted policy that
// had the same name and is not collected yet.
func ownedBy(enactment *v1.NodeNetworkConfigurationEnactment, policy *v1.NodeNetworkConfigurationPolicy) bool {
	for _, owner := range enactment.OwnerReferences {
		if owner.Kind == "NodeNetworkConfigurationPolicy" {
			return owner.UID == policy.UID
		}
	}
	return true
}

func isTrue(enactment *v1.NodeNetworkConfigurationEnactment, conditionType v1.ConditionType) bool {
	for i := range enactment.Status.Conditions {
		if enactment.Status.Conditions[i].Type == conditionType {
			return enactment.Status.Conditions[i].Status == metav1.ConditionTrue
		}
	}
	return false
}

// newerThanPolicy names an enactment that tells of a newer generation than the
// policy as it was read, empty if there is none.
func newerThanPolicy(in Input) string {
	for i := range in.Enactments {
		enactment := &in.Enactments[i]
		newest := max(enactment.Spec.ApprovedGeneration, enactment.Spec.AbortedGeneration, enactment.Status.PolicyGeneration)
		if newest > in.Policy.Generation && ownedBy(enactment, in.Policy) {
			return enactment.Name
		}
	}
	return ""
}

// maxUnavailable is how many of the matching nodes may be changing at once, at
// least 1. The same values are refused as by the CRD, since a policy may have
// been stored before the CRD refused them.
func maxUnavailable(policy *v1.NodeNetworkConfigurationPolicy, matching int) (int, error) {
	value := intstr.FromString("50%")
	if policy.Spec.MaxUnavailable != nil {
		value = *policy.Spec.MaxUnavailable
	}
	share, err := intstr.GetScaledValueFromIntOrPercent(&value, 100, true)
	if err != nil || share < 1 || (value.Type == intstr.String && share > 100) {
		return 0, fmt.Errorf("spec.maxUnavailable: %q must be a whole number from 1, or a percentage from \"1%%\" to \"100%%\"",
			value.String())
	}
	limit, err := intstr.GetScaledValueFromIntOrPercent(&value, matching, true)
	if err != nil {
		return 0, fmt.Errorf("spec.maxUnavailable: %w", err)
	}
	return max(limit, 1), nil
}

func (p *planning) countMatching() int {
	count := 0
	for i := range p.places {
		if p.places[i].Matches {
			count++
		}
	}
	return count
}

// names of the places for which the condition holds.
func (p *planning) names(holds func(place) bool) []string {
	var names []string
	for _, place := range p.places {
		if holds(place) {
			names = append(names, place.Name)
		}
	}
	return names
}

// describe is names with the phase of each.
func (p *planning) describe(holds func(place) bool) []string {
	var names []string
	for _, place := range p.places {
		if !holds(place) {
			continue
		}
		what := place.phase.String()
		if place.changing {
			what = "still changing"
		}
		names = append(names, place.Name+" ("+what+")")
	}
	return names
}

// list is for people: of many it gives the first few and a count.
func list(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
