package desired

import (
	"errors"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// arrive: a policy that named interfaces which were not on the node is tried again
// once the node reports all of them. It waits a moment, as after any failure, so
// that one that comes and goes is not tried at every turn.
func (t *turn) arrive() {
	for _, m := range t.members {
		if m.policy == nil || m.enactment == nil || !Awaits(m.status) {
			continue
		}
		current, there := t.told()
		if !there || !state.Has(current, m.status.Retry.Awaits) {
			continue
		}
		attempts := m.status.Retry.Attempts
		m.status.Retry = &v1.EnactmentRetry{Attempts: attempts, After: retryTime(t.in.Now, retryDelay(t.in.Node, m.name, attempts))}
		t.note("policy %s: the interfaces that it names are there", m.name)
	}
}

// Awaits tells whether a policy is tried again when interfaces appear in the node's
// report, and not after a time.
func Awaits(enactment v1.NodeNetworkConfigurationEnactmentStatus) bool {
	return enactment.Retry != nil && enactment.Retry.After == nil && len(enactment.Retry.Awaits) > 0
}

// CheckKernel refuses what the node's kernel is known not to make. What the policy
// names and the node has already, it need not make.
func CheckKernel(wanted, current state.State, kernel *v1.Capabilities) error {
	if kernel == nil {
		return nil
	}
	missing := map[string]bool{}
	for _, kind := range kernel.MissingLinkTypes {
		missing[kind] = true
	}
	for _, one := range state.Made(wanted, current) {
		if missing[one.Type] {
			return errors.New(state.Unmade(one))
		}
	}
	return nil
}
