package rollout

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// newerThanPolicy names an enactment that tells of a newer generation than the
// policy as it was read, empty if there is none. Either the policy was read late, or
// the enactment's node says what is not so.
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
// least 1. What has one plain meaning is taken, as the older project does, and meaning
// tells it: less than one node is one, a number in quotes is that number, more than all
// is all. The same values are refused as by the CRD, since a policy may have
// been stored before the CRD refused them.
func maxUnavailable(policy *v1.NodeNetworkConfigurationPolicy, matching int) (limit int, meaning string, err error) {
	value := intstr.FromString("50%")
	if policy.Spec.MaxUnavailable != nil {
		value = *policy.Spec.MaxUnavailable
	}
	said := value.String()
	if number, err := strconv.ParseInt(value.StrVal, 10, 32); err == nil && value.Type == intstr.String {
		value, meaning = intstr.FromInt32(int32(number)), fmt.Sprintf(", maxUnavailable %q counts as %d", said, max(number, 1))
	}
	limit, err = intstr.GetScaledValueFromIntOrPercent(&value, matching, true)
	if err != nil || strings.HasPrefix(value.StrVal, "-") {
		return 0, "", fmt.Errorf("spec.maxUnavailable: %q must be a whole number or a percentage, such as 3 or \"30%%\"", said)
	}
	share, _ := intstr.GetScaledValueFromIntOrPercent(&value, 100, true)
	switch {
	case share < 1:
		meaning = fmt.Sprintf(", maxUnavailable %s counts as 1", said)
	case value.Type == intstr.String && share > 100:
		meaning = fmt.Sprintf(", maxUnavailable %s counts as 100%%", said)
		limit = matching
	}
	return max(limit, 1), meaning, nil
}

func (p *planning) countMatching() int {
	return len(p.names(func(p place) bool { return p.Matches }))
}

// countTakingPart leaves out the nodes that have no handler, or not yet, or that
// nobody manages: a share of them would be a larger share of the others.
func (p *planning) countTakingPart() int {
	return len(p.names(func(p place) bool { return p.Matches && !p.unmanaged && !p.Unreported }))
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
		switch {
		case place.changing:
			what = "still changing"
		case place.soak > 0:
			what = "soaking"
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
