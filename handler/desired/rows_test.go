package desired

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// TestRows compares every row with the table of the API contract.
func TestRows(t *testing.T) {
	for name, test := range map[string]struct {
		row  row
		want string
	}{
		"unknown":     {unknownRow(), "Failing=Unknown() Available=Unknown() Progressing=Unknown() Pending=Unknown() Aborted=Unknown()"},
		"progressing": {progressingRow(), "Failing=Unknown(ConfigurationProgressing) Available=Unknown(ConfigurationProgressing) Progressing=True(ConfigurationProgressing) Pending=False(ConfigurationProgressing) Aborted=False(ConfigurationProgressing)"},
		"success":     {successRow(), "Failing=False(SuccessfullyConfigured) Available=True(SuccessfullyConfigured) Progressing=False(SuccessfullyConfigured) Pending=False(SuccessfullyConfigured) Aborted=False(SuccessfullyConfigured)"},
		"failed":      {failedRow("x"), "Failing=True(FailedToConfigure) Available=False(FailedToConfigure) Progressing=False(FailedToConfigure) Pending=False(FailedToConfigure) Aborted=False(SuccessfullyConfigured)"},
		"retrying":    {retryingRow("x", 2), "Failing=True(Retrying) Available=False(Retrying) Progressing=True(Retrying) Pending=False(Retrying) Aborted=False(SuccessfullyConfigured)"},
		"pending":     {pendingRow("x"), "Failing=False(MaxUnavailableLimitReached) Available=False(MaxUnavailableLimitReached) Progressing=False(MaxUnavailableLimitReached) Pending=True(MaxUnavailableLimitReached) Aborted=False(MaxUnavailableLimitReached)"},
		"planned":     {plannedRow("x"), "Failing=False(Planned) Available=False(Planned) Progressing=False(Planned) Pending=False(Planned) Aborted=False(Planned) Planned=True(Planned)"},
		"aborted":     {abortedRow("x", ""), "Failing=False(ConfigurationAborted) Available=False(ConfigurationAborted) Progressing=False(ConfigurationAborted) Pending=False(ConfigurationAborted) Aborted=True(ConfigurationAborted)"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range test.row.onto(nil, metav1.Now()) {
				got = append(got, string(c.Type)+"="+string(c.Status)+"("+string(c.Reason)+")")
				if c.ObservedGeneration != 0 || (c.Message != "") != (c.Status == yes) {
					t.Errorf("%+v", c)
				}
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The older project has one reason for everything that waits; ours tell what for.
func TestAWaitHasTheReasonOfWhatIsWaitedFor(t *testing.T) {
	policy := &v1.NodeNetworkConfigurationPolicy{}
	policy.Generation = 2
	holds := func(reason v1.ConditionReason, generation int64) row {
		policy.Status.Conditions = []v1.Condition{{Type: v1.Reconciling, Status: yes, Reason: reason, ObservedGeneration: generation}}
		return heldRow(HoldOf(policy))
	}
	for sentence, c := range map[string]struct {
		row  row
		want v1.ConditionReason
	}{
		"a slot":                                 {holds(v1.ReasonConfigurationProgressing, 2), v1.ReasonMaxUnavailableLimitReached},
		"a person":                               {holds(v1.ReasonPaused, 2), v1.ReasonPaused},
		"the nodes that go first":                {holds(v1.ReasonCanary, 2), v1.ReasonCanary},
		"configured nodes to stay so":            {holds(v1.ReasonSoaking, 2), v1.ReasonSoaking},
		"what an older generation waited for":    {holds(v1.ReasonPaused, 1), v1.ReasonMaxUnavailableLimitReached},
		"somebody to manage the node":            {setAsideRow(), v1.ReasonNotManaged},
		"something that the message alone names": {pendingRow("Waiting for LLDP neighbours of eth1"), v1.ReasonMaxUnavailableLimitReached},
	} {
		if c.row.reason != c.want || c.row.pending != yes || c.row.message == "" {
			t.Errorf("waiting for %s: %+v, want reason %s", sentence, c.row, c.want)
		}
	}
}

func TestAnAbortedNodeNamesTheCause(t *testing.T) {
	if got := abortedRow("b.p", "a: a probe was lost").message; got != `reconciliation of enactment "b.p" has aborted: a: a probe was lost` {
		t.Error(got)
	}
}

// TestMessagesFitAndAreOneLine walks every row with a cause as long as a
// document and with line breaks.
func TestMessagesFitAndAreOneLine(t *testing.T) {
	huge := strings.Repeat("zwölf Boxkämpfer\r\njagen Viktor\n", 400)
	for name, r := range map[string]row{
		"progressing": waitingRow(huge), "failed": failedRow(huge), "retrying": retryingRow(huge, 3),
		"pending": pendingRow(huge), "aborted": abortedRow(strings.Repeat("n", 253)+"."+strings.Repeat("p", 63), huge),
		"planned": plannedRow(huge), "success": successRow(),
	} {
		for _, c := range r.onto(nil, metav1.Now()) {
			if len(c.Message) > 1024 || strings.ContainsAny(c.Message, "\r\n") || strings.ToValidUTF8(c.Message, "") != c.Message {
				t.Errorf("%s: %d bytes: %q", name, len(c.Message), c.Message)
			}
		}
	}
	conflict := Conflict{Policy: strings.Repeat("p", 63), Other: strings.Repeat("q", 63), Path: strings.Repeat("interfaces[x].", 100), Value: shownAt("x", huge), OtherValue: shownAt("x", huge)}
	if line := failedRow(conflict.String()).message; len(line) > 1024 || strings.Contains(line, "\n") {
		t.Errorf("a conflict: %q", line)
	}
}
