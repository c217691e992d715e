package ui

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// statesAtATime bounds what is held at a time: a state may have half a megabyte.
const statesAtATime = 50

// preview plans the policy of the form on the nodes that it selects.
func (h *Handler) preview(ctx context.Context, f *form, document map[string]any) error {
	spec := document["spec"].(map[string]any)
	raw, err := json.Marshal(spec["desiredState"])
	if err != nil {
		return fmt.Errorf("writing the policy: %w", err)
	}
	selector, _ := spec["nodeSelector"].(map[string]any)
	chosen, of, err := selected(ctx, selector)
	if err != nil {
		return err
	}
	var enactments v1.NodeNetworkConfigurationEnactmentList
	if err := viewerOf(ctx).Held.List(ctx, &enactments); err != nil {
		return fmt.Errorf("reading the enactments: %w", err)
	}
	preview := view.NewPreview(f.Fields["policy"], raw, enactments.Items, h.Clock.Now())
	for next := ""; ; {
		var states v1.NodeNetworkStateList
		if err := viewerOf(ctx).Live.List(ctx, &states, client.Limit(statesAtATime), client.Continue(next)); err != nil {
			return fmt.Errorf("reading what the nodes report: %w", err)
		}
		for i := range states.Items {
			if chosen == nil || chosen[states.Items[i].Name] {
				preview.Add(&states.Items[i])
			}
		}
		if next = states.Continue; next == "" {
			break
		}
	}
	plan := preview.Plan()
	f.Plan, f.Of = &plan, of
	return nil
}

// selected are the nodes with the labels, nil for all; says tells where they are not known.
func selected(ctx context.Context, selector map[string]any) (chosen map[string]bool, says string, err error) {
	if len(selector) == 0 {
		return nil, "", nil
	}
	wanted := labels.Set{}
	for key, value := range selector {
		wanted[key] = fmt.Sprint(value)
	}
	nodes := &metav1.PartialObjectMetadataList{}
	nodes.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "NodeList"})
	err = viewerOf(ctx).Live.List(ctx, nodes, client.MatchingLabels(wanted))
	switch {
	case apierrors.IsForbidden(err):
		return nil, "You may not read the labels of nodes, so this is the plan of all nodes.", nil
	case err != nil:
		return nil, "", fmt.Errorf("reading the labels of the nodes: %w", err)
	}
	chosen = map[string]bool{}
	for i := range nodes.Items {
		chosen[nodes.Items[i].Name] = true
	}
	return chosen, "", nil
}
