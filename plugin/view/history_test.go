package view

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestHistoryTable(t *testing.T) {
	at := func(seconds int) metav1.Time { return metav1.NewTime(now().Add(time.Duration(seconds) * time.Second)) }
	history := []v1.PastTransaction{
		{Ended: at(0), Since: at(-4), Corrected: []string{"interfaces[eth1]"}, Result: v1.TransactionCommitted, Attempts: 3},
		{Ended: at(-60), Since: at(-62), Removed: []string{"a", "b"}, Result: v1.TransactionCommitted},
		{Ended: at(-120), Since: at(-130), Policy: "mtu", PolicyGeneration: 2, Result: v1.TransactionRolledBack, Message: "probing for 5s: dns: no answer"},
		{Ended: at(-200), Result: v1.TransactionSuperseded},
	}
	want := []string{
		"ENDED                  TOOK   RESULT              WHAT                        MESSAGE",
		"2026-11-24T12:00:30Z   -      Committed 3 times   drift of interfaces[eth1]   -",
		"2026-11-24T11:59:30Z   2s     Committed           without a, b                -",
		"2026-11-24T11:58:30Z   10s    RolledBack          mtu generation 2            probing for 5s: dns: no answer",
		"2026-11-24T11:57:10Z   -      Superseded          no policy                   -",
	}
	if diff := cmp.Diff(want, HistoryTable(history, NoPaint)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
