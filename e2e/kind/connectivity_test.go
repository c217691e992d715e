package kind

import (
	"context"
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
		told.say(fmt.Sprintf("outage of a policy that cuts a node off, from outside (probe window %d s)", window), gaps.String())

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
		before, address := w.snap(ctx), w.address(ctx)
		state := w.underBridge(ctx, "e2e-default")
		watch := w.watchFrom(ctx, k.control)
		k.become(ctx, manifest("default", on(w), state, reverting), "default", []*node{w}, bridged("e2e-default", address, "eth0")...)
		gaps := watch.stop(ctx)
		told.say("outage while the NIC of the API server moves under a bridge, from outside", gaps.String())

		k.delete(ctx, "default")
		k.kubectl(ctx, "wait", "nnce", v1.EnactmentName(w.name, "default"), "--for=delete", "--timeout=3m")
		w.awaitWithout(ctx, "e2e-default")
		w.awaitSame(ctx, before)
	}, SpecTimeout(specTimeout))
}

// underBridge is a state that has a bridge take over eth0 with its addresses
// and default routes. All that others have routed through eth0 has to find its
// way on the bridge too.
func (n *node) underBridge(ctx context.Context, bridge string) string {
	GinkgoHelper()
	families, routes := map[string]string{}, ""
	for family, name := range map[string]string{"4": "ipv4", "6": "ipv6"} {
		families[name] = "{enabled: false}"
		prefix := strings.TrimSpace(n.script(ctx, "ip -"+family+` -o address show eth0 scope global | sed -n 's/.* inet6\{0,1\} \([^ ]*\) .*/\1/p' | head -n 1`))
		gateway := strings.TrimSpace(n.script(ctx, "ip -"+family+` route show default | sed -n 's/^default via \([^ ]*\) .*/\1/p' | head -n 1`))
		ip, length, is := strings.Cut(prefix, "/")
		if !is {
			continue
		}
		families[name] = fmt.Sprintf(`{enabled: true, dhcp: false, address: [{ip: "%s", prefix-length: %s}]}`, ip, length)
		if gateway != "" {
			all := map[string]string{"ipv4": "0.0.0.0/0", "ipv6": "::/0"}[name]
			routes += fmt.Sprintf("  - {destination: \"%s\", next-hop-address: \"%s\", next-hop-interface: %s}\n", all, gateway, bridge)
		}
	}
	Expect(routes).NotTo(BeEmpty(), "a default route on %s", n.name)
	return fmt.Sprintf(`
interfaces:
- name: %s
  type: linux-bridge
  state: up
  copy-mac-from: eth0
  ipv4: %s
  ipv6: %s
  bridge: {options: {stp: {enabled: false}}, port: [{name: eth0, vlan: {}}]}
routes:
  config:
%s`, bridge, families["ipv4"], families["ipv6"], routes)
}
