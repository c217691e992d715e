//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// story is what the enactments of one policy said, by node.
type story struct {
	// now is each node's condition, worked the nodes that began to apply.
	now    map[string]v1.Condition
	worked map[string]bool
}

// bridge shows a policy that is applied.
func (d *demo) bridge(ctx context.Context) error {
	d.scene("policy 1: a bridge with a static address and a route")
	if err := d.kube(ctx, "apply", "-f", "e2e/demo/bridge.yaml"); err != nil {
		return err
	}
	if _, err := d.follow(ctx, "bridge", v1.PolicyAvailable); err != nil {
		return err
	}
	if err := d.kube(ctx, "get", "nncp,nnce"); err != nil {
		return err
	}
	for _, n := range d.cluster.Nodes() {
		address, err := n.Exec(ctx, "ip", "-4", "-brief", "address", "show", "dev", "br1")
		if err != nil {
			return err
		}
		route, err := n.Exec(ctx, "ip", "route", "show", "203.0.113.0/24")
		if err != nil {
			return err
		}
		if !strings.Contains(string(address), "198.51.100.1/24") || !strings.Contains(string(route), "via 198.51.100.254 dev br1") {
			return fmt.Errorf("%s does not have what the policy says: %s; %s", n.Name, address, route)
		}
		d.quote(fmt.Sprintf("%s: %s; %s", n.Name, strings.Join(strings.Fields(string(address)), " "), strings.TrimSpace(string(route))))
	}
	d.good("Available, and in the kernel of all three nodes")
	return nil
}

// cutOff shows a policy that costs a node its API server.
func (d *demo) cutOff(ctx context.Context) error {
	d.scene("policy 2: another address for eth0, so that the API server is out of reach")
	before := map[string]string{}
	watches := map[string]*lab.Watch{}
	for _, n := range d.cluster.Nodes() {
		var err error
		if before[n.Name], err = n.Settled(ctx); err != nil {
			return err
		}
		if watches[n.Name], err = d.cluster.Watch(ctx, n); err != nil {
			return err
		}
		defer watches[n.Name].Stop()
	}
	if err := d.kube(ctx, "apply", "-f", "e2e/demo/cut-off.yaml"); err != nil {
		return err
	}
	s, err := d.follow(ctx, "cut-off", v1.PolicyDegraded)
	if err != nil {
		return err
	}
	failed, err := s.oneFailedRestAborted()
	if err != nil {
		return err
	}
	d.good("%s was the only node that tried; it took the change back itself, the others never began", failed)
	if err := d.kube(ctx, "get", "nncp,nnce"); err != nil {
		return err
	}
	for _, n := range d.cluster.Nodes() {
		if err := d.unharmed(ctx, n, watches[n.Name].Stop(), before[n.Name], n.Name == failed); err != nil {
			return err
		}
	}
	d.good("the kernel state of all three nodes (links, addresses, routes, rules) is byte for byte as before")
	return nil
}

// oneFailedRestAborted names the node that failed.
func (s story) oneFailedRestAborted() (string, error) {
	failed := ""
	for node, condition := range s.now {
		switch {
		case condition.Type == v1.EnactmentFailing && failed == "":
			failed = node
		case condition.Type != v1.EnactmentAborted:
			return "", fmt.Errorf("%s is %s, but one node should be Failing and the others Aborted", node, condition.Type)
		case s.worked[node]:
			return "", fmt.Errorf("%s had begun before it was aborted, although one node at a time may", node)
		}
	}
	if failed == "" {
		return "", errors.New("no node is Failing")
	}
	return failed, nil
}

// unharmed tells what a node went through, and fails if it is not as before.
func (d *demo) unharmed(ctx context.Context, n *lab.Node, seen lab.Outage, before string, tried bool) error {
	switch gaps := len(seen.Gaps); {
	case tried && gaps == 0:
		return fmt.Errorf("%s was never out of reach, so nothing was shown", n.Name)
	case tried:
		d.say("%s: seen from outside %s, the longest of %.1f s (the probes had 10 s)", n.Name, outages(gaps), seen.Longest().Seconds())
	case gaps > 0:
		d.say("%s: seen from outside %s, the longest of %.1f s", n.Name, outages(gaps), seen.Longest().Seconds())
	default:
		d.say("%s: answered every one of %d pings", n.Name, seen.Sent)
	}
	after, err := n.Settled(ctx)
	if err != nil {
		return err
	}
	if after != before {
		return fmt.Errorf("%s is not as before: %s", n.Name, difference(before, after))
	}
	return nil
}

func outages(n int) string {
	if n == 1 {
		return "one outage"
	}
	return fmt.Sprintf("%d outages", n)
}

// difference is what of two texts is in one only.
func difference(before, after string) string {
	var all []string
	for line := range strings.Lines(before) {
		if !strings.Contains(after, line) {
			all = append(all, "was "+strings.TrimSpace(line))
		}
	}
	for line := range strings.Lines(after) {
		if !strings.Contains(before, line) {
			all = append(all, "is "+strings.TrimSpace(line))
		}
	}
	return strings.Join(all, "; ")
}

// follow tells how a policy fares until its condition is the one wanted, or the
// opposite, which is an error, and every enactment has said its last word.
func (d *demo) follow(ctx context.Context, policy string, want v1.ConditionType) (story, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("policy %s is not %s after %s", policy, want, patience))
	defer cancel()
	s := story{now: map[string]v1.Condition{}, worked: map[string]bool{}}
	began := time.Now()
	err := cluster.Until(ctx, d.cluster, &v1.NodeNetworkConfigurationEnactmentList{}, func(e *v1.NodeNetworkConfigurationEnactment) (bool, error) {
		node := e.Labels[v1.EnactmentNodeLabel]
		condition := cluster.True(e.Status.Conditions)
		if condition.Type == "" || condition.Type == s.now[node].Type {
			return s.over(len(d.cluster.Nodes())), nil
		}
		s.now[node] = condition
		s.worked[node] = s.worked[node] || condition.Type == v1.EnactmentProgressing
		d.say("%s: %s (%.1f s): %s", node, condition.Type, time.Since(began).Seconds(), condition.Message)
		return s.over(len(d.cluster.Nodes())), nil
	}, client.MatchingLabels{v1.EnactmentPolicyLabel: policy})
	if err != nil {
		return s, told(ctx, err)
	}
	err = cluster.Until(ctx, d.cluster, &v1.NodeNetworkConfigurationPolicyList{}, func(p *v1.NodeNetworkConfigurationPolicy) (bool, error) {
		condition := cluster.True(p.Status.Conditions)
		if p.Status.ObservedGeneration != p.Generation || condition.Type == v1.PolicyProgressing || condition.Type == "" {
			return false, nil
		}
		d.say("policy %s: %s (%.1f s): %s", policy, condition.Type, time.Since(began).Seconds(), condition.Message)
		if condition.Type != want {
			return false, fmt.Errorf("policy %s is %s and not %s: %s", policy, condition.Type, want, condition.Message)
		}
		return true, nil
	}, client.MatchingFields{"metadata.name": policy})
	return s, told(ctx, err)
}

// over says whether every node has said its last word.
func (s story) over(nodes int) bool {
	for _, condition := range s.now {
		switch condition.Type {
		case v1.EnactmentAvailable, v1.EnactmentFailing, v1.EnactmentAborted:
		default:
			return false
		}
	}
	return len(s.now) == nodes
}
