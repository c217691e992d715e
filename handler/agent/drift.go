package agent

import "github.com/nmstate/kubernetes-nmstate/handler/txn"

func (a *Agent) corrected(txn.Outcome) {}
