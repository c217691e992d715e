package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Setting is a value that policies set on an interface.
type Setting struct {
	Path  state.Path `json:"path"`
	Value string     `json:"value,omitempty"`
	// Policies that set it, all to this value.
	Policies []string `json:"policies"`
	// Since is when the first of them was committed with this state, absent where the node
	// does not tell.
	Since *time.Time `json:"since,omitempty"`
	// Drift tells what was found instead.
	Drift *v1.Drift `json:"drift,omitempty"`
	// Before is the value that it had before policies set it, empty for none; absent
	// where the node does not tell. The entry of a list has that of the whole list.
	Before *string `json:"before,omitempty"`
	// Undo is what becomes of it when the policies go.
	Undo string `json:"undo"`
}

// Was is the value of before as a person reads it.
func (s Setting) Was() string {
	switch {
	case s.Before == nil:
		return "-"
	case *s.Before == "":
		return "nothing"
	}
	return *s.Before
}

// Settings are what policies set on an interface, all of it or what is below the key.
func Settings(nns *v1.NodeNetworkState, enactments []v1.NodeNetworkConfigurationEnactment, name, key string) ([]Setting, error) {
	wanted, err := state.Parse(nns.Spec.DesiredState.Raw)
	if err != nil {
		return nil, fmt.Errorf("reading the desired state of node %s: %w", nns.Name, err)
	}
	originals, err := desired.OriginalsOf(&nns.Status)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", nns.Name, err)
	}
	found := []Setting{}
	for _, leaf := range state.LeavesOf(wanted) {
		at := leaf.Path
		if at.Section == "interfaces" && at.Interface == name && at.Subject().At(key).Covers(at) {
			found = append(found, settingOf(nns, enactments, originals, leaf))
		}
	}
	return found, nil
}

// SplitInterface takes "eth1.7.mtu" apart: the longest name that the node has, or shall
// have, and the rest. The name is empty where there is none.
func SplitInterface(what string, all []Interface, nns *v1.NodeNetworkState) (name, key string) {
	names := []string{}
	for _, one := range all {
		names = append(names, one.Name)
	}
	for owned := range ownersOf(nns) {
		names = append(names, owned)
	}
	for _, one := range names {
		rest, is := strings.CutPrefix(what, one)
		if is && len(one) > len(name) && (rest == "" || rest[0] == '.') {
			name, key = one, strings.TrimPrefix(rest, ".")
		}
	}
	return name, key
}

func settingOf(nns *v1.NodeNetworkState, enactments []v1.NodeNetworkConfigurationEnactment, originals state.Originals, leaf state.Leaf) Setting {
	s := Setting{Path: leaf.Path, Value: leaf.Value, Policies: []string{}}
	reverts := true
	for _, source := range nns.Spec.Sources {
		if !slices.ContainsFunc(source.Paths, func(path string) bool { return state.ParsePath(path).Covers(leaf.Path) }) {
			continue
		}
		s.Policies = append(s.Policies, source.Policy)
		reverts = reverts && source.OnDelete == v1.OnDeleteRevert
		since := committedSince(enactments, nns.Name, source.Policy)
		if since != nil && (s.Since == nil || since.Before(*s.Since)) {
			s.Since = since
		}
	}
	for i := range nns.Status.Drift {
		drift := &nns.Status.Drift[i]
		if state.Owns([]state.Path{leaf.Path}, state.Difference{Path: state.ParsePath(drift.Path), Want: drift.Expected, Got: drift.Found}) {
			s.Drift = drift
		}
	}
	if was, known := originals.Before(leaf.Path); known {
		was = shortened(was)
		s.Before = &was
	}
	s.Undo = s.undo(reverts, originals.WasAbsent(leaf.Path))
	return s
}

// longestValue of before that is shown.
const longestValue = 200

func shortened(value string) string {
	if len(value) <= longestValue {
		return value
	}
	return strings.ToValidUTF8(value[:longestValue], "") + "..."
}

// undo tells what becomes of a setting when its policies go. What is not as they have it
// any more somebody else has set, and an undo leaves it alone.
func (s Setting) undo(reverts, made bool) string {
	var back string
	switch at := s.Path; {
	case s.Drift != nil && s.Drift.Found != "":
		back = "stays as somebody has set it: " + s.Drift.Found
	case made:
		back = "goes, as " + cmp.Or(at.Interface, "it") + " was not there"
	case s.Before == nil && at.Leaf == "type":
		back = "stays: it was there before"
	case s.Before == nil:
		back = "comes back as it was before"
	case *s.Before == "" && canGo(at):
		back = "goes"
	case *s.Before == "":
		back = "stays: nothing was set before" // nmstate cannot unset most settings.
	case *s.Before == s.Value:
		back = "stays: it was the same before"
	default:
		back = "goes back to " + *s.Before
	}
	switch {
	case len(s.Policies) == 0:
		return "stays, it was written by hand"
	case reverts, strings.HasPrefix(back, "stays"):
		return back
	case len(s.Policies) > 1:
		return "stays: not all of the policies have onDelete Revert"
	}
	return "stays; with kubectl nmstate undo " + s.Policies[0] + " it " + back
}

// canGo tells whether a setting can be taken away again: most of nmstate's can only be
// given another value.
func canGo(at state.Path) bool {
	return at.Entry != "" || at.Leaf == "controller" || at.Section == "ovs-db" ||
		slices.ContainsFunc([]string{"ovs-db", string(state.IPv4), string(state.IPv6)}, func(key string) bool { return at.Subject().At(key).Covers(at) })
}

func committedSince(enactments []v1.NodeNetworkConfigurationEnactment, node, policy string) *time.Time {
	for i := range enactments {
		one := &enactments[i]
		if one.Node() == node && one.Policy() == policy && one.Status.Committed != nil && !one.Status.Committed.Since.IsZero() {
			return &one.Status.Committed.Since.Time
		}
	}
	return nil
}

// SettingTable is one line for each, without the interface's part of the path.
func SettingTable(settings []Setting, now time.Time) []string {
	rows := [][]string{{"SETTING", "VALUE", "POLICY", "FOR", "BEFORE", "DRIFT", "WHEN THE POLICY GOES"}}
	for _, s := range settings {
		since, drift := "-", "-"
		if s.Since != nil {
			since = Duration(max(0, now.Sub(*s.Since))).String()
		}
		if s.Drift != nil {
			drift = "found " + cmp.Or(s.Drift.Found, "nothing") + ", " + s.Drift.Action
		}
		at := s.Path.Rest()
		rows = append(rows, []string{cmp.Or(at, "-"), cmp.Or(s.Value, "-"), cmp.Or(strings.Join(s.Policies, ","), "-"), since, s.Was(), drift, s.Undo})
	}
	return columns(rows, func(_, _ int, text string) string { return text })
}
