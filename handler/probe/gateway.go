package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// defaultGateway passes when at least one default gateway answers: a node with
// two ways out is connected while one of them works, and a family that nobody
// routes (IPv6 router advertisements without an internet) must not hold it back.
func (l *Live) defaultGateway(ctx context.Context) error {
	gateways, err := defaultGateways()
	if err != nil {
		return fmt.Errorf("reading the main routing table: %w", err)
	}
	if len(gateways) == 0 {
		return errors.New("the main routing table has no default gateway")
	}
	slices.SortFunc(gateways, netip.Addr.Compare)
	gateways = slices.Compact(gateways)
	budget := l.budget(ctx)
	return firstOf(ctx, gateways, func(ctx context.Context, gateway netip.Addr) error {
		err := ping(ctx, l.Clock, gateway)
		if errors.Is(err, errNoAnswer) {
			return fmt.Errorf("%s did not answer a ping%s", gateway, budget())
		}
		if err != nil {
			return fmt.Errorf("%s cannot be pinged: %w", gateway, err)
		}
		return nil
	})
}
