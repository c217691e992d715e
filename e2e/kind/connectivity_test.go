package kind

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func connectivity() {
	It("lost on the NIC that carries the API server comes back by itself, with what others have there", func(ctx SpecContext) {
		w := k.workers[0]
		before := w.snap(ctx)
		watch := w.watchFrom(ctx, k.control)
		k.create(ctx, manifest("cut-off", on(w), cutOff))
		message := k.awaitEnactment(ctx, w, "cut-off", v1.EnactmentFailing)
		Expect(message).To(And(ContainSubstring(fmt.Sprintf("probing for %ds", window)), ContainSubstring("api-server"), Not(ContainSubstring("\n"))))
		Expect(k.awaitPolicy(ctx, "cut-off", v1.PolicyDegraded)).To(Equal("1/1 nodes failed to configure"))
		gaps := watch.stop(ctx)
		Expect(gaps).To(HaveLen(1), "the node was away once: %v", gaps)
		Expect(gaps[0]).To(BeNumerically(">", window*time.Second/2), "the node was really away")
		told.say(fmt.Sprintf("outage of a policy that cuts a node off, from outside (probe window %d s)", window), seconds(gaps[0]))

		enactment, err := k.enactment(ctx, w, "cut-off")
		Expect(err).NotTo(HaveOccurred())
		Expect(enactment.Status.Rollback).To(HaveField("Result", "RolledBack"), "%+v", enactment.Status.Rollback)
		Expect(enactment.Status.GuardedBy).To(ContainElements("api-server", "default-gateway", "node-ready"))
		Expect(w.openCheckpoints(ctx)).To(Equal(noCheckpoint))
		w.awaitSame(ctx, before)
		k.awaitEvents(ctx, "cut-off", "RolledBack")
		k.awaitHandler(ctx, w, "")
	}, SpecTimeout(specTimeout))

	It("moves with the NIC of the API server under a bridge, and back", func(ctx SpecContext) {
		w := k.workers[0]
		before := w.snap(ctx)
		route := strings.Fields(w.script(ctx, "ip -4 route show default | head -n 1"))
		Expect(len(route)).To(BeNumerically(">", 2), "a default route on %s", w.name)
		address := w.address(ctx)
		length := strings.TrimSpace(w.script(ctx, `ip -4 -o address show eth0 | sed -n 's/.* inet [0-9.]*\/\([0-9]*\) .*/\1/p' | head -n 1`))
		state := fmt.Sprintf(`
interfaces:
- {name: eth0, type: ethernet, state: up, ipv4: {enabled: false}, ipv6: {enabled: false}}
- name: e2e-default
  type: linux-bridge
  state: up
  copy-mac-from: eth0
  ipv4: {enabled: true, dhcp: false, address: [{ip: %s, prefix-length: %s}]}
  bridge: {options: {stp: {enabled: false}}, port: [{name: eth0, vlan: {}}]}
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: %s, next-hop-interface: e2e-default}
`, address, length, route[2])
		watch := w.watchFrom(ctx, k.control)
		k.become(ctx, manifest("default", on(w), state, reverting), "default", []*node{w}, bridged("e2e-default", address, "eth0")...)
		gaps := watch.stop(ctx)
		told.say("outage while the NIC of the API server moves under a bridge, from outside", fmt.Sprint(gaps))

		k.delete(ctx, "default")
		k.kubectl(ctx, "wait", "nnce", v1.EnactmentName(w.name, "default"), "--for=delete", "--timeout=3m")
		w.awaitWithout(ctx, "e2e-default")
		w.sameBut(ctx, before, `"metric":`)
	}, SpecTimeout(specTimeout))
}
