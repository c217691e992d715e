package access

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	authentication "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	// remembered is how long an answer of the API server is believed.
	remembered = time.Minute
	// trusted is how long whoever was let in is asked about again whatever strangers do.
	trusted = time.Hour
	// most bounds what is remembered of each kind: callers choose their tokens.
	most = 100
	// A caller with tokens that were not let in lately asks the API server so many
	// questions a second, and so many at once; all such callers together so many.
	callerRate, callerBurst = 1, 10
	allRate, allBurst       = 20, 50
	// questionTimeout bounds the questions for one request.
	questionTimeout = 10 * time.Second
)

// Metrics serves metrics at the address, "0" for not at all: over HTTPS and to
// whom the API server lets, or openly.
func Metrics(address string, open bool, clock clock.PassiveClock) metricsserver.Options {
	if open {
		return metricsserver.Options{BindAddress: address}
	}
	return metricsserver.Options{BindAddress: address, SecureServing: true, FilterProvider: filter(clock)}
}

// filter returns what a metrics server asks for as its FilterProvider.
func filter(clock clock.PassiveClock) func(*rest.Config, *http.Client) (metricsserver.Filter, error) {
	return func(config *rest.Config, connection *http.Client) (metricsserver.Filter, error) {
		who, err := authentication.NewForConfigAndClient(config, connection)
		if err != nil {
			return nil, fmt.Errorf("preparing the metrics' token reviews: %w", err)
		}
		may, err := authorization.NewForConfigAndClient(config, connection)
		if err != nil {
			return nil, fmt.Errorf("preparing the metrics' access reviews: %w", err)
		}
		return newDoor(clock, who.TokenReviews(), may.SubjectAccessReviews()).guard, nil
	}
}

// door is asked for every request.
type door struct {
	clock clock.PassiveClock
	who   authentication.TokenReviewInterface
	may   authorization.SubjectAccessReviewInterface

	// let are the questions that were answered with yes, refused the others: what
	// strangers ask takes no room from those who may.
	let, refused *cache.LRUExpireCache
	// known are the questions that were once answered with yes.
	known *cache.LRUExpireCache
	// all bounds what unknown callers make us ask, and callers has the bound of each.
	all     flowcontrol.PassiveRateLimiter
	mu      sync.Mutex
	callers *cache.LRUExpireCache
}

func newDoor(clock clock.PassiveClock, who authentication.TokenReviewInterface, may authorization.SubjectAccessReviewInterface) *door {
	remembering := func() *cache.LRUExpireCache { return cache.NewLRUExpireCacheWithClock(most, clock) }
	return &door{
		clock: clock, who: who, may: may, let: remembering(), refused: remembering(), known: remembering(), callers: remembering(),
		all: flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(allRate, allBurst, clock),
	}
}

// question is what the API server was asked. The token itself is not kept.
type question struct {
	token [sha256.Size]byte
	path  string
}

func (d *door) guard(log logr.Logger, inner http.Handler) (http.Handler, error) {
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		token, is := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
		if !is || token == "" {
			http.Error(response, "a token of the cluster is needed", http.StatusUnauthorized)
			return
		}
		switch status, err := d.answer(request.Context(), caller(request), token, request.URL.Path); {
		case err != nil:
			log.Info("Whether metrics may be read cannot be asked", "cause", err.Error())
			http.Error(response, "the API server cannot be asked", http.StatusServiceUnavailable)
		case status != http.StatusOK:
			http.Error(response, http.StatusText(status), status)
		default:
			inner.ServeHTTP(response, request)
		}
	}), nil
}

// caller is the address that a request comes from, without its port.
func caller(request *http.Request) string {
	host, _, err := net.SplitHostPort(request.RemoteAddr)
	if err != nil {
		return request.RemoteAddr
	}
	return host
}

func (d *door) answer(ctx context.Context, caller, token, path string) (int, error) {
	asked := question{token: sha256.Sum256([]byte(token)), path: path}
	if _, yes := d.let.Get(asked); yes {
		return http.StatusOK, nil
	}
	if status, no := d.refused.Get(asked); no {
		return status.(int), nil
	}
	if _, known := d.known.Get(asked); !known && !d.mayAsk(caller) {
		return http.StatusTooManyRequests, nil
	}
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	status, err := d.ask(ctx, token, path)
	switch {
	case err != nil:
	case status == http.StatusOK:
		d.let.Add(asked, status, remembered)
		d.known.Add(asked, status, trusted)
	default:
		d.refused.Add(asked, status, remembered)
		d.known.Remove(asked)
	}
	return status, err
}

// mayAsk bounds what a caller with an unknown token makes us ask.
func (d *door) mayAsk(caller string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	var its flowcontrol.PassiveRateLimiter
	if found, there := d.callers.Get(caller); there {
		its = found.(flowcontrol.PassiveRateLimiter)
	} else {
		its = flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(callerRate, callerBurst, d.clock)
	}
	d.callers.Add(caller, its, trusted)
	return its.TryAccept() && d.all.TryAccept()
}

func (d *door) ask(ctx context.Context, token, path string) (int, error) {
	review, err := d.who.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("reviewing a token: %w", err)
	}
	if !review.Status.Authenticated {
		return http.StatusUnauthorized, nil
	}
	user := review.Status.User
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	access, err := d.may.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"},
	}}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("reviewing the access of %s: %w", user.Username, err)
	}
	if !access.Status.Allowed {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}
