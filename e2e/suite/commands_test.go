//go:build linux

package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

const (
	scriptDir = "/etc/NetworkManager/dispatcher.d"
	upScript  = "nmstate-eth1-up.sh"
	// administrators is a script of an administrator that has the name of nmstate's.
	administrators = "#!/bin/sh\n# rack 7, written by hand\n"
)

// scriptPolicy has a script run whenever eth1 is activated.
func scriptPolicy(script string) string {
	return reverting(statePolicy(fmt.Sprintf("interfaces:\n- name: eth1\n  type: ethernet\n  state: up\n  dispatch: {post-activation: %q}", script)))
}

var _ = Describe("A script of a policy", func() {
	It("runs, is corrected, and goes back to the administrator's with the policy", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.allowCommands(ctx, n)
		writeScript(ctx, n, administrators)
		f.create(ctx, scriptPolicy("echo $1 $2 >/run/ran"))
		f.awaitEnactment(ctx, n.Name, "state", enactmentSuccess)
		ran, err := n.Exec(ctx, "cat", "/run/ran")
		Expect(err).NotTo(HaveOccurred())
		Expect(string(ran)).To(Equal("eth1 reapply\n"))
		ours := scripts(n)
		Expect(ours).To(HaveKeyWithValue(upScript, And(HavePrefix("-rwxr--r-- #!/usr/bin/bash\nif [ \"$1\" == \"eth1\" ] && "), ContainSubstring("echo $1 $2 >/run/ran\n"))))
		Eventually(func() string { return string(f.mustState(ctx, n).Status.CurrentState.Raw) }).WithContext(ctx).
			Should(ContainSubstring(`"dispatch":{"post-activation":"echo $1 $2 \u003e/run/ran"}`))

		writeScript(ctx, n, administrators)
		Eventually(func() map[string]string { return scripts(n) }).WithContext(ctx).WithTimeout(patience).Should(Equal(ours), "drift is corrected")
		f.delete(ctx, "state")
		f.awaitGone(ctx, n, "state")
		Expect(scripts(n)).To(Equal(map[string]string{upScript: "-rwxr-xr-x " + administrators}))
	}, SpecTimeout(2*specTimeout))

	It("that cuts the node off goes back with everything that the policy changed", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.allowCommands(ctx, n)
		writeScript(ctx, n, administrators)
		before := snap(ctx, n)
		f.create(ctx, strings.Replace(scriptPolicy("ip link set eth0 down"), "state: up\n", "state: up\n      mtu: 1400\n", 1))
		Expect(f.awaitFailing(ctx, n.Name, "state")).To(ContainSubstring("with the scripts of the change"))
		f.awaitTransaction(ctx, n, v1.TransactionRolledBack)
		f.await(ctx, n, before)
		Expect(scripts(n)).To(Equal(map[string]string{upScript: "-rwxr-xr-x " + administrators}))
	}, SpecTimeout(2*specTimeout))
})

// allowCommands restarts a node's handler as an installation runs it that allows
// scripts, until the spec ends.
func (f *fleet) allowCommands(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	args := []string{"--revert-helper", filepath.Join(bin, "nmstate-revert")}
	Expect(n.SetHandlerArgs(append(args, "--allow-commands")...)).To(Succeed())
	Expect(n.Handler(ctx, "restart")).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(n.SetHandlerArgs(args...)).To(Succeed())
		Expect(n.Handler(ctx, "restart")).To(Succeed())
	}, NodeTimeout(time.Minute))
}

// scripts are those on the node's disk by name: mode and content.
func scripts(n *lab.Node) map[string]string {
	GinkgoHelper()
	found := map[string]string{}
	files, err := filepath.Glob(filepath.Join(n.DiskPath(scriptDir), "*"))
	Expect(err).NotTo(HaveOccurred())
	for _, at := range files {
		info, err := os.Stat(at)
		Expect(err).NotTo(HaveOccurred())
		content, err := os.ReadFile(at)
		Expect(err).NotTo(HaveOccurred())
		found[filepath.Base(at)] = fmt.Sprintf("%s %s", info.Mode(), content)
	}
	return found
}

// writeScript is what an administrator does.
func writeScript(ctx context.Context, n *lab.Node, content string) {
	GinkgoHelper()
	at := scriptDir + "/" + upScript
	_, err := n.Exec(ctx, "sh", "-c", fmt.Sprintf("mkdir -p %s && printf '%%s' '%s' >%s && chmod 0755 %s", scriptDir, content, at, at))
	Expect(err).NotTo(HaveOccurred())
}
