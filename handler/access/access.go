package access

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authentication "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	// remembered is how long an answer of the API server is believed.
	remembered = time.Minute
	// most bounds what is remembered: callers choose their tokens.
	most = 100
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
		door := &door{clock: clock, who: who.TokenReviews(), may: may.SubjectAccessReviews(), answers: map[question]answer{}}
		return door.guard, nil
	}
}

// door is asked for every request.
type door struct {
	clock clock.PassiveClock
	who   authentication.TokenReviewInterface
	may   authorization.SubjectAccessReviewInterface

	mu      sync.Mutex
	answers map[question]answer
}

// question is what the API server was asked. The token itself is not kept.
type question struct {
	token [sha256.Size]byte
	path  string
}

type answer struct {
	status int
	until  time.Time
}

func (d *door) guard(log logr.Logger, inner http.Handler) (http.Handler, error) {
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		token, is := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
		if !is || token == "" {
			http.Error(response, "a token of the cluster is needed", http.StatusUnauthorized)
			return
		}
		switch status, err := d.answer(request.Context(), token, request.URL.Path); {
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

func (d *door) answer(ctx context.Context, token, path string) (int, error) {
	asked := question{token: sha256.Sum256([]byte(token)), path: path}
	if known, ok := d.known(asked); ok {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	status, err := d.ask(ctx, token, path)
	if err == nil {
		d.remember(asked, status)
	}
	return status, err
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

func (d *door) known(asked question) (int, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, ok := d.answers[asked]
	return found.status, ok && d.clock.Now().Before(found.until)
}

func (d *door) remember(asked question, status int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.answers) >= most {
		clear(d.answers)
	}
	d.answers[asked] = answer{status: status, until: d.clock.Now().Add(remembered)}
}
