package cluster

import (
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/nmstate/kubernetes-nmstate/handler/once"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
	"github.com/nmstate/kubernetes-nmstate/sim/trace"
)

// Pass is a handler's single pass (--once).
type Pass struct {
	// Ended tells that it is over, Err how.
	Ended bool
	Err   error
	// Verdict is what it came to.
	Verdict once.Verdict
}

// Once starts a single pass on a node whose handler is held.
func (n *Node) Once(timeout time.Duration) *Pass {
	cl := n.cluster
	pass := &Pass{}
	p := cl.World.Process("once/" + n.Name)
	n.handler = &handler{process: p, node: n}
	p.OnDeath(func() { pass.Ended = true; n.ended(p) })
	cl.World.Trace(p.Name, trace.Start, "")
	p.Go("main", func() {
		ctx := logf.IntoContext(cl.ctx, trace.Logger(p))
		connection := cl.API.Connect(p, apiserver.ConnectionOptions{
			Reach: n.reachesAPI, LostAfter: apiserver.HandlerLostAfter, DialTimeout: apiserver.HandlerDialTimeout, UserAgent: "nmstate-handler",
		})
		direct := connection.Client(nil)
		h, err := n.parts(p, direct, direct, nil)
		if err == nil {
			n.handler = h
			one := once.Pass{Node: n.Name, Timeout: timeout, Client: direct, Clock: p.Clock(), State: h.agent}
			if h.policy != nil {
				one.Policy = h.policy
			}
			err = one.Run(ctx, &pass.Verdict)
		}
		pass.Err = err
		cl.World.Trace(p.Name, "pass", outcome(err))
		p.Kill()
	})
	return pass
}

func outcome(err error) string {
	if err != nil {
		return "failed: " + err.Error()
	}
	return "done"
}
