package ui

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// objects reads the policies, their enactments and the states.
func (h *Handler) objects(ctx context.Context) (view.Objects, error) {
	var policies v1.NodeNetworkConfigurationPolicyList
	if err := viewerOf(ctx).Held.List(ctx, &policies); err != nil {
		return view.Objects{}, fmt.Errorf("reading the policies: %w", err)
	}
	var enactments v1.NodeNetworkConfigurationEnactmentList
	if err := viewerOf(ctx).Held.List(ctx, &enactments); err != nil {
		return view.Objects{}, fmt.Errorf("reading the enactments: %w", err)
	}
	states, err := h.states(ctx)
	slices.SortFunc(policies.Items, func(a, b v1.NodeNetworkConfigurationPolicy) int { return cmp.Compare(a.Name, b.Name) })
	return view.Objects{Policies: policies.Items, Enactments: enactments.Items, States: states}, err
}

func (h *Handler) policies(ctx context.Context, _ *http.Request) (string, any, error) {
	objects, err := h.objects(ctx)
	if err != nil {
		return "", nil, err
	}
	var all []view.Policy
	for i := range objects.Policies {
		all = append(all, view.Of(&objects.Policies[i], objects, h.Clock.Now()))
	}
	return "Policies", all, nil
}

// policy is a policy with its rollout over time.
type policy struct {
	view.Policy
	Lanes    []lane
	Failures []view.Failure
	Commands []command
	// Keep is the button with which a person keeps what nodes wait for; nil where nobody
	// is waited for, or the page is read-only.
	Keep *keep
}

// command that a person may copy.
type command struct{ What, Line string }

// lane is a node in the rollout: a bar from when it began to when it had come to what
// it is, in percent of the whole time.
type lane struct {
	view.Node
	Begin, Width float64
	Took         string
}

func (h *Handler) policy(ctx context.Context, r *http.Request) (string, any, error) {
	objects, err := h.objects(ctx)
	if err != nil {
		return "", nil, err
	}
	name := r.PathValue("name")
	at := slices.IndexFunc(objects.Policies, func(p v1.NodeNetworkConfigurationPolicy) bool { return p.Name == name })
	if at < 0 {
		return "", nil, fmt.Errorf("policy %s %w", name, errNotFound)
	}
	objects.Enactments = slices.DeleteFunc(objects.Enactments, func(e v1.NodeNetworkConfigurationEnactment) bool { return e.Policy() != name })
	shown := view.Of(&objects.Policies[at], objects, h.Clock.Now())
	p := policy{Policy: shown, Failures: view.Failures(objects.Enactments), Commands: commandsOf(shown)}
	p.Lanes = lanesOf(shown, objects.Enactments, h.Clock.Now())
	p.Keep = h.keep(ctx, shown)
	return name, p, nil
}

// lanesOf are the nodes in the order in which they came to what they are.
func lanesOf(p view.Policy, enactments []v1.NodeNetworkConfigurationEnactment, now time.Time) []lane {
	began, ended := map[string]time.Time{}, map[string]time.Time{}
	first, last := time.Time{}, time.Time{}
	for i := range enactments {
		one := &enactments[i]
		from, to := view.Span(one, now)
		if from.IsZero() {
			continue
		}
		began[one.Node()], ended[one.Node()] = from, to
		if first.IsZero() || from.Before(first) {
			first = from
		}
		if to.After(last) {
			last = to
		}
	}
	whole := max(last.Sub(first), time.Second)
	var lanes []lane
	for _, node := range p.Nodes {
		one := lane{Node: node}
		if from, is := began[node.Name]; is {
			took := ended[node.Name].Sub(from)
			one.Begin = 100 * float64(from.Sub(first)) / float64(whole)
			one.Width = max(0.5, 100*float64(took)/float64(whole))
			one.Took = view.Duration(took).String()
		}
		lanes = append(lanes, one)
	}
	slices.SortStableFunc(lanes, func(a, b lane) int {
		return cmp.Or(-cmp.Compare(min(a.Width, 0.1), min(b.Width, 0.1)), began[a.Name].Compare(began[b.Name]), cmp.Compare(a.Name, b.Name))
	})
	return lanes
}

// commandsOf are what a person may do about a policy.
func commandsOf(p view.Policy) []command {
	all := []command{{"follow it", "kubectl nmstate status " + p.Name + " -w"}}
	waits := slices.ContainsFunc(p.Nodes, func(n view.Node) bool { return n.Phase == view.Confirm })
	fails := slices.ContainsFunc(p.Nodes, func(n view.Node) bool { return n.Phase == view.Failing })
	switch {
	case waits:
		all = append(all, command{"keep the change", "kubectl nmstate confirm " + p.Name})
	case p.Step.Resume:
		all = append(all, command{"let it go on", "kubectl nmstate resume " + p.Name})
	case fails:
		all = append(all, command{"see why", "kubectl nmstate why " + p.Name}, command{"try again", "kubectl nmstate retry " + p.Name})
	case p.Status == string(v1.PolicyProgressing):
		all = append(all, command{"let no further node begin", "kubectl nmstate pause " + p.Name})
	}
	return append(all, command{"see what undo would bring back", "kubectl nmstate undo " + p.Name + " --dry-run"})
}

// plans are those of the policies in mode Plan.
func (h *Handler) plans(ctx context.Context, _ *http.Request) (string, any, error) {
	objects, err := h.objects(ctx)
	if err != nil {
		return "", nil, err
	}
	var all []view.Plan
	for i := range objects.Policies {
		one := &objects.Policies[i]
		if one.Spec.Mode != "Plan" {
			continue
		}
		var own []v1.NodeNetworkConfigurationEnactment
		for j := range objects.Enactments {
			if objects.Enactments[j].Policy() == one.Name {
				own = append(own, objects.Enactments[j])
			}
		}
		all = append(all, view.PlanOf(cmp.Or(one.Annotations[v1.PlanOfAnnotation], one.Name), one, own))
	}
	return "Plans", all, nil
}

func (h *Handler) drift(ctx context.Context, _ *http.Request) (string, any, error) {
	states, err := h.states(ctx)
	return "Drift", struct {
		Drifts []view.NodeDrift
		Nodes  int
	}{view.Drifts(states), len(states)}, err
}
