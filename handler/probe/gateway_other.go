//go:build !linux

package probe

import (
	"errors"

	"github.com/nmstate/kubernetes-nmstate/handler/guard"
)

func defaultGateways() ([]guard.Target, error) {
	return nil, errors.New("default gateways are only read on Linux")
}
