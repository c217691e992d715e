package desired

import "github.com/nmstate/kubernetes-nmstate/handler/agent"

func change() { agent.Exported[0] = "b" }
