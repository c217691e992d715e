//go:build !linux

package probe

import (
	"errors"
	"net/netip"
)

func defaultGateways() ([]netip.Addr, error) {
	return nil, errors.New("default gateways are only read on Linux")
}
