package desired

import (
	"fmt"
	"hash/fnv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

const (
	// shownRetries is how many failed attempts in a row are shown as
	// Retrying; after that the policy is Failing, and still tried again.
	shownRetries = 5

	firstRetry = time.Second
	// lastRetry, with its jitter, is at most five minutes (design, rule 5).
	lastRetry = 4 * time.Minute
)

// retryDelay is how long a policy waits on a node after this many failed
// attempts in a row: from one second, doubling, to five minutes. The jitter is
// up to a quarter more and depends only on what the delay is for, so that
// nodes that failed together do not try again together.
func retryDelay(node, policy string, attempts int32) time.Duration {
	delay := lastRetry
	if attempts < 9 { // 2^8 seconds is over four minutes.
		delay = min(lastRetry, firstRetry<<(attempts-1))
	}
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s/%s/%d", node, policy, attempts)
	const parts = 1024
	return delay + delay/4*time.Duration(hash.Sum64()%parts)/parts
}

// retryTime is in whole seconds, rounded up, as the API keeps them.
func retryTime(now time.Time, delay time.Duration) *metav1.Time {
	at := now.Add(delay)
	if whole := at.Truncate(time.Second); whole.Before(at) {
		at = whole.Add(time.Second)
	}
	return &metav1.Time{Time: at}
}

// recount begins the wait anew where its end is further away than it ever is: a
// clock that was ahead then, or is behind now, has written it, and how much of the
// wait is over nobody knows. By the written end the policy could wait for hours.
func (m *member) recount(in Input) {
	retry := m.status.Retry
	if retry == nil || retry.After == nil {
		return
	}
	latest := retryTime(in.Now, retryDelay(in.Node, m.name, max(1, retry.Attempts)))
	if retry.After.After(latest.Time) {
		m.status.Retry = &v1.EnactmentRetry{Attempts: retry.Attempts, After: latest}
	}
}
