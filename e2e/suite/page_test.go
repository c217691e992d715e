//go:build linux

package suite

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/chromedp/chromedp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/nmstate/kubernetes-nmstate/e2e/page/chromium"
)

var _ = Describe("The page", func() {
	It("shows a lab in a browser, and keeps a trial with its button", func(ctx SpecContext) {
		browser := chromium.Find(GinkgoTB(), os.Getenv)
		f := take(ctx, oneNode)
		n := f.node()
		command := exec.CommandContext(ctx, filepath.Join(bin, "kubectl-nmstate"), "ui", "--read-only=false", "--kubeconfig", f.Kubeconfig())
		printed, err := command.StdoutPipe()
		Expect(err).NotTo(HaveOccurred())
		Expect(command.Start()).To(Succeed())
		DeferCleanup(func() {
			Expect(command.Process.Signal(syscall.SIGINT)).To(Succeed())
			_ = command.Wait()
		})
		address, err := bufio.NewReader(printed).ReadString('\n')
		Expect(err).NotTo(HaveOccurred())
		b := chromium.Open(GinkgoTB(), browser, strings.TrimSpace(address))
		b.Await(`document.querySelector(".tile.fine") != null`)

		f.create(ctx, planPolicy("mtu", "probes: [{type: confirm, timeoutSeconds: 240}]", planMTU))
		b.Visit("/policies")
		b.Await(`document.body.innerText.includes("mtu")`)
		b.Visit("/policies/mtu")
		b.Await(`document.querySelector("form.keep button") != null`)
		b.Do("keeping the change", chromedp.Click("form.keep button", chromedp.ByQuery))
		b.Await(`document.querySelector(".summary").innerText.startsWith("Available")`)
		awaitKernel(ctx, n, []string{`link {`, `"ifname":"eth1"`, `"mtu":1400`})

		b.Visit("/nodes/" + n.Name)
		b.Await(`document.querySelectorAll("svg .node").length >= 2 && document.querySelector("#interface-eth1 + .settings").innerText.includes("goes back to 1500")`)
		b.Visit("/write?policy=later&kind=ethernet&name=eth1&mtu=1300")
		b.Await(`document.querySelector(".beside").innerText.includes("conflicts with policy mtu")`)
		b.Visit("/write?policy=mtu&kind=ethernet&name=eth1&mtu=1300")
		b.Await(`document.querySelector(".beside .group").innerText.includes("mtu: 1400 -> 1300")`)
		b.Check("the pages of the lab")
	}, SpecTimeout(specTimeout))
})
