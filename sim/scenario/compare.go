package scenario

import (
	"regexp"
	"slices"
	"strings"
)

// own is what a node has of its own: its name and its addresses on lan.
var own = regexp.MustCompile(`node[0-9]+|192\.0\.2\.1[0-9]/|2001:db8::1[0-9]/`)

// Comparable is a picture of this scenario as two runs of it must have it
// alike. Which of several nodes is the first is nobody's to say, so with more than
// one they have no names.
func (s *Scenario) Comparable(picture string) string {
	if len(s.Topology.names()) == 1 {
		return picture
	}
	lines := strings.Split(strings.TrimSpace(own.ReplaceAllString(picture, "*")), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// macs are MAC addresses, and the link-local addresses that are made of them.
var macs = regexp.MustCompile(`(?i)([0-9a-f]{2}:){5}[0-9a-f]{2}|fe80::[0-9a-f:]+`)

// withoutMAC is a snapshot without them; its lines were sorted with them.
func withoutMAC(snapshot string) string {
	lines := strings.Split(macs.ReplaceAllString(snapshot, "MAC"), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
