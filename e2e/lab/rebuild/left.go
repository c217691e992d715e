package rebuild

import (
	"fmt"
	"slices"
	"strings"

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

// mostNames is how much of the names of one reason a line has, in bytes, and
// mostTold how many of what is more than a name.
const (
	mostNames = 160
	mostTold  = 6
)

func (l *left) lines() []string {
	var all []string
	for _, reason := range l.reasons {
		line := reason
		if names := l.names[reason]; len(names) > 0 {
			line = briefly(names) + ": " + reason
		}
		all = append(all, line)
	}
	return all
}

func briefly(names []string) string {
	if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, " ") }) {
		return state.Ranges(names, mostNames)
	}
	if len(names) > mostTold {
		names = append(names[:mostTold:mostTold], fmt.Sprintf("and %d more", len(names)-mostTold))
	}
	return strings.Join(names, ", ")
}
