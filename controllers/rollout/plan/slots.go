package plan

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// NewerThanPolicy names an enactment that tells of a newer generation than the
// policy as it was read, empty if there is none. Either the policy was read late, or
// the enactment's node says what is not so.
func NewerThanPolicy(in Input) string {
	for i := range in.Enactments {
		enactment := &in.Enactments[i]
		newest := max(enactment.Spec.ApprovedGeneration, enactment.Spec.AbortedGeneration, enactment.Status.PolicyGeneration)
		if newest > in.Policy.Generation && ownedBy(enactment, in.Policy) {
			return enactment.Name
		}
	}
	return ""
}

// plain is text with one meaning: a whole number, or a percentage.
var plain = regexp.MustCompile(`^[0-9]{1,9}%?$`)

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
	if value.Type == intstr.String && !plain.MatchString(said) {
		return 0, "", fmt.Errorf("spec.maxUnavailable: %q must be a whole number or a percentage, such as 3 or \"30%%\"", said)
	}
	counts := value
	if value.Type == intstr.String && !strings.HasSuffix(said, "%") {
		counts, said = intstr.Parse(said), strconv.Quote(said)
	}
	share, err := intstr.GetScaledValueFromIntOrPercent(&counts, 100, true)
	switch {
	case err != nil:
		return 0, "", fmt.Errorf("spec.maxUnavailable: %w", err)
	case share < 1:
		counts = intstr.FromInt32(1)
	case counts.Type == intstr.String && share > 100:
		counts = intstr.FromString("100%")
	}
	if counts != value {
		meaning = fmt.Sprintf(", maxUnavailable %s counts as %s", said, counts.String())
	}
	limit, err = intstr.GetScaledValueFromIntOrPercent(&counts, matching, true)
	if err != nil {
		return 0, "", fmt.Errorf("spec.maxUnavailable: %w", err)
	}
	return max(limit, 1), meaning, nil
}

// maxHolders that a policy's status names.
const maxHolders = 100

// slots tell how many nodes may be changing, and which ones have the right to.
func (p *planning) slots() *v1.PolicySlots {
	if p.limit == 0 || p.countMatching() == 0 {
		return nil
	}
	holders, lost := []string{}, 0
	for _, place := range p.places {
		if place.isLost() {
			lost++ // Only the first of them gave it back.
		}
		if place.occupies() || place.isLost() && lost > 1 {
			holders = append(holders, place.Name)
		}
	}
	return &v1.PolicySlots{Limit: int32(p.limit), Taken: int32(len(holders)), Holders: holders[:min(len(holders), maxHolders)]}
}

func (p *planning) countMatching() int {
	return len(p.names(func(p place) bool { return p.Matches }))
}

// countTakingPart leaves out the nodes that have no handler, or not yet, or that
// nobody manages: a share of them would be a larger share of the others.
func (p *planning) countTakingPart() int {
	return len(p.names(func(p place) bool { return p.Matches && (!p.unmanaged || p.lost) && !p.Unreported }))
}

// names of the places for which the condition is true.
func (p *planning) names(condition func(place) bool) []string {
	var names []string
	for _, place := range p.places {
		if condition(place) {
			names = append(names, place.Name)
		}
	}
	return names
}

// describe is names with the phase of each.
func (p *planning) describe(condition func(place) bool) []string {
	var names []string
	for _, place := range p.places {
		if condition(place) {
			names = append(names, place.Name+" ("+place.doing()+")")
		}
	}
	return names
}

// doing is what goes on at the place, in words.
func (p place) doing() string {
	switch {
	case p.undoes:
		return "leaving"
	case p.changing:
		return "still changing"
	case p.soak > 0:
		return "soaking"
	}
	return p.phase.String()
}

// list is for people: of many it gives the first few and a count.
func list(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
