package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// maxAddresses of a host and family are tried; a name with more is a service
// of which some are as good as all.
const maxAddresses = 8

// errNoRecord: the server knows the name, and nothing of that type.
var errNoRecord = errors.New("has no record")

// reach runs a task for each address of a host and passes as soon as one of
// them does. A name is looked up anew at the node's own name servers, never in
// the hosts file or by search domains, which in a container are not the node's.
func (l *Live) reach(ctx context.Context, host string, task func(ctx context.Context, address netip.Addr) error) error {
	if address, err := netip.ParseAddr(host); err == nil {
		return task(ctx, address.Unmap())
	}
	servers, err := l.servers(ctx)
	if err != nil {
		return err
	}
	// Side by side to the end: a name server that does not answer for one
	// family, or a family without a way out, must not cost the other its time.
	families := []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA}
	failures := make([]error, len(families))
	err = firstOf(ctx, []int{0, 1}, func(ctx context.Context, i int) error {
		var addresses []netip.Addr
		if addresses, failures[i] = l.lookUp(ctx, servers, host, families[i]); failures[i] == nil {
			failures[i] = firstOf(ctx, addresses, func(ctx context.Context, address netip.Addr) error {
				if err := task(ctx, address); err != nil {
					return fmt.Errorf("%s: %w", address, err)
				}
				return nil
			})
		}
		return failures[i]
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(failures[0], errNoRecord), failures[0].Error() == failures[1].Error():
		return failures[1]
	case errors.Is(failures[1], errNoRecord):
		return failures[0]
	}
	return err
}

// servers are the node's name servers; none is an error.
func (l *Live) servers(ctx context.Context) ([]netip.Addr, error) {
	servers, err := l.nameServers(ctx)
	if err == nil && len(servers) == 0 {
		err = errors.New("the host has no name server")
	}
	return servers, err
}

// lookUp returns what the first server that has any addresses says.
func (l *Live) lookUp(ctx context.Context, servers []netip.Addr, host string, kind dnsmessage.Type) ([]netip.Addr, error) {
	var first sync.Once
	var found []netip.Addr
	budget := l.budget(ctx)
	err := firstOf(ctx, servers, func(ctx context.Context, server netip.Addr) error {
		q, err := newQuestion(host, kind)
		if err != nil {
			return err
		}
		packet, err := l.ask(ctx, server, q)
		if errors.Is(err, errNoAnswer) {
			return fmt.Errorf("%s did not answer for %s%s", server, host, budget())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", server, err)
		}
		addresses := addressesIn(packet)
		if len(addresses) == 0 {
			return fmt.Errorf("%s: %w of an address of %s", server, errNoRecord, host)
		}
		first.Do(func() { found = addresses })
		return nil
	})
	return found, err
}

// addressesIn are those of an answer, whatever aliases led to them.
func addressesIn(packet []byte) []netip.Addr {
	var parser dnsmessage.Parser
	if _, err := parser.Start(packet); err != nil || parser.SkipAllQuestions() != nil {
		return nil
	}
	var found []netip.Addr
	for len(found) < maxAddresses {
		header, err := parser.AnswerHeader()
		if err != nil {
			return found
		}
		switch header.Type {
		case dnsmessage.TypeA:
			var record dnsmessage.AResource
			record, err = parser.AResource()
			found = append(found, netip.AddrFrom4(record.A))
		case dnsmessage.TypeAAAA:
			var record dnsmessage.AAAAResource
			record, err = parser.AAAAResource()
			found = append(found, netip.AddrFrom16(record.AAAA).Unmap())
		default:
			err = parser.SkipAnswer()
		}
		if err != nil {
			return nil
		}
	}
	return found
}
