package policy

import (
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout"
	"github.com/nmstate/kubernetes-nmstate/handler/agent"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)
