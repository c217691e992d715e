package record

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// shortHistory is one line for each, the newest first, without times.
func shortHistory(all []v1.PastTransaction) []string {
	var lines []string
	for _, one := range all {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprint(one.Policy, " ", one.PolicyGeneration, " ", one.Removed, " ", one.Corrected, " ", one.Result, " ", one.Attempts)), " "))
	}
	return lines
}

func TestWhatIsRemembered(t *testing.T) {
	one := func(policy string, generation int64, result v1.TransactionResult) v1.PastTransaction {
		return v1.PastTransaction{Policy: policy, PolicyGeneration: generation, Result: result}
	}
	corrected := v1.PastTransaction{Corrected: []string{"interfaces[eth1]"}, Result: v1.TransactionCommitted}
	var many []v1.PastTransaction
	var newest []string
	for i := range int64(30) {
		many = append(many, one("p", i+1, v1.TransactionCommitted))
		if i >= 20 {
			newest = append([]string{fmt.Sprintf("p %d [] [] Committed 0", i+1)}, newest...)
		}
	}
	tests := map[string]struct {
		ended []v1.PastTransaction
		want  []string
	}{
		"the newest first":                        {[]v1.PastTransaction{one("a", 1, v1.TransactionCommitted), one("b", 1, v1.TransactionRolledBack)}, []string{"b 1 [] [] RolledBack 0", "a 1 [] [] Committed 0"}},
		"attempts that come to the same":          {[]v1.PastTransaction{one("a", 1, v1.TransactionRefused), one("a", 1, v1.TransactionRefused), one("a", 1, v1.TransactionRefused)}, []string{"a 1 [] [] Refused 3"}},
		"another generation":                      {[]v1.PastTransaction{one("a", 1, v1.TransactionRefused), one("a", 2, v1.TransactionRefused)}, []string{"a 2 [] [] Refused 0", "a 1 [] [] Refused 0"}},
		"what is committed twice":                 {[]v1.PastTransaction{one("a", 1, v1.TransactionCommitted), one("a", 1, v1.TransactionCommitted)}, []string{"a 1 [] [] Committed 0", "a 1 [] [] Committed 0"}},
		"drift that is put right again and again": {[]v1.PastTransaction{corrected, corrected}, []string{"0 [] [interfaces[eth1]] Committed 2"}},
		"no more than ten":                        {many, newest},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var history []v1.PastTransaction
			for _, ended := range tc.ended {
				history = remembered(history, ended)
			}
			if diff := cmp.Diff(tc.want, shortHistory(history)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
