package agent

import (
	"context"
	"net/netip"
	"os/exec"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/libnmstate"
	"github.com/vishvananda/netlink"
)
