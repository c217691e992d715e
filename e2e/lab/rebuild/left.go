package rebuild

import (
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// left collects what is not rebuilt, by the reason.
type left struct {
	reasons []string
	names   map[string][]string
}

// add says that something, or all of the node where it has no name, is not rebuilt.
func (l *left) add(reason, name string) {
	if l.names == nil {
		l.names = map[string][]string{}
	}
	if !slices.Contains(l.reasons, reason) {
		l.reasons = append(l.reasons, reason)
	}
	if name != "" && !slices.Contains(l.names[reason], name) {
		l.names[reason] = append(l.names[reason], name)
	}
}

// mostNames is how much of the names of one reason a line has, in bytes.
const mostNames = 160

func (l *left) lines() []string {
	var all []string
	for _, reason := range l.reasons {
		line := reason
		if names := l.names[reason]; len(names) > 0 {
			line = state.Ranges(names, mostNames) + ": " + reason
		}
		all = append(all, line)
	}
	return all
}
