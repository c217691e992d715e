package kind

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// plugin runs kubectl nmstate as a person does, and returns what it prints.
func (c *cluster) plugin(ctx context.Context, program string, args ...string) (out string, code int) {
	GinkgoHelper()
	command := exec.CommandContext(ctx, program, args...)
	var printed, progress bytes.Buffer
	command.Stdout, command.Stderr = &printed, &progress
	err := command.Run()
	GinkgoWriter.Println("kubectl nmstate", strings.Join(args, " "), "\n", printed.String(), progress.String())
	if command.ProcessState == nil {
		Expect(err).NotTo(HaveOccurred())
	}
	return printed.String(), command.ProcessState.ExitCode()
}

func atHand() {
	It("plans, applies, explains and undoes a policy", func(ctx SpecContext) {
		folder := GinkgoT().TempDir()
		program, file := filepath.Join(folder, "kubectl-nmstate"), filepath.Join(folder, "nic.yaml")
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", program, "../../plugin")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		said, err := build.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(said))
		w := k.workers[0]
		before := w.settledSnap(ctx) // Others had the NIC.
		Expect(os.WriteFile(file, []byte(manifest("at-hand", on(w), nic("eth1", 1400, "10.35.0.1"))), 0o600)).To(Succeed())

		raw, code := k.plugin(ctx, program, "plan", "-f", file, "-o", "json")
		Expect(code).To(Equal(1), "something would change")
		var plans []struct {
			Groups []struct {
				Hash       string
				Nodes      []string
				Interfaces []struct{ Changes []string }
			}
		}
		Expect(json.Unmarshal([]byte(raw), &plans)).To(Succeed())
		Expect(plans).To(HaveLen(1))
		plan := plans[0]
		Expect(plan.Groups).To(HaveLen(1))
		Expect(plan.Groups[0].Nodes).To(Equal([]string{w.name}))
		Expect(plan.Groups[0].Interfaces[0].Changes).To(ContainElement("mtu: 1500 -> 1400"))
		_, code = k.plugin(ctx, program, "apply", "-f", file, "--plan", plan.Groups[0].Hash)
		Expect(code).To(BeZero())
		out, code := k.plugin(ctx, program, "status", "at-hand", "--wait", "--timeout", "3m")
		Expect(code).To(BeZero())
		Expect(out).To(ContainSubstring("Available"))
		out, code = k.plugin(ctx, program, "why", w.name, "eth1.mtu")
		Expect(code).To(BeZero())
		Expect(out).To(MatchRegexp(`(?m)^mtu +1400 +at-hand +\S+ +1500 `))
		out, code = k.plugin(ctx, program, "undo", "at-hand", "--dry-run")
		Expect(code).To(BeZero())
		Expect(out).To(ContainSubstring("mtu: 1400 -> 1500"))
		out, code = k.plugin(ctx, program, "undo", "at-hand", "--timeout", "3m")
		Expect(code).To(BeZero())
		Expect(out).To(ContainSubstring("policy at-hand: undone"))
		w.awaitSame(ctx, before)
	}, SpecTimeout(specTimeout))

	It("serves the page to a team, to each with their own rights", func(ctx SpecContext) {
		const component = "/tmp/e2e/deploy/components/page"
		k.bring(ctx)
		k.kubectl(ctx, "apply", "-k", component)
		k.kubectl(ctx, "-n", namespace, "create", "serviceaccount", "e2e-reader")
		DeferCleanup(func(ctx SpecContext) {
			k.kubectl(ctx, "delete", "-k", component, "--ignore-not-found")
			k.kubectl(ctx, "-n", namespace, "delete", "serviceaccount", "e2e-reader", "--ignore-not-found")
			k.kubectl(ctx, "delete", "clusterrolebinding", "e2e-reader", "--ignore-not-found")
		}, NodeTimeout(specTimeout))
		k.kubectl(ctx, "-n", namespace, "rollout", "status", "deploy/nmstate-page", "--timeout=3m")
		k.showsPage(ctx, strings.TrimSpace(k.kubectl(ctx, "-n", namespace, "create", "token", "e2e-reader")))
	}, SpecTimeout(specTimeout))
}

// showsPage asks the page's pod with and without a token, kubectl being the browser.
func (c *cluster) showsPage(ctx context.Context, token string) {
	GinkgoHelper()
	pods, err := c.pods(ctx, "nmstate-page")
	Expect(err).NotTo(HaveOccurred())
	Expect(pods).To(HaveLen(1))
	nodes := c.all()
	at := slices.IndexFunc(nodes, func(n *node) bool { return n.name == pods[0].Spec.NodeName })
	ask := func(path string, more ...string) (string, error) {
		return nodes[at].try(ctx, append([]string{
			"kubectl", "--kubeconfig", "/dev/null", "--server", "https://" + pods[0].Status.PodIP + ":8444", "--insecure-skip-tls-verify", "get", "--raw", path,
		}, more...)...)
	}
	out, err := ask("/")
	Expect(err).To(HaveOccurred())
	Expect(out).To(ContainSubstring("enter Username"), "without a token, which kubectl asks for where the answer is 401")
	out, err = ask("/", "--token", "made-up")
	Expect(err).To(HaveOccurred())
	Expect(out+err.Error()).To(ContainSubstring("must be logged in"), "with a token that nobody has given")
	out, err = ask("/", "--token", token)
	Expect(err).To(HaveOccurred(), "with a token without rights")
	Expect(out).NotTo(ContainSubstring(c.workers[0].name))
	c.kubectl(ctx, "create", "clusterrolebinding", "e2e-reader", "--clusterrole=nmstate-view", "--serviceaccount="+namespace+":e2e-reader")
	Eventually(ctx, func(g Gomega) {
		out, err := ask("/", "--token", token)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(out).To(ContainSubstring(c.workers[0].name))
	}).Should(Succeed())
}
