package agent

import (
	"testing"

	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestANodeThatIsAsBeforeDoesNotProveThatAChangeWasCommitted(t *testing.T) {
	link := func(name, kind, is string) state.State {
		return state.FromTree(map[string]any{"interfaces": []any{map[string]any{"name": name, "type": kind, "state": is}}})
	}
	for name, c := range map[string]struct {
		before, change, now state.State
		missing             bool
	}{
		"what is new to the node is there, so it was committed":       {before: link("eth1", "ethernet", "up"), change: link("br1", "linux-bridge", "up"), now: link("br1", "linux-bridge", "up")},
		"what is new to the node is not there, so it was not":         {before: link("eth1", "ethernet", "up"), change: link("br1", "linux-bridge", "up"), now: link("eth1", "ethernet", "up"), missing: true},
		"an end of a veth that should be gone and never is compared":  {before: link("veth9", "veth", "up"), change: link("veth9", "veth", "absent"), now: link("veth9", "veth", "up"), missing: true},
		"a change that changes nothing: it may be applied once again": {before: link("eth1", "ethernet", "up"), change: link("eth1", "ethernet", "up"), now: link("eth1", "ethernet", "up"), missing: true},
		"an end of a veth that should be gone, and something is gone": {before: link("veth9", "veth", "up"), change: link("veth9", "veth", "absent"), now: link("eth1", "ethernet", "up")},
		"what was to go, is of a kind that is compared, and has gone": {before: link("br1", "linux-bridge", "up"), change: link("br1", "linux-bridge", "absent"), now: link("eth1", "ethernet", "up")},
		"what was to go, is of a kind that is compared, and is there": {before: link("br1", "linux-bridge", "up"), change: link("br1", "linux-bridge", "absent"), now: link("br1", "linux-bridge", "up"), missing: true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost()
			h.interfaces = map[string]map[string]any{}
			for _, i := range c.now.Interfaces() {
				h.interfaces[i.Name] = i.Tree()
			}
			a := &Agent{Options: Options{Backend: mortal{h, t.Context()}}}
			if got := a.compare(t.Context(), journal.Entry{}, c.before, c.change).Missing; (len(got) > 0) != c.missing {
				t.Errorf("missing: %q", got)
			}
		})
	}
}
