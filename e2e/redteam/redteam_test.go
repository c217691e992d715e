package redteam

import (
	"errors"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestTheSecurityPageHasTheTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	if table := Table(Attempts()); !strings.Contains(string(page), table) {
		t.Errorf("docs/security.md lacks this table:\n%s", table)
	}
}

func TestWhatIsLetThroughHasAReason(t *testing.T) {
	for _, attempt := range Attempts() {
		if attempt.Want == Passes && attempt.Harmless == "" {
			t.Errorf("%s: say why it may be let through", attempt.What)
		}
	}
}

func TestOutcome(t *testing.T) {
	forbidden := func(says string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "x", errors.New(says))
	}
	for sentence, tt := range map[string]struct {
		err   error
		want  Outcome
		known bool
	}{
		"nothing is in the way":        {nil, Passes, true},
		"it has no effect":             {errIgnored, Ignored, true},
		"no right":                     {forbidden("cannot patch resource"), NoRight, true},
		"admission":                    {forbidden("ValidatingAdmissionPolicy 'p' denied request"), Admission, true},
		"an expression that is wrong":  {forbidden("ValidatingAdmissionPolicy 'p' denied request: expression 'x' resulted in error: cost"), "", false},
		"the schema":                   {apierrors.NewBadRequest("strict decoding"), Schema, true},
		"too large for a request":      {apierrors.NewRequestEntityTooLargeError("limit"), TooLarge, true},
		"too large for etcd":           {errors.New("etcdserver: request is too large"), TooLarge, true},
		"what says nothing about that": {errors.New("connection refused"), "", false},
	} {
		if got, known := outcome(tt.err); got != tt.want || known != tt.known {
			t.Errorf("%s: %q (%v)", sentence, got, known)
		}
	}
}
