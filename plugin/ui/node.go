package ui

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/graph"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// node is all that there is to see of a node.
type node struct {
	Name    string
	Tile    tile
	Picture string
	// Interfaces that the filter lets through, and how many there are.
	Interfaces []face
	All        int
	Filter     string
	History    []v1.PastTransaction
	Failures   []view.Failure
	Diffs      []view.NodeDiff
	Truncated  bool
}

// face is an interface with what policies set on it.
type face struct {
	view.Interface
	Settings []view.Setting
}

func (h *Handler) node(ctx context.Context, r *http.Request) (string, any, error) {
	name := r.PathValue("name")
	var nns v1.NodeNetworkState
	if err := viewerOf(ctx).Live.Get(ctx, client.ObjectKey{Name: name}, &nns); err != nil {
		return "", nil, fmt.Errorf("reading the state of node %s: %w", name, err)
	}
	var enactments v1.NodeNetworkConfigurationEnactmentList
	if err := viewerOf(ctx).Held.List(ctx, &enactments, client.MatchingLabels{v1.EnactmentNodeLabel: name}); err != nil {
		return "", nil, fmt.Errorf("reading the enactments: %w", err)
	}
	n, err := nodeOf(&nns, enactments.Items, strings.TrimSpace(r.URL.Query().Get("filter")))
	n.Tile = tileOf(&nns)
	return name, n, err
}

func nodeOf(nns *v1.NodeNetworkState, enactments []v1.NodeNetworkConfigurationEnactment, filter string) (node, error) {
	n := node{Name: nns.Name, Filter: filter, History: nns.Status.History, Failures: view.Failures(enactments), Truncated: nns.Status.Truncated != nil}
	drawing, err := view.Topology(nns, func(name string) string { return "#interface-" + name })
	if err != nil {
		return n, err
	}
	drawing.Title = strings.TrimSpace(strings.TrimPrefix(drawing.Title, nns.Name)) // The page has the name already.
	if n.Picture, err = graph.SVG(drawing); err != nil {
		return n, err
	}
	all, err := view.Interfaces(nns)
	if err != nil {
		return n, err
	}
	n.All = len(all)
	for _, one := range all {
		if !has(one, filter) {
			continue
		}
		settings, err := view.Settings(nns, enactments, one.Name, "")
		if err != nil {
			return n, err
		}
		n.Interfaces = append(n.Interfaces, face{one, settings})
	}
	n.Diffs, err = view.NodeDiffs(nns, enactments)
	return n, err
}

// has tells whether any of an interface's values has the text in it.
func has(one view.Interface, filter string) bool {
	values := append([]string{one.Name, one.Type, one.State, one.MAC, one.Controller, fmt.Sprint(one.MTU)}, one.Addresses...)
	values = append(append(values, one.Policies...), one.Neighbours...)
	return strings.Contains(strings.ToLower(strings.Join(values, "\n")), strings.ToLower(filter))
}
