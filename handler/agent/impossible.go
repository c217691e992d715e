package agent

import (
	"context"
	"fmt"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// impossible tells why the change cannot be made on this node as it is; nil if
// nothing speaks against it. NetworkManager would try for two minutes to make a link
// that the kernel has no driver for, or to find an interface that is not there. whole is
// all that is desired: it may call a NIC of the change by another name.
func (a *Agent) impossible(change, whole, before state.State) *txn.Cause {
	if a.Kernel != nil {
		for _, one := range state.Made(change, before) {
			if !a.Kernel.CanMake(one.Type) {
				return &txn.Cause{Message: state.Unmade(one)}
			}
		}
	}
	if lines := state.Mistakable(change, whole, before); len(lines) > 0 {
		return &txn.Cause{Message: strings.Join(lines, "; ")}
	}
	unknown := state.Unknown(change, before)
	if len(unknown) == 0 {
		return nil
	}
	cause := &txn.Cause{}
	var subjects []string
	for _, one := range unknown {
		subjects = append(subjects, one.String())
		cause.Awaits = append(cause.Awaits, one.Name)
	}
	verb, when := "is", "it is"
	if len(subjects) > 1 {
		verb, when = "are", "they are"
	}
	cause.Message = fmt.Sprintf("%s %s not on this node, which has %s; it is tried again once %s there",
		strings.Join(subjects, ", "), verb, state.NamesOf(before), when)
	return cause
}

// before is the state that the change starts from, read with the baseline.
func (a *Agent) before(ctx context.Context, entry *journal.Entry) (state.State, error) {
	if len(entry.Before) > 0 {
		return state.Parse(entry.Before)
	}
	return a.Backend.Show(ctx)
}

// awaited are the interfaces that the last change did not find: they are reported
// whatever they look like, since somebody waits for them.
func (a *Agent) awaited() []string {
	if a.record.Last == nil {
		return nil
	}
	return a.record.Last.Awaits
}

// capabilities are what the kernel is known to do and not to do.
func (a *Agent) capabilities() *v1.Capabilities {
	if a.Kernel == nil {
		return nil
	}
	can, cannot := a.Kernel.Links()
	if len(can)+len(cannot) == 0 {
		return nil
	}
	return &v1.Capabilities{LinkTypes: can, MissingLinkTypes: cannot}
}
