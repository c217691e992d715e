package plan

import "sigs.k8s.io/controller-runtime/pkg/client"
