//go:build nmstate

package main

import (
	"github.com/nmstate/kubernetes-nmstate/controllers/policy"
	backend "github.com/nmstate/kubernetes-nmstate/handler/backend/nmstate"
)

// captures are resolved with libnmstate, which reads nothing but what it is
// given: no node is needed for it.
func captures() policy.Captures { return backend.Captures{} }
