//go:build linux

package suite

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// follower is lab.Phases for specs.
type follower struct{ *lab.Phases }

func follow(n *lab.Node) follower {
	GinkgoHelper()
	phases, err := n.FollowPhases()
	Expect(err).NotTo(HaveOccurred())
	return follower{phases}
}

func (f follower) until(ctx context.Context, phase string) {
	GinkgoHelper()
	Expect(f.Until(ctx, phase, patience)).To(Succeed())
}

// killHandler kills the node's handler with -9; the lab starts it again after
// a second, as a DaemonSet would.
func killHandler(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	Expect(n.Handler(ctx, "kill")).To(Succeed())
}

// freezeNM stops NetworkManager as SIGSTOP does: what is asked of it waits.
func freezeNM(ctx context.Context, n *lab.Node) (thaw func()) {
	GinkgoHelper()
	pid := unit(ctx, n, "nm").PID
	signal(ctx, n, "STOP", pid)
	return func() { signal(ctx, n, "CONT", pid) }
}

func signal(ctx context.Context, n *lab.Node, name string, pid int) {
	GinkgoHelper()
	byHand(ctx, n, "kill", "-"+name, fmt.Sprint(pid))
}

func unit(ctx context.Context, n *lab.Node, name string) lab.UnitStatus {
	GinkgoHelper()
	units, err := n.Units(ctx)
	Expect(err).NotTo(HaveOccurred())
	for _, u := range units {
		if u.Name == name {
			return u
		}
	}
	Fail("no unit " + name)
	return lab.UnitStatus{}
}

// awaitHandler waits until the handler runs that was started that many times
// after a crash.
func awaitHandler(ctx context.Context, n *lab.Node, restarts int) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		u := unit(ctx, n, "handler")
		g.Expect(u.State).To(Equal("running"))
		g.Expect(u.Restarts).To(BeNumerically(">=", restarts))
	}).Should(Succeed())
}
