//go:build !nmstate

package main

import "github.com/nmstate/kubernetes-nmstate/handler/policy"

// captures are refused where the program was built without libnmstate.
func captures() policy.Captures { return nil }
