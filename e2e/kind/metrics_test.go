package kind

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	collector  = "e2e-collector"
	looker     = "e2e-looker"
	handlerAt  = 9681
	controlsAt = 8443
)

// ofCollector are the accounts that read metrics and nodes' states, and their rights to.
func ofCollector() []client.Object {
	may := func(account, role string) []client.Object {
		return []client.Object{
			&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: account}},
			&rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: account},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
				Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: account}},
			},
		}
	}
	return slices.Concat(may(collector, "nmstate-metrics-reader"), may(looker, "nmstate-state-reader"))
}

func metrics() {
	It("are for who may read them", func(ctx SpecContext) {
		may := k.token(ctx, "default", collector)
		other := k.token(ctx, "default", "default")
		for _, endpoint := range k.endpoints(ctx) {
			Eventually(ctx, func() (string, error) { return k.scrape(ctx, endpoint, may) }).
				Should(ContainSubstring("rest_client_requests_total"), endpoint)
			_, err := k.scrape(ctx, endpoint, "made.up")
			Expect(err).To(MatchError(ContainSubstring("You must be logged in to the server")), endpoint)
			_, err = k.scrape(ctx, endpoint, other)
			Expect(err).To(MatchError(ContainSubstring("Forbidden")), endpoint)
		}
		w := k.workers[0]
		text, err := k.scrape(ctx, fmt.Sprintf("%s:%d", w.address(ctx), handlerAt), may)
		Expect(err).NotTo(HaveOccurred())
		for _, name := range []string{
			"kubernetes_nmstate_network_interfaces", "kubernetes_nmstate_routes", "kubernetes_nmstate_transactions_total",
			"kubernetes_nmstate_transaction_duration_seconds", "kubernetes_nmstate_apply_duration_seconds",
			"kubernetes_nmstate_probe_duration_seconds", "kubernetes_nmstate_rollback_duration_seconds",
		} {
			Expect(text).To(ContainSubstring("\n"+name), "of %s", w.name)
		}
		Expect(text).To(ContainSubstring(fmt.Sprintf("node=%q", w.name)))
	}, SpecTimeout(specTimeout))

	It("tell what the programs take while nothing happens", func(ctx SpecContext) {
		before := k.requests(ctx)
		k.idle(ctx)
		after := k.requests(ctx)
		for _, n := range k.all() {
			// Whoever asks for metrics has the handler ask the API server twice who that is.
			told.say("API requests of the handler on "+n.name+" in 20 s of idling (2: who asks for metrics)", fmt.Sprintf("%d", after[n.name]-before[n.name]))
		}
	}, SpecTimeout(specTimeout))
}

// endpoints are all that serve metrics.
func (c *cluster) endpoints(ctx context.Context) []string {
	GinkgoHelper()
	var found []string
	for _, n := range c.all() {
		found = append(found, fmt.Sprintf("%s:%d", n.address(ctx), handlerAt))
	}
	pods, err := c.pods(ctx, "nmstate-controllers")
	Expect(err).NotTo(HaveOccurred())
	for _, pod := range pods {
		found = append(found, fmt.Sprintf("%s:%d", pod.Status.PodIP, controlsAt))
	}
	return found
}

func (c *cluster) token(ctx context.Context, namespace, account string) string {
	GinkgoHelper()
	return strings.TrimSpace(c.kubectl(ctx, "-n", namespace, "create", "token", account))
}

// scrape asks for metrics from the control-plane node, which reaches nodes and
// pods alike.
func (c *cluster) scrape(ctx context.Context, endpoint, token string) (string, error) {
	return c.ask(ctx, endpoint, "/metrics", token)
}

func (c *cluster) ask(ctx context.Context, endpoint, path, token string) (string, error) {
	return c.control.try(ctx, "kubectl", "--kubeconfig", "/dev/null", "--server", "https://"+endpoint,
		"--insecure-skip-tls-verify", "--token", token, "get", "--raw", path)
}

// requests are those to the API server that each node's handler has made since
// it started, the asking for this included.
func (c *cluster) requests(ctx context.Context) map[string]int {
	GinkgoHelper()
	token := c.token(ctx, "default", collector)
	made := map[string]int{}
	for _, n := range c.all() {
		var text string
		Eventually(ctx, func() (err error) {
			text, err = c.scrape(ctx, fmt.Sprintf("%s:%d", n.address(ctx), handlerAt), token)
			return err
		}).Should(Succeed())
		for line := range strings.Lines(text) {
			if fields := strings.Fields(line); strings.HasPrefix(line, "rest_client_requests_total{") && len(fields) == 2 {
				count, err := strconv.ParseFloat(fields[1], 64)
				Expect(err).NotTo(HaveOccurred())
				made[n.name] += int(count)
			}
		}
	}
	return made
}
