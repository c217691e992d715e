package kind

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

const (
	// vmProgram is by which the VM is told what docker cannot do with it.
	vmProgram = "../../kind/vm.sh"
	// bootTimeout bounds a spec that boots the VM: an emulated one takes minutes.
	bootTimeout = 40 * time.Minute
	// heldBack keeps the handler's pods from all nodes: none has this label.
	heldBack = `{"spec":{"template":{"spec":{"nodeSelector":{"e2e.nmstate.io/handler":%s}}}}}`
)

// powerCuts are those of a worker with a boot of its own. After one, no handler runs on
// it until the spec says so: what brings the node back is what is on its disk.
func powerCuts() {
	BeforeEach(func(ctx SpecContext) {
		if k.vm == nil {
			Skip("no worker is a virtual machine: kind/vm.sh up")
		}
		SetDefaultEventuallyTimeout(bootTimeout / 2) // All of it is emulated.
		DeferCleanup(func() { SetDefaultEventuallyTimeout(patience) })
		k.awaitHandler(ctx, k.vm, "")
	}, NodeTimeout(bootTimeout))

	It("in the trial of a policy that cut the node off: it comes back as it was, with nothing but what is on its disk", func(ctx SpecContext) {
		before := k.vm.settledSnap(ctx)
		files := k.vm.listEtc(ctx, "/var/tmp/etc.before")
		Expect(files).To(BeNumerically(">", 100), "files in /etc")
		k.create(ctx, strings.Replace(manifest("cut-off", on(k.vm), cutOff), fmt.Sprintf("probeTimeoutSeconds: %d", window), "probeTimeoutSeconds: 1500", 1))
		Eventually(ctx, func(g Gomega) {
			out, err := k.vm.try(ctx, "sh", "-c", "ip -4 -o address show eth0; grep -l 203.0.113.99 -r "+journalDir)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(out).To(And(ContainSubstring("203.0.113.99"), Not(ContainSubstring("172."))))
		}).Should(Succeed(), "the node is cut off, and its journal has the change")

		off := time.Now()
		k.vm.cutPower(ctx)
		k.holdHandlersBack(ctx)
		k.vm.switchOn(ctx)
		told.say("power cut in the trial, until the node is Ready again, by itself", seconds(time.Since(off)))
		Expect(k.vm.handlerPID(ctx)).To(BeZero(), "no handler has run since the boot")
		k.vm.awaitSame(ctx, before)
		k.vm.listEtc(ctx, "/run/etc.after")
		Expect(k.vm.script(ctx, "diff /var/tmp/etc.before /run/etc.after || true")).To(BeEmpty(), "/etc, before and after")

		k.letHandlersCome(ctx)
		message := k.awaitEnactment(ctx, k.vm, "cut-off", v1.EnactmentFailing)
		Expect(message).NotTo(ContainSubstring("\n"))
		told.say("what the node tells of it", message)
		enactment, err := k.enactment(ctx, k.vm, "cut-off")
		Expect(err).NotTo(HaveOccurred())
		Expect(enactment.Status.Rollback).To(HaveField("Result", "RolledBack"), "%+v", enactment.Status.Rollback)
		k.vm.awaitSame(ctx, before)
	}, SpecTimeout(bootTimeout))

	It("after a bond and a VLAN are committed: both are there after the boot, with no handler", func(ctx SpecContext) {
		k.create(ctx, manifest("bonded", on(k.vm), bonded, reverting))
		k.awaitPolicy(ctx, "bonded", v1.PolicyAvailable)
		before := k.vm.settledSnap(ctx)

		k.vm.cutPower(ctx)
		k.holdHandlersBack(ctx)
		k.vm.switchOn(ctx)
		Expect(k.vm.handlerPID(ctx)).To(BeZero(), "no handler has run since the boot")
		k.vm.awaitSame(ctx, before)

		k.letHandlersCome(ctx)
		k.awaitHandler(ctx, k.vm, "")
		Expect(k.awaitPolicy(ctx, "bonded", v1.PolicyAvailable)).To(Equal("1/1 nodes successfully configured"))
		Expect(k.vm.script(ctx, "cat /proc/net/bonding/e2ebond")).To(ContainSubstring("active-backup"))
	}, SpecTimeout(bootTimeout))
}

// bonded is what the machine that most people test on cannot do.
const bonded = `
interfaces:
- name: e2ebond
  type: bond
  state: up
  link-aggregation: {mode: active-backup, port: [eth1, eth2]}
- name: e2ebond.100
  type: vlan
  state: up
  vlan: {base-iface: e2ebond, id: 100}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.7, prefix-length: 24}]}
`

// holdHandlersBack takes the handlers from all nodes, and leaves them away.
func (c *cluster) holdHandlersBack(ctx context.Context) {
	GinkgoHelper()
	c.kubectl(ctx, "-n", namespace, "patch", "ds/nmstate-handler", "--patch", fmt.Sprintf(heldBack, `"yes"`))
	DeferCleanup(func(ctx SpecContext) { c.letHandlersCome(ctx) }, NodeTimeout(bootTimeout))
}

func (c *cluster) letHandlersCome(ctx context.Context) {
	GinkgoHelper()
	c.kubectl(ctx, "-n", namespace, "patch", "ds/nmstate-handler", "--patch", fmt.Sprintf(heldBack, "null"))
	c.kubectl(ctx, "-n", namespace, "rollout", "status", "ds/nmstate-handler", "--timeout=30m")
}

// listEtc writes the sums of all files in /etc to a file of the node's, but for those of
// Kubernetes, which renews its certificates. It returns how many there are.
func (n *node) listEtc(ctx context.Context, file string) (files int) {
	GinkgoHelper()
	out := n.script(ctx, `find /etc -path /etc/kubernetes -prune -o -type f -print0 | xargs -0 sha256sum | sort -k2 >`+file+`; sync; wc -l <`+file)
	_, err := fmt.Sscan(out, &files)
	Expect(err).NotTo(HaveOccurred(), out)
	return files
}

// cutPower ends the VM as a power cut does.
func (n *node) cutPower(ctx context.Context) {
	GinkgoHelper()
	n.power(ctx, "cut")
}

// switchOn returns when the node is Ready in its new boot.
func (n *node) switchOn(ctx context.Context) {
	GinkgoHelper()
	n.power(ctx, "on")
}

func (n *node) power(ctx context.Context, verb string) {
	GinkgoHelper()
	command := exec.CommandContext(ctx, vmProgram, verb)
	command.WaitDelay = time.Second // The VM keeps what it was given of ours open.
	out, err := command.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s", out)
}
