package swarm

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/sim/cluster"
	"github.com/nmstate/kubernetes-nmstate/sim/network"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Rollout is a good policy for every node of a large cluster.
type Rollout struct {
	Nodes int `json:"nodes"`
	// MaxUnavailable of the policy.
	MaxUnavailable string `json:"maxUnavailable"`
	Centralized    bool   `json:"centralized"`
}

// RolledOut is what it came to.
type RolledOut struct {
	// Took is the virtual time from the policy's creation until it was Available
	// everywhere.
	Took    time.Duration `json:"tookNanoseconds"`
	Figures Figures       `json:"figures"`
	Hash    uint64        `json:"hash"`
}

const (
	rolloutPolicy = "storage"
	rolloutState  = `{"interfaces": [{"name": "br1", "type": "linux-bridge", "state": "up", "bridge": {"port": [{"name": "eth1", "vlan": {}}]}}]}`
	// rolloutBound is longer than any rollout may take, in virtual time.
	rolloutBound = 6 * time.Hour
)

// Execute rolls it out.
func (r Rollout) Execute(ctx context.Context, seed uint64) (RolledOut, error) {
	w := world.New(seed)
	defer w.Close()
	run := Run{Seed: seed}
	x := &execution{ctx: ctx, run: &run, world: w}
	mode := cluster.Distributed
	if r.Centralized {
		mode = cluster.Centralized
	}
	if err := x.prepareWith(cluster.Options{Topology: network.Nodes(r.Nodes, 1), Mode: mode}, ""); err != nil {
		return RolledOut{}, err
	}
	if err := w.RunFor(time.Minute); err != nil {
		return RolledOut{}, err
	}
	most := intstr.Parse(r.MaxUnavailable)
	policy := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: rolloutPolicy}}
	policy.Spec.MaxUnavailable, policy.Spec.DesiredState = &most, v1.NewState([]byte(rolloutState))
	if err := x.effects.client().Create(ctx, policy); err != nil {
		return RolledOut{}, fmt.Errorf("creating the policy: %w", err)
	}
	began, looked, done := w.Elapsed(), time.Duration(0), false
	err := w.RunUntil(began+rolloutBound, func() bool {
		if w.Elapsed()-looked < time.Second {
			return false
		}
		looked, done = w.Elapsed(), x.rolledOut(r.Nodes)
		return done || ctx.Err() != nil
	})
	x.figures.count(x)
	out := RolledOut{Took: w.Elapsed() - began, Figures: x.figures, Hash: w.Hash()}
	if err == nil && !done && ctx.Err() == nil {
		err = fmt.Errorf("after %s the policy is not Available on all of %d nodes: %+v", out.Took, r.Nodes, x.rolloutStatus())
	}
	return out, err
}

func (x *execution) rolloutStatus() v1.NodeNetworkConfigurationPolicyStatus {
	if p, is := x.cluster.API.Look(&v1.NodeNetworkConfigurationPolicy{}, rolloutPolicy).(*v1.NodeNetworkConfigurationPolicy); is {
		return p.Status
	}
	return v1.NodeNetworkConfigurationPolicyStatus{}
}

func (x *execution) rolledOut(nodes int) bool {
	return int(x.rolloutStatus().Counts.Available) == nodes
}
