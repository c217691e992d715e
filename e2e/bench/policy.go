//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
)

// bridge is the small policy's state: a bridge over a NIC with a static address
// and a route. The port's empty vlan is left alone on every kernel.
const bridge = `{
  "interfaces": [{
    "name": "br1", "type": "linux-bridge", "state": "up",
    "ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "198.51.100.1", "prefix-length": 24}]},
    "bridge": {"options": {"stp": {"enabled": false}}, "port": [{"name": "eth1", "vlan": {}}]}
  }],
  "routes": {"config": [{"destination": "203.0.113.0/24", "next-hop-address": "198.51.100.254", "next-hop-interface": "br1"}]}
}`

// noBridge takes away all that bridge brought.
const noBridge = `{"interfaces": [
  {"name": "br1", "type": "linux-bridge", "state": "absent"},
  {"name": "eth1", "type": "ethernet", "state": "absent"}
]}`

// cutOff moves the NIC that carries the API server to another network.
const cutOff = `{"interfaces": [{
  "name": "eth0", "type": "ethernet", "state": "up",
  "ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "203.0.113.77", "prefix-length": 24}]}
}]}`

// patience is how long anything may take before the run is given up.
const patience = 15 * time.Minute

// policyFor is a policy for the measured node only.
func (b *bench) policyFor(name, desired string) *v1.NodeNetworkConfigurationPolicy {
	p := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: b.one.Name}
	p.Spec.DesiredState = v1.NewState([]byte(desired))
	return p
}

// times of one policy as the API shows it.
type times struct {
	created, enactment, policy time.Time
}

// create creates a policy and waits until its enactment, and then itself, is
// Available.
func (b *bench) create(ctx context.Context, p *v1.NodeNetworkConfigurationPolicy) (times, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("policy %s is not Available after %s", p.Name, patience))
	defer cancel()
	var t times
	seen := make(chan error, 2)
	go func() {
		seen <- cluster.Until(ctx, b.cluster, &v1.NodeNetworkConfigurationEnactmentList{}, func(e *v1.NodeNetworkConfigurationEnactment) (bool, error) {
			if cluster.Has(e.Status.Conditions, v1.EnactmentFailing) {
				return false, fmt.Errorf("%s: %s", e.Name, cluster.True(e.Status.Conditions).Message)
			}
			t.enactment = time.Now()
			return cluster.Has(e.Status.Conditions, v1.EnactmentAvailable), nil
		}, client.MatchingLabels{v1.EnactmentPolicyLabel: p.Name})
	}()
	go func() {
		seen <- cluster.Until(ctx, b.cluster, &v1.NodeNetworkConfigurationPolicyList{}, func(p *v1.NodeNetworkConfigurationPolicy) (bool, error) {
			t.policy = time.Now()
			return p.Status.ObservedGeneration == p.Generation && cluster.Has(p.Status.Conditions, v1.PolicyAvailable), nil
		}, client.MatchingFields{"metadata.name": p.Name})
	}()
	b.settle(ctx, watchOpen)
	t.created = time.Now()
	if err := b.cluster.Client.Create(ctx, p); err != nil {
		return t, err
	}
	for range 2 {
		if err := <-seen; err != nil {
			return t, errors.Join(err, context.Cause(ctx))
		}
	}
	return t, nil
}

// watchOpen is how long opening a watch on this machine takes at most; later it
// would still tell the end, and measure it a little late.
const watchOpen = 100 * time.Millisecond

// remove deletes a policy and waits until its enactments are gone.
func (b *bench) remove(ctx context.Context, name string) error {
	p := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := client.IgnoreNotFound(b.cluster.Client.Delete(ctx, p)); err != nil {
		return err
	}
	key := client.ObjectKey{Name: v1.EnactmentName(b.one.Name, name)}
	return b.until(ctx, "the enactment of "+name+" to go", func() (bool, error) {
		err := b.cluster.Client.Get(ctx, key, &v1.NodeNetworkConfigurationEnactment{})
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

// until asks every few milliseconds.
func (b *bench) until(ctx context.Context, what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		b.settle(ctx, 20*time.Millisecond)
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		}
	}
}
