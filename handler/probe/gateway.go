package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/guard"
)

// defaultGateway passes when at least one default gateway answers: a node with
// two ways out is connected while one of them works.
func (l *Live) defaultGateway(ctx context.Context) error {
	gateways, err := defaultGateways()
	if err != nil {
		return fmt.Errorf("reading the main routing table: %w", err)
	}
	if len(gateways) == 0 {
		return errors.New("the main routing table has no default gateway")
	}
	return firstOf(ctx, addressesOf(gateways), l.pingGateway)
}

func (l *Live) pingGateway(ctx context.Context, gateway netip.Addr) error {
	budget := l.budget(ctx)
	err := ping(ctx, l.Clock, gateway)
	if errors.Is(err, errNoAnswer) {
		return fmt.Errorf("%s did not answer a ping%s", gateway, budget())
	}
	if err != nil {
		return fmt.Errorf("%s cannot be pinged: %w", gateway, err)
	}
	return nil
}

func addressesOf(targets []guard.Target) []netip.Addr {
	var found []netip.Addr
	for _, t := range targets {
		found = append(found, t.Address)
	}
	slices.SortFunc(found, netip.Addr.Compare)
	return slices.Compact(found)
}
