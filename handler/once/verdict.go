package once

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// Verdict is what a pass has come to so far.
type Verdict struct {
	// waiting is what it still waits for; empty when it is over.
	waiting  string
	failures []string
	// generation of the NodeNetworkState that was looked at, and whether the
	// node is managed at all.
	generation int64
	managed    bool
	enactments []told
}

// told is an enactment in the words of the pass.
type told struct {
	Policy  string `json:"policy"`
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
}

// look reads how the node fares: with its desired state, and with its policies
// where they are this pass's.
func (v *Verdict) look(ctx context.Context, c client.Client, node string, policies bool) error {
	*v = Verdict{}
	var nns v1.NodeNetworkState
	if err := c.Get(ctx, client.ObjectKey{Name: node}, &nns); err != nil {
		v.waiting = "for NodeNetworkState " + node
		return client.IgnoreNotFound(err)
	}
	v.generation, v.managed = nns.Generation, nns.Spec.Managed == nil || *nns.Spec.Managed
	if !v.managed {
		return nil
	}
	if nns.Status.ObservedGeneration != nns.Generation {
		v.waiting = fmt.Sprintf("for generation %d of the desired state", nns.Generation)
		return nil
	}
	if policies {
		if err := v.lookAtEnactments(ctx, c, node); err != nil {
			return err
		}
	}
	if v1.TrueCondition(nns.Status.Conditions, v1.StateFailing) != nil {
		v.failures = append(v.failures, "desired state of "+node+": "+message(nns.Status.Conditions, v1.StateFailing))
	}
	return nil
}

func (v *Verdict) lookAtEnactments(ctx context.Context, c client.Client, node string) error {
	var enactments v1.NodeNetworkConfigurationEnactmentList
	if err := c.List(ctx, &enactments, client.MatchingLabels{v1.EnactmentNodeLabel: desired.NodeLabel(node)}); err != nil {
		return fmt.Errorf("reading the enactments of %s: %w", node, err)
	}
	for _, e := range enactments.Items {
		conditions := e.Status.Conditions
		said := told{Policy: e.Labels[v1.EnactmentPolicyLabel]}
		for _, kind := range []v1.ConditionType{
			v1.EnactmentFailing, v1.EnactmentAborted, v1.EnactmentAvailable, v1.Planned, v1.EnactmentProgressing, v1.EnactmentPending,
		} {
			if v1.TrueCondition(conditions, kind) != nil {
				said.Status, said.Message = string(kind), message(conditions, kind)
				break
			}
		}
		switch v1.ConditionType(said.Status) {
		case v1.EnactmentFailing:
			v.failures = append(v.failures, e.Name+": "+said.Message)
		case v1.EnactmentAborted:
			v.failures = append(v.failures, e.Name+": aborted")
		case v1.EnactmentAvailable, v1.Planned:
		default:
			if v.waiting == "" {
				v.waiting = "for enactment " + e.Name + ": " + message(conditions, v1.EnactmentPending)
			}
		}
		v.enactments = append(v.enactments, said)
	}
	return nil
}

func (v *Verdict) failure() error {
	if len(v.failures) == 0 {
		return nil
	}
	return errors.New(strings.Join(v.failures, "; "))
}

// Write tells scripts what the pass came to, as JSON.
func (v *Verdict) Write(to io.Writer, node string, err error) error {
	out := struct {
		Node       string `json:"node"`
		Generation int64  `json:"generation"`
		Managed    bool   `json:"managed"`
		Error      string `json:"error,omitempty"`
		Enactments []told `json:"enactments,omitempty"`
	}{Node: node, Generation: v.generation, Managed: v.managed, Enactments: v.enactments}
	if err != nil {
		out.Error = err.Error()
	}
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}

func message(conditions []v1.Condition, kind v1.ConditionType) string {
	if c := v1.FindCondition(conditions, kind); c != nil {
		return c.Message
	}
	return "no report yet"
}
