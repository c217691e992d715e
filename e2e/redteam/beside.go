package redteam

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Beside writes over the words of the node's own handler, which runs, again and again
// until ctx ends: its report, its desired state and its enactments, as admission lets it.
// It calls round each time that all was tried, and returns what was never let through,
// with the last refusal. It does not tell that a policy has failed: that is for the node
// to say, and would rightly keep others from that policy.
func Beside(ctx context.Context, t Thief, round func()) (refused []string) {
	writes := overwrites()
	done, last := make([]bool, len(writes)), make([]error, len(writes))
	for ctx.Err() == nil {
		for i, one := range writes {
			err := one.write(ctx, t)
			done[i] = done[i] || err == nil
			if ctx.Err() == nil {
				last[i] = err
			}
		}
		round()
	}
	for i, one := range writes {
		if !done[i] {
			refused = append(refused, fmt.Sprintf("%s: %v", one.what, last[i]))
		}
	}
	return refused
}

// overwrite is a write over what a handler has said. Now and then there is nothing to
// write to.
type overwrite struct {
	what  string
	write func(ctx context.Context, t Thief) error
}

func overwrites() []overwrite {
	const never = `"generation":1099511627776`
	var all []overwrite
	for _, patch := range []string{
		`"policyGeneration":1099511627776`,
		condition("Available", "evil"),
		condition("Progressing", "evil"),
		`"committed":{` + never + `,"hash":"evil"}`,
		`"retry":{"attempts":1000000,"after":"2099-01-01T00:00:00Z"}`,
		`"desiredState":{"x":"` + strings.Repeat("x", 1000) + `"}`,
	} {
		all = append(all, overwrite{"in its enactment " + patch, status(patch)})
	}
	for _, patch := range []string{
		`"observedGeneration":1099511627776`,
		`"appliedHash":"evil","appliedSources":[]`,
		`"transaction":{` + never + `,"phase":"Probing","policy":"evil"}`,
		`"transaction":{` + never + `,"phase":"Idle","result":"Committed","retryAfter":"2099-01-01T00:00:00Z"}`,
		`"currentState":{"interfaces":[]},"truncated":null`,
		`"drift":[{"path":"interfaces[eth1].mtu","expected":"1","found":"2","action":"Damped","since":"2099-01-01T00:00:00Z"}]`,
		condition("Available", "evil"),
	} {
		all = append(all, overwrite{"in its report " + patch, func(ctx context.Context, t Thief) error {
			return t.Client.Status().Patch(ctx, t.state(t.Node), merge(`{"status":{`+patch+`}}`))
		}})
	}
	return slices.Concat(all, []overwrite{
		{"no desired state", func(ctx context.Context, t Thief) error {
			return t.Client.Patch(ctx, t.state(t.Node), merge(`{"spec":{"desiredState":null,"sources":[]}}`))
		}},
		{"its enactment deleted", func(ctx context.Context, t Thief) error { return t.Client.Delete(ctx, t.enactment(t.Node)) }},
		{"any enactment deleted", deleteOne},
	})
}

// deleteOne deletes an enactment of the node.
func deleteOne(ctx context.Context, t Thief) error {
	var all v1.NodeNetworkConfigurationEnactmentList
	if err := t.Client.List(ctx, &all, client.MatchingLabels{v1.EnactmentNodeLabel: t.Node.Name}); err != nil || len(all.Items) == 0 {
		return err
	}
	return t.Client.Delete(ctx, &all.Items[0])
}
