package rollout

import (
	"context"

	"github.com/nmstate/kubernetes-nmstate/handler/backend/nmstate"
	"sigs.k8s.io/controller-runtime/pkg/client"
)
