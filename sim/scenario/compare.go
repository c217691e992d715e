package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
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

// numbered is a line of the simulator's about a route that may have its metric from
// NetworkManager, maybe after the name of its node: where to, and the metric. Those of two
// types of devices are 25 apart at least. Any other metric somebody has named. The lab's
// NICs name all of theirs.
var numbered = regexp.MustCompile(`^((?:\S+: )?route \S+) .*dev \S+ metric ((?:1[0-2]|3[0-2]|4[0-4])[0-9])\b`)

// InOrder is a snapshot, or a picture, of the simulator in which each of those routes has
// its place among those to the same destination for its metric. A device that was activated
// anew has another metric, which decides nothing as long as no route comes before another
// one that came before it.
func InOrder(snapshot string) string {
	lines := strings.Split(snapshot, "\n")
	metrics := map[string][]int{}
	read := func(line string) (to string, metric int, at []int) {
		found := numbered.FindStringSubmatchIndex(line)
		if found == nil {
			return "", 0, nil
		}
		metric, _ = strconv.Atoi(line[found[4]:found[5]])
		return line[found[2]:found[3]], metric, found[4:]
	}
	for _, line := range lines {
		if to, metric, at := read(line); at != nil {
			metrics[to] = append(metrics[to], metric)
		}
	}
	for i, line := range lines {
		to, metric, at := read(line)
		if at == nil {
			continue
		}
		before := 0
		for _, other := range metrics[to] {
			if other < metric {
				before++
			}
		}
		lines[i] = fmt.Sprintf("%sabout %d, after %d others%s", line[:at[0]], metric/25*25, before, line[at[1]:])
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// inUse tells which port of a bond is, in the lab's words: of the bond, and of the port.
var inUse = regexp.MustCompile(`("active_slave":|"state":)"(?:eth[0-9]+|ACTIVE|BACKUP)"`)

// acrossBoots is a snapshot without what a boot chooses anew.
//
// MAC addresses of links that it makes, and the link-local addresses that follow. That of a
// bridge is made of the MAC address from before the first port gives it one (seen on the
// lab), and may stand beside a second one. So of lines, and of addresses in a line, that are
// the same without them only one stays.
//
// Metrics of connected routes. Where a profile gives none, the first link that
// NetworkManager activates gets the default and each later one the next number: the order
// of activation decides, and two boots need not share it. A metric that a profile gives is
// compared as a line of the profile. Routes of another protocol (static, DHCP, router
// advertisement) are compared with their metric.
//
// The port of a bond that is in use: without a primary, which is compared, it is the first
// that was there.
//
// Lines are sorted again, since what is left out had its part in their order.
func acrossBoots(snapshot string) string {
	lines := strings.Split(macs.ReplaceAllString(snapshot, "MAC"), "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "link {"):
			lines[i] = inUse.ReplaceAllString(line, "$1")
		case strings.HasPrefix(line, "route") && strings.Contains(line, `"protocol":"kernel"`):
			lines[i] = metric.ReplaceAllString(line, `"metric":0`)
		case strings.HasPrefix(line, `address {`):
			lines[i] = eachOnce(line)
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.CompactFunc(lines, func(a, b string) bool { return a == b && strings.Contains(a, "MAC") }), "\n")
}

// rewritten are the keys that nmstate adds to a profile or leaves out of it when it gives
// a NIC the state that was there before: what it says is NetworkManager's default, and
// what it leaves out is too.
var rewritten = regexp.MustCompile(`^\S+\.nmconnection: \[\w+\] (?:mtu|dns-options|dns-priority|dhcp-client-id|dhcp-duid|dhcp-iaid|ra-timeout|route-metric)=`)

// afterUndo is a snapshot without the words in which a profile says the same. An undo
// puts back settings, by nmstate; only a rollback puts back the bytes of a profile. What
// these keys come to is compared in the kernel's lines: MTU, addresses and metrics.
func afterUndo(snapshot string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(snapshot, "\n"), rewritten.MatchString), "\n")
}

// eachOnce is the line of a link's addresses with each of them once.
func eachOnce(line string) string {
	var link map[string]json.RawMessage
	var addresses []json.RawMessage
	kind, text, _ := strings.Cut(line, " ")
	if json.Unmarshal([]byte(text), &link) != nil || json.Unmarshal(link["addr_info"], &addresses) != nil {
		return line
	}
	slices.SortFunc(addresses, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
	once, err := json.Marshal(slices.CompactFunc(addresses, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }))
	if err != nil {
		return line
	}
	link["addr_info"] = once
	if once, err = json.Marshal(link); err != nil {
		return line
	}
	return kind + " " + string(once)
}
