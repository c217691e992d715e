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

// metric of a route in the lab's words.
var metric = regexp.MustCompile(`"metric":[0-9]+`)

// acrossBoots is a snapshot without what a boot chooses anew: MAC addresses of links that
// it makes, and metrics of connected routes. Where a profile gives no metric, the first
// link that NetworkManager activates gets the default and each later one the next number:
// the order of activation decides, and two boots need not share it. A metric that a
// profile gives is compared as a line of the profile. Routes of another protocol (static,
// DHCP, router advertisement) are compared with their metric. Lines are sorted again,
// since what is left out had its part in their order.
func acrossBoots(snapshot string) string {
	lines := strings.Split(macs.ReplaceAllString(snapshot, "MAC"), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "route") && strings.Contains(line, `"protocol":"kernel"`) {
			lines[i] = metric.ReplaceAllString(line, `"metric":0`)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
