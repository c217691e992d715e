package foreign

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// twoVeths makes eth0 and eth1, each with a far end.
func twoVeths(t *testing.T) {
	t.Helper()
	privateNetwork(t)
	for _, name := range []string{"eth0", "eth1"} {
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name, MTU: 1500}, PeerName: name + "far"}
		if err := netlink.LinkAdd(pair); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = netlink.LinkDel(pair) })
		ip(t, "link set "+name+"far up")
		ip(t, "link set "+name+" up")
	}
}

func ip(t *testing.T, command string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ip", strings.Fields(command)...).CombinedOutput()
	if err != nil {
		t.Fatalf("ip %s: %v: %s", command, err, out)
	}
	return string(out)
}

// shown is what ip shows of eth0 and eth1, without lifetimes.
func shown(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, command := range []string{"-o addr show dev eth0", "-o addr show dev eth1", "-4 route show table all", "-6 route show table all"} {
		for line := range strings.Lines(ip(t, command)) {
			if strings.Contains(line, "fe80:") || strings.Contains(line, "ff00:") {
				continue
			}
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	slices.Sort(lines)
	return lines
}

// awaitShown waits a little: the kernel finishes IPv6 addresses in its own time.
func awaitShown(t *testing.T, want []string) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		diff := cmp.Diff(want, shown(t))
		if diff == "" {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("it is not as it was (-was +is):\n%s", diff)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// awaitLocal6 waits until the kernel has finished the IPv6 address.
func awaitLocal6(t *testing.T) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for !strings.Contains(strings.Join(shown(t), "\n"), "local 2001:db8:1::5 dev eth1") {
		select {
		case <-deadline:
			t.Fatal("the IPv6 address never became local")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func noted(t *testing.T) Snapshot {
	t.Helper()
	s, err := Kernel{}.Note(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var everything = []string{
	"addr add 192.0.2.11/24 brd + dev eth0 noprefixroute",
	"route add 192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.11 metric 100",
	"addr add 203.0.113.5/24 dev eth1 label eth1:a",
	"addr add 203.0.113.6/24 dev eth1",
	"addr add 198.51.100.1 peer 198.51.100.2/32 dev eth1",
	"addr add 2001:db8:1::5/64 dev eth1 nodad",
	"route add default via 192.0.2.1 dev eth0 proto static metric 100",
	"route add 10.244.1.0/24 via 203.0.113.2 dev eth1",
	"route add 10.244.2.0/24 via 203.0.113.2 dev eth1 proto bird metric 32 src 203.0.113.6",
	"route add 10.244.3.0/24 dev eth1 proto 186 scope link mtu 1300 advmss 1200",
	"route add 10.244.4.0/24 proto bird nexthop via 203.0.113.2 dev eth1 weight 2 nexthop via 192.0.2.1 dev eth0 weight 5",
	"route add 10.244.5.0/24 via 203.0.113.77 dev eth1 table 1000 onlink",
	"route add blackhole 10.244.6.0/24 proto bird",
	"route add local 10.244.7.0/24 dev lo table 100",
	"-6 route add fd00:244::/64 via 2001:db8:1::2 dev eth1 pref high",
	"-6 route add fd00:245::/64 dev eth1 proto bird metric 77",
	"-6 route add fd00:246::/64 proto bird nexthop via 2001:db8:1::2 dev eth1 nexthop via 2001:db8:1::3 dev eth1",
}

func TestEverythingThatIsDroppedFromTheKernelIsPutBackAsItWas(t *testing.T) {
	for name, damage := range map[string][]string{
		"the addresses of one interface":  {"addr flush dev eth1 scope global"},
		"the addresses of both":           {"addr flush dev eth1 scope global", "addr flush dev eth0 scope global"},
		"an interface is set down and up": {"link set eth1 down", "link set eth1 up"},
		"some routes": {
			"route del 10.244.1.0/24", "route del 10.244.5.0/24 table 1000", "route del 10.244.6.0/24",
			"route del local 10.244.7.0/24 table 100", "-6 route del fd00:244::/64", "-6 route del fd00:246::/64 via 2001:db8:1::3 dev eth1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			twoVeths(t)
			for _, command := range everything {
				ip(t, command)
			}
			t.Cleanup(func() {
				for _, command := range []string{"route flush table 100", "route flush table 1000", "route del blackhole 10.244.6.0/24"} {
					_ = exec.CommandContext(context.WithoutCancel(t.Context()), "ip", strings.Fields(command)...).Run()
				}
			})
			awaitLocal6(t)
			want, before := shown(t), noted(t)
			for _, command := range damage {
				ip(t, command)
			}
			if slices.Equal(want, shown(t)) {
				t.Fatal("nothing was damaged")
			}
			named := NamedBy(state.FromTree(map[string]any{}))
			for range 3 { // Some things need others, which come back first.
				for _, loss := range Lost(before, noted(t), named) {
					if err := (Kernel{}).PutBack(t.Context(), loss); err != nil {
						t.Logf("%s: %v", loss, err)
					}
				}
			}
			if lost := Lost(before, noted(t), named); len(lost) > 0 {
				t.Errorf("still lost: %v", lost)
			}
			awaitShown(t, want)
		})
	}
}

func TestARouteWhoseNexthopObjectIsGoneComesBackWithoutIt(t *testing.T) {
	twoVeths(t)
	ip(t, "addr add 203.0.113.5/24 dev eth1")
	if out, err := exec.CommandContext(t.Context(), "ip", "nexthop", "add", "id", "7", "via", "203.0.113.2", "dev", "eth1").CombinedOutput(); err != nil {
		skip(t, "no nexthop objects in this kernel: "+string(out))
	}
	ip(t, "route add 10.244.1.0/24 nhid 7 proto bgp")
	before := noted(t)
	ip(t, "nexthop del id 7")
	lost := Lost(before, noted(t), NamedBy(state.FromTree(map[string]any{})))
	if len(lost) != 1 {
		t.Fatalf("lost %v", lost)
	}
	if err := (Kernel{}).PutBack(t.Context(), lost[0]); err != nil {
		t.Fatal(err)
	}
	if got := ip(t, "route show 10.244.1.0/24"); !strings.Contains(got, "via 203.0.113.2 dev eth1 proto bgp") {
		t.Errorf("got %s", got)
	}
}

func TestLinksArePutBack(t *testing.T) {
	twoVeths(t)
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "br0", MTU: 1400}}
	if err := netlink.LinkAdd(bridge); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.LinkDel(bridge) })
	ip(t, "link set br0 mtu 1400 up")
	ip(t, "link set eth1 master br0")
	before := noted(t)
	ip(t, "link set eth1 nomaster")
	ip(t, "link set br0 mtu 1300 down")
	named := NamedBy(state.FromTree(map[string]any{}))
	for _, loss := range Lost(before, noted(t), named) {
		if err := (Kernel{}).PutBack(t.Context(), loss); err != nil {
			t.Errorf("%s: %v", loss, err)
		}
	}
	lost := slices.DeleteFunc(Lost(before, noted(t), named), func(l Loss) bool {
		return l.Slight // The bridge has just come up: the kernel is at it.
	})
	if len(lost) > 0 {
		t.Errorf("still lost: %v", lost)
	}
}

func TestWhatCannotBePutBackSaysWhy(t *testing.T) {
	twoVeths(t)
	ip(t, "addr add 203.0.113.5/24 dev eth1")
	ip(t, "route add 10.244.1.0/24 via 203.0.113.2 dev eth1")
	before := noted(t)
	ip(t, "addr flush dev eth1 scope global")
	document := state.FromTree(map[string]any{"interfaces": []any{
		map[string]any{"name": "eth1", "type": "ethernet", "ipv4": map[string]any{"enabled": true}},
	}})
	lost := Lost(before, noted(t), NamedBy(document))
	if len(lost) != 1 {
		t.Fatalf("lost %v", lost)
	}
	if err := (Kernel{}).PutBack(t.Context(), lost[0]); err == nil || err.Error() != unix.ENETUNREACH.Error() {
		t.Errorf("error %v", err)
	}
}

// A transaction notes once before the change and once after it.
func BenchmarkNoteAndCompareWith1000Routes(b *testing.B) {
	loopback, err := netlink.LinkByName("lo")
	if err != nil || netlink.LinkSetUp(loopback) != nil {
		b.Skip("skipped: no network namespace of our own (run as root)")
	}
	for i := range 1000 {
		command := fmt.Sprintf("route replace 10.%d.%d.0/24 dev lo proto bird", i/256, i%256)
		if out, err := exec.CommandContext(b.Context(), "ip", strings.Fields(command)...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	before, err := Kernel{}.Note(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	named := NamedBy(state.FromTree(map[string]any{}))
	b.ReportAllocs()
	for b.Loop() {
		now, err := Kernel{}.Note(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if lost := Lost(before, now, named); len(lost) > 0 {
			b.Fatal(lost)
		}
	}
}
