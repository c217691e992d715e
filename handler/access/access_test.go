package access

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"
	testclock "k8s.io/utils/clock/testing"
)

// cluster knows two tokens, of whose owners one may get /metrics.
type cluster struct {
	*fake.Clientset
	clock *testclock.FakeClock
	down  bool
	asked int
	inner http.Handler
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{Clientset: fake.NewClientset(), clock: testclock.NewFakeClock(time.Unix(1000, 0))}
	c.PrependReactor("create", "tokenreviews", func(action ktesting.Action) (bool, runtime.Object, error) {
		c.asked++
		if c.down {
			return true, nil, errors.New("connection refused")
		}
		review := action.(ktesting.CreateAction).GetObject().(*authenticationv1.TokenReview)
		review.Status.Authenticated = review.Spec.Token == "reader" || review.Spec.Token == "stranger"
		review.Status.User.Username = review.Spec.Token
		return true, review, nil
	})
	c.PrependReactor("create", "subjectaccessreviews", func(action ktesting.Action) (bool, runtime.Object, error) {
		review := action.(ktesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		review.Status.Allowed = review.Spec.User == "reader" && review.Spec.NonResourceAttributes.Path == "/metrics"
		return true, review, nil
	})
	door := newDoor(c.clock, c.AuthenticationV1().TokenReviews(), c.AuthorizationV1().SubjectAccessReviews())
	var err error
	c.inner, err = door.guard(logr.Discard(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *cluster) get(path, header string) int { return c.getFrom("192.0.2.1:1234", path, header) }

func (c *cluster) getFrom(address, path, header string) int {
	request := httptest.NewRequest(http.MethodGet, path, nil)
	request.RemoteAddr = address
	if header != "" {
		request.Header.Set("Authorization", header)
	}
	response := httptest.NewRecorder()
	c.inner.ServeHTTP(response, request)
	return response.Code
}

func TestMetricsAreForWhomTheAPIServerLets(t *testing.T) {
	for sentence, test := range map[string]struct {
		path, header string
		down         bool
		want         int
	}{
		"who may":                               {"/metrics", "Bearer reader", false, http.StatusOK},
		"who may, elsewhere":                    {"/other", "Bearer reader", false, http.StatusForbidden},
		"who may not":                           {"/metrics", "Bearer stranger", false, http.StatusForbidden},
		"a token that the cluster did not give": {"/metrics", "Bearer made-up", false, http.StatusUnauthorized},
		"no token":                              {"/metrics", "", false, http.StatusUnauthorized},
		"an empty token":                        {"/metrics", "Bearer ", false, http.StatusUnauthorized},
		"another way to say who one is":         {"/metrics", "Basic reader", false, http.StatusUnauthorized},
		"an API server that is not there":       {"/metrics", "Bearer reader", true, http.StatusServiceUnavailable},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t)
			c.down = test.down
			if got := c.get(test.path, test.header); got != test.want {
				t.Errorf("status %d, want %d", got, test.want)
			}
		})
	}
}

func TestAnAnswerIsBelievedForAMinute(t *testing.T) {
	c := newCluster(t)
	for range 3 {
		if got := c.get("/metrics", "Bearer reader"); got != http.StatusOK {
			t.Fatalf("status %d", got)
		}
		c.clock.Step(20*time.Second - 1)
	}
	if c.asked != 1 {
		t.Errorf("asked %d times within a minute, want once", c.asked)
	}
	c.clock.Step(time.Second)
	c.down = true
	if got := c.get("/metrics", "Bearer reader"); got != http.StatusServiceUnavailable {
		t.Errorf("status %d after a minute without the API server", got)
	}
	c.down = false
	if got := c.get("/metrics", "Bearer reader"); got != http.StatusOK {
		t.Errorf("status %d after a failure: it must not be remembered", got)
	}
}

func TestMadeUpTokensAskLittleAndForgetNobody(t *testing.T) {
	const stranger, prometheus, late = "192.0.2.9:1", "192.0.2.1:1", "192.0.2.2:1"
	c := newCluster(t)
	expect := func(address, token string, want int) {
		t.Helper()
		if got := c.getFrom(address, "/metrics", "Bearer "+token); got != want {
			t.Errorf("%s with token %q: status %d, want %d", address, token, got, want)
		}
	}
	expect(prometheus, "reader", http.StatusOK)
	flood := func(address string) {
		for i := range 3 * most {
			want := http.StatusUnauthorized
			if i >= callerBurst {
				want = http.StatusTooManyRequests
			}
			expect(address, fmt.Sprint("made-up ", address, i), want)
		}
	}
	flood(stranger)
	if c.asked != 1+callerBurst {
		t.Errorf("asked %d times, want %d", c.asked, 1+callerBurst)
	}
	expect(prometheus, "reader", http.StatusOK)
	if c.asked != 1+callerBurst {
		t.Errorf("strangers have the good token asked about again")
	}
	expect(late, "stranger", http.StatusForbidden) // Another caller may ask.
	for i := range allBurst {                      // As many addresses, with a token each.
		c.getFrom(fmt.Sprintf("198.51.100.%d:1", i), "/metrics", "Bearer made-up")
		c.getFrom(fmt.Sprintf("203.0.113.%d:1", i), "/metrics", fmt.Sprint("Bearer made-up ", i))
	}
	if c.asked != allBurst {
		t.Errorf("asked %d times, want %d for all unknown callers together", c.asked, allBurst)
	}
	expect(late, "a-new-reader", http.StatusTooManyRequests)

	c.clock.Step(remembered + time.Second)
	flood(stranger)
	expect(prometheus, "reader", http.StatusOK) // Asked about again, for it was let in before.
}
