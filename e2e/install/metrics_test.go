package install

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
	"github.com/nmstate/kubernetes-nmstate/handler/access"
)

// token is one of a service account.
func (i *installed) token(account string) string {
	i.Helper()
	ask := &authenticationv1.TokenRequest{}
	owner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "nmstate", Name: account}}
	i.must(i.admin.SubResource("token").Create(i.Context(), owner, ask))
	return ask.Status.Token
}

// serve serves metrics with the rights that a program's account has, and
// returns where.
func (i *installed) serve(account string) string {
	i.Helper()
	config, err := i.plane.RESTConfig()
	i.must(err)
	config = rest.AnonymousClientConfig(config)
	config.BearerToken = i.token(account)
	connection, err := rest.HTTPClientFor(config)
	i.must(err)
	server, err := metricsserver.NewServer(access.Metrics("127.0.0.1:0", false, clock.RealClock{}), config, connection)
	i.must(err)
	ctx, cancel := context.WithCancel(i.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Start(ctx) }()
	i.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			i.Error(err)
		}
	})
	var address string
	controlplanetest.Eventually(i, func(context.Context) error {
		bound, is := server.(interface{ GetBindAddr() string })
		if !is || bound.GetBindAddr() == "" {
			return errors.New("metrics are not served yet")
		}
		address = bound.GetBindAddr()
		return nil
	})
	return "https://" + address
}

func (i *installed) get(url, token string) int {
	i.Helper()
	insecure := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer insecure.CloseIdleConnections()
	request, err := http.NewRequestWithContext(i.Context(), http.MethodGet, url+"/metrics", nil)
	i.must(err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := insecure.Do(request)
	i.must(err)
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

func TestMetricsAreForWhoMayReadThem(t *testing.T) {
	i := newInstalled(t, distributed)
	i.must(i.admin.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "nmstate", Name: "collector"}}))
	i.must(i.admin.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "collector"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "nmstate-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "nmstate", Name: "collector"}},
	}))
	for _, account := range []string{"nmstate-handler", "nmstate-controllers"} {
		url := i.serve(account)
		controlplanetest.Eventually(t, func(context.Context) error { // The binding is news to the API server.
			if got := i.get(url, i.token("collector")); got != http.StatusOK {
				return fmt.Errorf("%s: status %d for who may", account, got)
			}
			return nil
		})
		for sentence, c := range map[string]struct {
			token string
			want  int
		}{
			"nobody":               {"", http.StatusUnauthorized},
			"who is made up":       {"made.up", http.StatusUnauthorized},
			"who may other things": {i.token("nmstate-controllers"), http.StatusForbidden},
		} {
			if got := i.get(url, c.token); got != c.want {
				t.Errorf("%s, %s: status %d, want %d", account, sentence, got, c.want)
			}
		}
	}
}
