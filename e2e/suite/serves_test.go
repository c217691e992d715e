//go:build linux

package suite

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// Ports on the loopback of a node.
const (
	handlerServes, handlerHealth = "127.0.0.1:9681", "127.0.0.1:9680"
)

// serving is a lab of one node whose programs serve all that they can.
type serving struct {
	token                             string
	controllersServe, controllersTell string
}

// serve restarts the programs of a lab with one node, with all their ports open; end
// restarts them without.
func (f *fleet) serve(ctx context.Context, mode string) (s serving, end func()) {
	GinkgoHelper()
	f.switchTo(ctx, mode)
	s = serving{token: f.looker(ctx), controllersServe: freePort(ctx), controllersTell: freePort(ctx)}
	Expect(f.StopControllers(ctx)).To(Succeed())
	Expect(f.StartControllers(ctx, mode, "--metrics-bind-address", s.controllersServe, "--health-probe-bind-address", s.controllersTell)).To(Succeed())
	n := f.node()
	Expect(n.SetHandlerArgs("--mode", mode, "--revert-helper", filepath.Join(bin, "nmstate-revert"),
		"--metrics-bind-address", handlerServes, "--health-probe-bind-address", handlerHealth)).To(Succeed())
	Expect(n.Handler(ctx, "restart")).To(Succeed())
	return s, func() { Expect(f.SwitchMode(context.WithoutCancel(ctx), mode)).To(Succeed()) }
}

// looker is the token of an account that may read metrics and nodes' states.
func (f *fleet) looker(ctx context.Context) string {
	GinkgoHelper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "looker"}}
	Expect(client.IgnoreAlreadyExists(f.Client.Create(ctx, account))).To(Succeed())
	for _, role := range []string{"nmstate-metrics-reader", "nmstate-state-reader"} {
		Expect(client.IgnoreAlreadyExists(f.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "looker-" + role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: account.Namespace, Name: account.Name}},
		}))).To(Succeed())
	}
	asked := &authenticationv1.TokenRequest{}
	Expect(f.Client.SubResource("token").Create(ctx, account, asked)).To(Succeed())
	return asked.Status.Token
}

// freePort is one on this machine's loopback that nobody has now.
func freePort(ctx context.Context) string {
	GinkgoHelper()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// told is all that the programs serve, by where.
func (s serving) told(ctx context.Context, n *lab.Node) map[string]string {
	GinkgoHelper()
	onNode := s.client(n.Dial)
	here := s.client((&net.Dialer{}).DialContext)
	where := map[string]string{}
	for _, one := range []struct {
		client *http.Client
		url    string
		holds  string // Programs that have just begun serve it a moment later.
	}{
		{onNode, "https://" + handlerServes + "/metrics", "kubernetes_nmstate_network_interfaces{"},
		{onNode, "https://" + handlerServes + "/state", `"name":"eth2"`},
		{onNode, "http://" + handlerHealth + "/healthz?verbose", ""},
		{onNode, "http://" + handlerHealth + "/readyz?verbose", ""},
		{here, "https://" + s.controllersServe + "/metrics", "kubernetes_nmstate_enactments_status{"},
		{here, "http://" + s.controllersTell + "/healthz?verbose", ""},
		{here, "http://" + s.controllersTell + "/readyz?verbose", ""},
	} {
		Eventually(ctx, func(g Gomega) {
			told, err := s.get(ctx, one.client, one.url)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(told).To(ContainSubstring(one.holds))
			where[one.url] = told
		}).Should(Succeed(), one.url)
	}
	return where
}

func (s serving) client(dial func(context.Context, string, string) (net.Conn, error)) *http.Client {
	// Its certificate is of its own making; whose port it is this test knows.
	return &http.Client{Transport: &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // As above.
}

func (s serving) get(ctx context.Context, from *http.Client, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	answer, err := from.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", url, answer.Status, body)
	}
	return string(body), err
}
