package view

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// TryPolicy is the policy with a person's confirmation on every node, for which there is
// so much time.
func TryPolicy(policy *v1.NodeNetworkConfigurationPolicy, long time.Duration) *v1.NodeNetworkConfigurationPolicy {
	tried := policy.DeepCopy()
	tried.Spec.Probes = slices.DeleteFunc(tried.Spec.Probes, func(p v1.Probe) bool { return p.Type == v1.ProbeConfirm })
	seconds := int32(long / time.Second)
	tried.Spec.Probes = append(tried.Spec.Probes, v1.Probe{Type: v1.ProbeConfirm, TimeoutSeconds: &seconds})
	return tried
}

// IsConfirmed tells whether a person has confirmed the policy as it is now.
func IsConfirmed(policy *v1.NodeNetworkConfigurationPolicy) bool {
	return policy.Annotations[v1.ConfirmAnnotation] == strconv.FormatInt(policy.Generation, 10)
}

// Question asks a person whether to keep a change, and tells how much time there is for
// the answer. It is empty where no node waits for one.
func (p Policy) Question(now time.Time) string {
	nodes, left, until := p.names(Confirm), time.Duration(0), ""
	for _, node := range p.Nodes {
		if node.Phase != Confirm {
			continue
		}
		if at, err := time.Parse("15:04:05Z", node.ConfirmUntil); err == nil {
			if l := leftUntil(at, now); until == "" || l < left {
				left, until = l, node.ConfirmUntil
			}
		}
	}
	switch {
	case len(nodes) == 0:
		return ""
	case until == "":
		return fmt.Sprintf("keep the change on %s? [y/N]", names(nodes))
	}
	return fmt.Sprintf("keep the change on %s? It is taken back in %s, at %s [y/N]", names(nodes), Duration(left), until)
}

// leftUntil a time of the day, of today or of the day after.
func leftUntil(clock, now time.Time) time.Duration {
	now = now.UTC()
	at := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, time.UTC)
	if now.Sub(at) > 12*time.Hour {
		at = at.AddDate(0, 0, 1)
	}
	return max(0, at.Sub(now))
}
