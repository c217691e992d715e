//go:build nmstate

package main

import (
	"os"
	"os/exec"
	"path/filepath"

	backend "github.com/nmstate/kubernetes-nmstate/handler/backend/nmstate"
	"github.com/nmstate/kubernetes-nmstate/handler/policy"
)

// captures are resolved with nmstate, which reads nothing but what it is given:
// no node is needed for it. Its helper is beside this program or on the PATH.
func captures() policy.Captures {
	const name = "nmstate-revert"
	if executable, err := os.Executable(); err == nil {
		if beside, err := exec.LookPath(filepath.Join(filepath.Dir(executable), name)); err == nil {
			return backend.Captures{Helper: beside}
		}
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return backend.Captures{}
	}
	return backend.Captures{Helper: found}
}
