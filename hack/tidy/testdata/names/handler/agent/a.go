package agent

import "sigs.k8s.io/controller-runtime/pkg/manager"

type agent struct{ manager manager.Manager }
