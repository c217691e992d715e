//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
)

// controllersAgent begins the controllers' user agent.
const controllersAgent = "nmstate-controllers/"

// requests counts what one policy costs the API server, by component.
func (b *bench) requests(ctx context.Context) error {
	b.progress("requests for one policy")
	other := b.cluster.Nodes()[1].Name
	since := time.Now()
	if _, err := b.create(ctx, b.policyFor("bridge", bridge)); err != nil {
		return err
	}
	b.settle(ctx, auditLag)
	b.title("requests to the API server for one policy, from create to Available")
	out := tabwriter.NewWriter(b.tables, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(out, "component\trequests\tof them cluster-wide LISTs\twhat")
	for _, component := range []struct {
		name   string
		goal   *float64
		filter controlplane.Filter
	}{
		{"handler of the node that matches", new(12.0), controlplane.Filter{Since: since, Node: b.one.Name}},
		{"handler of the node that does not match", new(0.0), controlplane.Filter{Since: since, Node: other}},
		{"controllers", nil, controlplane.Filter{Since: since, UserAgent: controllersAgent}},
	} {
		found, err := controlplane.ReadRequests(b.audit, component.filter)
		if err != nil {
			return err
		}
		lists := 0
		for _, r := range found {
			if r.Verb == "list" && r.Name == "" {
				lists++
			}
		}
		b.figure("one policy: "+component.name, "requests", component.goal, float64(len(found)))
		_, _ = fmt.Fprintf(out, "%s\t%d\t%d\t%s\n", component.name, len(found), lists, kinds(found))
	}
	_ = out.Flush()
	if err := b.remove(ctx, "bridge"); err != nil {
		return err
	}
	return b.tidyUp(ctx)
}

// auditLag is how much later than its answer a request may be in the audit log.
const auditLag = time.Second

// kinds is the audit log's summary in one line.
func kinds(found []controlplane.Request) string {
	var all []string
	for line := range strings.Lines(controlplane.Summary(found)) {
		all = append(all, strings.Join(strings.Fields(line), " "))
	}
	if len(all) == 0 {
		return "-"
	}
	return strings.Join(all, ", ")
}

// writes of a node's handler.
func (b *bench) writes(since time.Time) ([]controlplane.Request, error) {
	found, err := controlplane.ReadRequests(b.audit, controlplane.Filter{Since: since, Node: b.one.Name})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(r controlplane.Request) bool {
		return r.Verb == "get" || r.Verb == "list" || r.Verb == "watch"
	}), nil
}
