package rollout

import "github.com/nmstate/kubernetes-nmstate/plugin/view"
