package skipped

import (
	"fmt"
	"strings"

	"github.com/onsi/ginkgo/v2/types"
)

// Lines has a line for each spec that was skipped with a reason, in the order of
// the report; Ginkgo itself tells the reasons only where it tells everything.
// Without a skipped spec it is empty. Every line begins with the line feed:
// Ginkgo may be in the middle of one.
func Lines(report types.Report) string {
	var lines strings.Builder
	for _, spec := range report.SpecReports {
		if reason := spec.FailureMessage(); spec.State.Is(types.SpecStateSkipped) && reason != "" {
			fmt.Fprintf(&lines, "\n[SKIPPED] %s (spec: %s)", strings.Join(strings.Fields(reason), " "), spec.FullText())
		}
	}
	return lines.String()
}
