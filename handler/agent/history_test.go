package agent

import (
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestHistoryIsReportedWithTheOutcome(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.handler()
	n.want(2, "p", "br0")
	if got := n.outcome(2); got.Result != v1.TransactionCommitted {
		t.Fatalf("outcome = %+v", got)
	}
	status := n.get().Status
	if len(status.History) != 1 || status.History[0].Policy != "p" || status.History[0].Result != v1.TransactionCommitted {
		t.Fatalf("history = %+v", status.History)
	}
	if one := status.History[0]; one.Ended.IsZero() || one.Since.IsZero() || one.Ended.Before(&one.Since) {
		t.Errorf("it began at %s and ended at %s", one.Since, one.Ended)
	}
}
