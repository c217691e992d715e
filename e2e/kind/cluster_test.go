package kind

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

const (
	namespace = "nmstate"
	// workerLabel is put on the workers, for policies that need their NICs.
	workerLabel = "e2e.nmstate.io/worker"
	// lastLabel is the last number of the addresses that policies give the
	// worker: the workers' NICs are on one segment, where two of a kind are
	// refused.
	lastLabel = "e2e.nmstate.io/last"
	// chosenLabel is what specs put on nodes and take away.
	chosenLabel = "e2e.nmstate.io/chosen"
)

// cluster is the kind cluster under test.
type cluster struct {
	client.WithWatch
	// control is the control-plane node, workers are the others, by name.
	control *node
	workers []*node
	// vm is one more worker, which is a virtual machine; nil where there is none.
	vm *node
	// isInstalled says that the product is there.
	isInstalled bool
}

// connect finds the cluster's nodes, and that each is a container of docker.
func connect(ctx context.Context) *cluster {
	GinkgoHelper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	Expect(err).NotTo(HaveOccurred())
	config.QPS, config.Burst = 100, 200
	scheme := runtime.NewScheme()
	Expect(errors.Join(clientgoscheme.AddToScheme(scheme), v1.AddToScheme(scheme))).To(Succeed())
	c := &cluster{}
	c.WithWatch, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	var all corev1.NodeList
	Eventually(ctx, func() error { return c.List(ctx, &all) }).Should(Succeed(), "the API server of the cluster")
	for _, found := range all.Items {
		n := &node{name: found.Name, isVM: found.Name == os.Getenv("KIND_VM")}
		_, err := n.try(ctx, "true")
		Expect(err).NotTo(HaveOccurred(), "node %s must be a container of docker: is this a kind cluster?", n.name)
		if n.isVM {
			c.vm = n
			continue
		}
		if _, is := found.Labels["node-role.kubernetes.io/control-plane"]; is {
			c.control = n
			continue
		}
		c.workers = append(c.workers, n)
	}
	Expect(c.control).NotTo(BeNil(), "a control-plane node")
	Expect(len(c.workers)).To(BeNumerically(">=", 2), "workers")
	slices.SortFunc(c.workers, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	for _, w := range c.workers {
		c.labelWorker(ctx, w)
		w.mustRun(ctx, "ip", "link", "show", "eth1")
	}
	for _, object := range ofCollector() {
		Expect(client.IgnoreAlreadyExists(c.Create(ctx, object))).To(Succeed())
	}
	return c
}

// leave takes away what connect made.
func (c *cluster) leave(ctx context.Context) {
	GinkgoHelper()
	for _, object := range ofCollector() {
		Expect(client.IgnoreNotFound(c.Delete(ctx, object))).To(Succeed())
	}
	for _, w := range c.workers {
		c.unlabel(ctx, w, workerLabel)
		c.unlabel(ctx, w, lastLabel)
	}
}

// all are the nodes.
func (c *cluster) all() []*node { return append([]*node{c.control}, c.workers...) }

// kubectl runs the control-plane node's, whose version is the cluster's, and
// returns what it prints.
func (c *cluster) kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	out, err := c.tryKubectl(ctx, args...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

func (c *cluster) tryKubectl(ctx context.Context, args ...string) (string, error) {
	return c.control.try(ctx, append([]string{"kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf"}, args...)...)
}

// bring copies deploy/ to where kubectl runs.
func (c *cluster) bring(ctx context.Context) {
	GinkgoHelper()
	c.bringFrom(ctx, deploy)
}

func (c *cluster) bringFrom(ctx context.Context, folder string) {
	GinkgoHelper()
	archive := exec.CommandContext(ctx, "tar", "-C", filepath.Dir(folder), "-cf", "-", filepath.Base(folder))
	files, err := archive.Output()
	Expect(err).NotTo(HaveOccurred())
	unpack := exec.CommandContext(ctx, "docker", "exec", "-i", c.control.name, "sh", "-c", "rm -rf /tmp/e2e && mkdir /tmp/e2e && tar -C /tmp/e2e -xf -")
	unpack.Stdin = bytes.NewReader(files)
	out, err := unpack.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
}

// apply installs an overlay, and waits until its pods are the running ones.
func (c *cluster) apply(ctx context.Context, folder string) {
	GinkgoHelper()
	c.bring(ctx)
	c.kubectl(ctx, "apply", "-k", "/tmp/e2e/"+folder)
	c.awaitRolledOut(ctx)
}

func (c *cluster) awaitRolledOut(ctx context.Context) {
	GinkgoHelper()
	for _, what := range []string{"ds/nmstate-handler", "deploy/nmstate-controllers"} {
		c.kubectl(ctx, "-n", namespace, "rollout", "status", what, "--timeout=5m")
	}
}

// beInstalled installs what is not installed, and waits until every node is
// reported.
func (c *cluster) beInstalled(ctx context.Context) {
	GinkgoHelper()
	if c.isInstalled {
		return
	}
	for _, n := range c.all() {
		n.appliedBefore = n.checkpoints(ctx)
	}
	started := time.Now()
	c.apply(ctx, "deploy")
	c.awaitReported(ctx)
	told.say("kubectl apply -k deploy to all nodes reported", seconds(time.Since(started)))
	c.isInstalled = true
	for _, n := range c.all() {
		n.pristine = n.snap(ctx)
	}
}

// beRemoved takes the product away, with its policies first, so that nothing is
// applied meanwhile.
func (c *cluster) beRemoved(ctx context.Context) {
	GinkgoHelper()
	c.bring(ctx)
	if out, err := c.tryKubectl(ctx, "delete", "nncp", "--all"); err != nil {
		GinkgoWriter.Println("no policies:", out, err)
	}
	c.kubectl(ctx, "delete", "-k", "/tmp/e2e/deploy", "--ignore-not-found", "--timeout=5m")
	c.isInstalled = false
	for _, n := range c.all() {
		n.sweep(ctx)
		n.mustRun(ctx, "rm", "-rf", journalDir)
	}
}

// tidyUp leaves the cluster as a spec found it.
func (c *cluster) tidyUp(ctx context.Context) {
	GinkgoHelper()
	if !c.isInstalled {
		return
	}
	Expect(c.DeleteAllOf(ctx, &v1.NodeNetworkConfigurationPolicy{})).To(Succeed())
	for _, n := range c.all() {
		c.unlabel(ctx, n, chosenLabel)
	}
	Eventually(ctx, func(g Gomega) {
		var left v1.NodeNetworkConfigurationEnactmentList
		g.Expect(c.List(ctx, &left)).To(Succeed())
		g.Expect(left.Items).To(BeEmpty(), "enactments of policies that are gone")
		var states v1.NodeNetworkStateList
		g.Expect(c.List(ctx, &states)).To(Succeed())
		for _, nns := range states.Items {
			g.Expect(nns.Spec.Sources).To(BeEmpty(), nns.Name)
			g.Expect(nns.Status.AppliedSources).To(BeEmpty(), nns.Name)
		}
	}).Should(Succeed())
	for _, n := range c.all() {
		n.sweep(ctx)
	}
	if c.vm != nil {
		c.vm.sweep(ctx)
	}
}

// labelWorker puts the labels on a worker that policies select by.
func (c *cluster) labelWorker(ctx context.Context, w *node) {
	GinkgoHelper()
	c.relabel(ctx, w, fmt.Sprintf(`{"metadata":{"labels":{%q:"yes",%q:"%d"}}}`, workerLabel, lastLabel, 11+slices.Index(c.workers, w)))
}

func (c *cluster) label(ctx context.Context, n *node, name, value string) {
	GinkgoHelper()
	c.relabel(ctx, n, fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, name, value))
}

func (c *cluster) unlabel(ctx context.Context, n *node, name string) {
	GinkgoHelper()
	c.relabel(ctx, n, fmt.Sprintf(`{"metadata":{"labels":{%q:null}}}`, name))
}

func (c *cluster) relabel(ctx context.Context, n *node, patch string) {
	GinkgoHelper()
	object := &corev1.Node{}
	object.Name = n.name
	Expect(c.Patch(ctx, object, client.RawPatch("application/merge-patch+json", []byte(patch)))).To(Succeed())
}

// pod is the handler's pod of a node.
func (c *cluster) pod(ctx context.Context, n *node) (*corev1.Pod, error) {
	pods, err := c.pods(ctx, "nmstate-handler")
	if err != nil {
		return nil, err
	}
	for _, pod := range pods {
		if pod.Spec.NodeName == n.name && pod.DeletionTimestamp == nil {
			return &pod, nil
		}
	}
	return nil, fmt.Errorf("no handler's pod on %s", n.name)
}

func (c *cluster) pods(ctx context.Context, app string) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := c.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/name": app})
	return pods.Items, err
}

func ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
