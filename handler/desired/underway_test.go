package desired

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestEventsOfAChangeThatTakesItsTime(t *testing.T) {
	at := func(second int) metav1.Time {
		return metav1.NewTime(time.Date(2026, 11, 22, 10, 0, second, 0, time.UTC))
	}
	running := func(phase string, waiting ...string) *v1.Transaction {
		return &v1.Transaction{Generation: 3, Policy: "web", Phase: phase, Since: at(5), WaitingFor: waiting}
	}
	ended := func(result v1.TransactionResult, message string) *v1.Transaction {
		return &v1.Transaction{Generation: 3, Policy: "web", Phase: "Idle", Since: at(5), Result: result, Message: message}
	}
	older := &v1.Transaction{Generation: 2, Policy: "old", Phase: "Idle", Since: at(1), Result: v1.TransactionCommitted}
	asking := running("Probing", "confirm")
	asking.Message = "waiting for confirmation until 10:05:00Z: kubectl annotate"
	correction := &v1.Transaction{Generation: 2, Phase: "Probing", Since: at(9), WaitingFor: []string{"dns"}, Message: "putting right what has drifted: eth1"}
	const runs = "the change for policy web has run since 10:00:05Z and is in phase Probing, waiting for "
	waiting := func(message string) Event { return Event{Policy: "web", Reason: EventChangeWaiting, Message: message} }
	end := func(warning bool, message string) Event {
		return Event{Policy: "web", Reason: EventChangeEnded, Warning: warning, Message: "the change for policy web, begun at 10:00:05Z, has ended" + message}
	}
	for sentence, c := range map[string]struct {
		before, after *v1.Transaction
		want          []Event
	}{
		"there was never one":                            {nil, nil, nil},
		"a quick one has ended":                          {older, ended(v1.TransactionCommitted, ""), nil},
		"one runs, the first":                            {nil, running("Probing", "dns"), []Event{waiting(runs + "dns")}},
		"one runs after another":                         {older, running("Probing", "api-server", "dns"), []Event{waiting(runs + "api-server, dns")}},
		"one asks a person":                              {older, asking, []Event{waiting(runs + "confirm: waiting for confirmation until 10:05:00Z: kubectl annotate")}},
		"it goes on":                                     {running("Probing", "dns"), running("RollingBack"), nil},
		"it has ended well":                              {running("Probing", "dns"), ended(v1.TransactionCommitted, ""), []Event{end(false, " as Committed")}},
		"it has ended badly":                             {running("Settling"), ended(v1.TransactionRolledBack, "dns: no answer"), []Event{end(true, " as RolledBack: dns: no answer")}},
		"it was superseded":                              {running("Probing"), ended(v1.TransactionSuperseded, "the desired state changed"), []Event{end(false, " as Superseded: the desired state changed")}},
		"it has ended and the next one runs":             {&v1.Transaction{Generation: 2, Policy: "old", Phase: "Probing", Since: at(1)}, running("Applying"), []Event{{Policy: "old", Reason: EventChangeEnded, Message: "the change for policy old, begun at 10:00:01Z, has ended"}, waiting("the change for policy web has run since 10:00:05Z and is in phase Applying")}},
		"drift is put right":                             {older, correction, []Event{{Reason: EventChangeWaiting, Message: "the change for generation 2 has run since 10:00:09Z and is in phase Probing, waiting for dns: putting right what has drifted: eth1"}}},
		"drift was put right":                            {correction, older, []Event{{Reason: EventChangeEnded, Message: "the change for generation 2, begun at 10:00:09Z, has ended"}}},
		"the NodeNetworkState was deleted in mid-change": {running("Probing"), nil, []Event{end(false, "")}},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, TransactionEvents(c.before, c.after)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
