package idle

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// ChangedPolicy is the policy in which the wanted sources differ from the committed
// ones: by rule there is one; a removal has no author. Where another one comes back
// with it, the spec names which of them it is.
func ChangedPolicy(named string, wanted, committed []v1.DesiredSource) string {
	known := map[string]string{}
	for _, s := range committed {
		known[s.Policy] = s.Hash
	}
	first := ""
	for _, s := range wanted {
		switch {
		case known[s.Policy] == s.Hash:
		case s.Policy == named:
			return s.Policy
		case first == "":
			first = s.Policy
		}
	}
	return first
}

// SameSources tells whether nothing differs between two lists of sources.
func SameSources(a, b []v1.DesiredSource) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equality.Semantic.DeepEqual(a[i], b[i]) {
			return false
		}
	}
	return true
}

// InSeconds is a time as the API keeps it, in whole seconds: a finer one would
// differ from what was reported for ever.
func InSeconds(t time.Time) *metav1.Time {
	whole := metav1.NewTime(t.Truncate(time.Second))
	return &whole
}
