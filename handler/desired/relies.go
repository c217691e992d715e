package desired

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Reliance is an object that a decision relies on, and how the API server itself must have
// it. A cache lags behind a link that the last change cut, and that of a process that has
// just started may show what was long ago. Its text says what was decided on.
type Reliance interface{ String() string }

type (
	// StateAt is the node's NodeNetworkState at a version; empty where there is none.
	StateAt struct {
		UID     types.UID
		Version string
	}
	// StateWithout is the NodeNetworkState at a generation, whose spec has nothing of the
	// policy.
	StateWithout struct {
		UID        types.UID
		Generation int64
		Policy     string
	}
	// EnactmentAt is the policy's enactment, under one of its names, at a version; empty
	// where there is none.
	EnactmentAt struct {
		Policy  string
		Names   []string
		Version string
	}
	// PolicyStays is a policy that selects the node, at a generation if there is a UID.
	PolicyStays struct {
		Name       string
		UID        types.UID
		Generation int64
	}
	// PolicyLeaves is a policy that is gone, that does not select the node, or in whose
	// place there is another one by now. Where GivenUp names the policy and holds, it may
	// be back.
	PolicyLeaves struct {
		Name    string
		UID     types.UID
		GivenUp StateWithout
	}
)

func (r StateAt) String() string { return at("the NodeNetworkState", r.Version) }

func (r StateWithout) String() string {
	return fmt.Sprintf("generation %d of the NodeNetworkState, without policy %s", r.Generation, r.Policy)
}

func (r EnactmentAt) String() string { return at("the enactment of policy "+r.Policy, r.Version) }

func (r PolicyStays) String() string {
	if r.UID == "" {
		return "policy " + r.Name + ", which selects the node"
	}
	return fmt.Sprintf("generation %d of policy %s, which selects the node", r.Generation, r.Name)
}

func (r PolicyLeaves) String() string { return "policy " + r.Name + ", which does not select the node" }

func at(object, version string) string {
	if version == "" {
		return object + ", which is not there"
	}
	return object + " at version " + version
}

// Holds of what the API server has, nil for nothing.
func (r StateAt) Holds(live *v1.NodeNetworkState) bool {
	if live == nil {
		return r.Version == ""
	}
	return live.UID == r.UID && live.ResourceVersion == r.Version
}

// Holds of what the API server has, nil for nothing.
func (r StateWithout) Holds(live *v1.NodeNetworkState) bool {
	return live != nil && live.UID == r.UID && live.Generation == r.Generation && !hasSource(live, r.Policy)
}

// Holds of what the API server has, nil for nothing.
func (r EnactmentAt) Holds(live *v1.NodeNetworkConfigurationEnactment) bool {
	if live == nil {
		return r.Version == ""
	}
	return live.ResourceVersion == r.Version
}

// Holds of what the API server has, nil for nothing.
func (r PolicyStays) Holds(live *v1.NodeNetworkConfigurationPolicy, node *corev1.Node) bool {
	return live != nil && wants(live, node) && (r.UID == "" || live.UID == r.UID && live.Generation == r.Generation)
}

// Holds of what the API server has, nil for nothing. Whether GivenUp does is not asked.
func (r PolicyLeaves) Holds(live *v1.NodeNetworkConfigurationPolicy, node *corev1.Node) bool {
	return live == nil || live.UID != r.UID || !wants(live, node)
}

// wants tells whether the policy is the node's. An affinity that cannot be read selects none.
func wants(policy *v1.NodeNetworkConfigurationPolicy, node *corev1.Node) bool {
	if node == nil {
		return false
	}
	is, err := IsOf(policy, node)
	return err == nil && is
}

func hasSource(state *v1.NodeNetworkState, policy string) bool {
	return slices.ContainsFunc(state.Spec.Sources, func(s v1.DesiredSource) bool { return s.Policy == policy })
}

// Relies are what the decision on this input relies on. started tells that this process has
// once decided on the newest NodeNetworkState: from then on its cache is at least as new as
// what it wrote last.
func (in *Input) Relies(d Decision, started bool) []Reliance {
	var relied []Reliance
	if !started && len(d.Statuses) > 0 {
		// It may be shown as it was while a change was under way that has failed since,
		// and the enactment that says so would be written over.
		relied = append(relied, in.stateAt())
	}
	if d.Spec != nil {
		relied = append(relied, in.specRelies(d)...)
	}
	if d.Charges {
		// An older one would show an interrupted attempt instead of the lost probe of the
		// next one, and the change would be tried once more.
		relied = append(relied, in.stateAt())
	}
	for _, name := range d.Delete {
		if i := slices.IndexFunc(in.Enactments, func(e v1.NodeNetworkConfigurationEnactment) bool { return e.Name == name }); i >= 0 {
			relied = append(relied, in.leaves(&in.Enactments[i]))
		}
	}
	return relied
}

func (in *Input) stateAt() StateAt {
	if in.State == nil {
		return StateAt{}
	}
	return StateAt{in.State.UID, in.State.ResourceVersion}
}

// specRelies: the policy that the spec is about, those that return with it, and the
// enactments that say what became of them. Where such an enactment is gone, its policy
// begins anew, with a grant.
func (in *Input) specRelies(d Decision) []Reliance {
	var relied []Reliance
	spec := d.Spec
	switch {
	case spec.Policy == "": // The node goes back to what is committed.
	case spec.Generation == 0:
		relied = append(relied, PolicyLeaves{Name: spec.Policy, UID: spec.UID})
	default:
		relied = append(relied, PolicyStays{spec.Policy, spec.UID, spec.Generation})
	}
	// These had given way, or lost their NodeNetworkState.
	var enacted []string
	for _, source := range spec.Sources {
		if source.Policy != spec.Policy && !hasSource(in.State, source.Policy) {
			relied = append(relied, PolicyStays{Name: source.Policy})
			enacted = append(enacted, source.Policy)
		}
	}
	// The policy itself, which was read, may want something else. Of one that leaves, the
	// live one may be another of the same name, and what the node has is that one's.
	if itself := len(d.GivesUp) == 1 && d.GivesUp[0] == spec.Policy && spec.Generation != 0; !itself {
		enacted = append(enacted, d.GivesUp...)
		if spec.Policy != "" && !slices.Contains(enacted, spec.Policy) {
			enacted = append(enacted, spec.Policy)
		}
	}
	for _, policy := range enacted {
		at := in.enactmentAt(policy)
		// A status that is written with the spec fails on an older one by itself.
		written := slices.ContainsFunc(d.Statuses, func(s StatusWrite) bool { return at.Version != "" && s.Name == at.Names[0] })
		if !written {
			relied = append(relied, at)
		}
	}
	return relied
}

func (in *Input) enactmentAt(policy string) EnactmentAt {
	for i := range in.Enactments {
		if e := &in.Enactments[i]; e.Policy() == policy {
			return EnactmentAt{policy, []string{e.Name}, e.ResourceVersion}
		}
	}
	return EnactmentAt{Policy: policy, Names: v1.EnactmentNames(in.Node, in.NodeUID, policy)}
}

// leaves: without its enactment a policy that is there would forget how often it has failed.
// What the node has given up of one that selects it again may go: it begins anew, with a
// grant, and its enactment would bring back what has left.
func (in *Input) leaves(enactment *v1.NodeNetworkConfigurationEnactment) PolicyLeaves {
	relied := PolicyLeaves{Name: enactment.Policy(), UID: ownerUID(enactment)}
	if in.State != nil && enactment.Status.Committed != nil && enactment.Status.Retry == nil {
		relied.GivenUp = StateWithout{in.State.UID, in.State.Generation, enactment.Policy()}
	}
	return relied
}
