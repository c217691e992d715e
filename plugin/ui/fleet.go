package ui

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// tile is a node of the fleet.
type tile struct {
	Name string
	// Is is its class: failing, changing, drifted, silent, unmanaged, or fine.
	Is string
	// Says is why, in one line.
	Says string
}

// classes of nodes, those first that a person should see first.
func classes() []string {
	return []string{"failing", "changing", "drifted", "silent", "unmanaged", "fine"}
}

// fleet is one tile a node.
type fleet struct {
	Tiles []tile
	Count map[string]int
	Show  string
	Order []string
}

// Link is the page with only this class, or with all where it is that already.
func (f fleet) Link(class string) string {
	if class == f.Show {
		return "/"
	}
	return "/?show=" + class
}

func (h *Handler) fleet(ctx context.Context, r *http.Request) (string, any, error) {
	states, err := h.states(ctx)
	if err != nil {
		return "", nil, err
	}
	f := fleet{Count: map[string]int{}, Show: r.URL.Query().Get("show"), Order: classes()}
	for i := range states {
		one := tileOf(&states[i])
		f.Count[one.Is]++
		if f.Show == "" || f.Show == one.Is {
			f.Tiles = append(f.Tiles, one)
		}
	}
	slices.SortFunc(f.Tiles, func(a, b tile) int {
		return cmp.Or(cmp.Compare(slices.Index(classes(), a.Is), slices.Index(classes(), b.Is)), cmp.Compare(a.Name, b.Name))
	})
	return "Fleet", f, nil
}

func tileOf(nns *v1.NodeNetworkState) tile {
	one := tile{Name: nns.Name, Is: "fine"}
	available, failing := v1.FindCondition(nns.Status.Conditions, v1.StateAvailable), v1.FindCondition(nns.Status.Conditions, v1.StateFailing)
	switch {
	case nns.Spec.Managed != nil && !*nns.Spec.Managed:
		one.Is, one.Says = "unmanaged", "spec.managed is false"
	case nns.Status.Transaction.IsUnderWay():
		t := nns.Status.Transaction
		one.Is, one.Says = "changing", strings.TrimSpace(t.Phase+" "+t.Policy)
	case failing != nil && failing.Status == metav1.ConditionTrue:
		one.Is, one.Says = "failing", failing.Message
	case len(nns.Status.Drift) > 0:
		one.Is, one.Says = "drifted", fmt.Sprintf("%s and %d more", nns.Status.Drift[0].Path, len(nns.Status.Drift)-1)
		if len(nns.Status.Drift) == 1 {
			one.Says = nns.Status.Drift[0].Path
		}
	case available == nil || available.Status != metav1.ConditionTrue:
		one.Is, one.Says = "silent", "it has not reported"
		if available != nil {
			one.Says = cmp.Or(available.Message, string(available.Reason))
		}
	}
	return one
}

func (h *Handler) states(ctx context.Context) ([]v1.NodeNetworkState, error) {
	var list v1.NodeNetworkStateList
	if err := viewerOf(ctx).Held.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("reading what the nodes report: %w", err)
	}
	return list.Items, nil
}

// functions of the templates.
func functions() template.FuncMap {
	return template.FuncMap{
		"join": strings.Join,
		"svg":  func(text string) template.HTML { return template.HTML(text) }, //nolint:gosec // What graph.SVG has made, which escapes all text.
		"time": func(t metav1.Time) string {
			if t.IsZero() {
				return "-"
			}
			return t.UTC().Format("2006-01-02 15:04:05Z")
		},
		"took": func(one v1.PastTransaction) string {
			if one.Since.IsZero() {
				return "-"
			}
			return view.Duration(max(0, one.Ended.Sub(one.Since.Time))).String()
		},
		"class": func(word any) string { return strings.ToLower(fmt.Sprint(word)) },
	}
}
