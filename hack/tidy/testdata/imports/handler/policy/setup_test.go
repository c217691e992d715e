package policy

import "github.com/nmstate/kubernetes-nmstate/sim/apiserver"
