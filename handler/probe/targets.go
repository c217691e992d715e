package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/nmstate/kubernetes-nmstate/handler/guard"
)

// Targets implements Prober.
func (l *Live) Targets(ctx context.Context, name string) ([]guard.Target, error) {
	found, err := l.targets(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, oneLine{err})
	}
	return found, nil
}

func (l *Live) targets(ctx context.Context, name string) ([]guard.Target, error) {
	switch {
	case name == DefaultGateway:
		found, err := defaultGateways()
		if err != nil {
			return nil, fmt.Errorf("reading the main routing table: %w", err)
		}
		return found, nil
	case name == DNS:
		servers, err := l.nameServers(ctx)
		var found []guard.Target
		for _, server := range servers {
			found = append(found, guard.Target{Address: server})
		}
		return found, err
	case name == APIServer && l.KubeConfig != nil:
		return l.apiServers(ctx)
	}
	return nil, nil
}

// Ask implements Prober.
func (l *Live) Ask(ctx context.Context, name string, groups [][]netip.Addr) error {
	err := ctx.Err()
	if err == nil {
		err = l.askGroups(ctx, name, groups)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, oneLine{err})
	}
	return nil
}

func (l *Live) askGroups(ctx context.Context, name string, groups [][]netip.Addr) error {
	var task func(ctx context.Context, address netip.Addr) error
	switch {
	case name == DefaultGateway:
		task = l.pingGateway
	case name == DNS:
		task = func(ctx context.Context, server netip.Addr) error {
			return l.resolvesAt(ctx, server, l.DNSHost, defaultKinds())
		}
	case name == APIServer && l.KubeConfig != nil:
		task = l.apiServerAt
	default:
		return errors.New("it has no targets")
	}
	return allOf(groups, func(group []netip.Addr) error { return firstOf(ctx, group, task) })
}

// defaultKinds of records: name servers first, what the default host has always
// been asked for.
func defaultKinds() []dnsmessage.Type {
	return []dnsmessage.Type{dnsmessage.TypeNS, dnsmessage.TypeA, dnsmessage.TypeAAAA}
}

// allOf runs a task for each target side by side, to the end of each. The error
// holds what each said that failed.
func allOf[T any](targets []T, task func(target T) error) error {
	failures := make([]error, len(targets))
	var group sync.WaitGroup
	for i, target := range targets {
		group.Go(func() { failures[i] = task(target) })
	}
	group.Wait()
	return errors.Join(failures...)
}
