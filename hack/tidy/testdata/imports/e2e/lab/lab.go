package lab

import (
	"net"
	"os/exec"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/handler/libnmstate"
)
