package nmstate

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// inNewSpace runs the test on a network of its own.
func inNewSpace(t *testing.T, run func(t *testing.T)) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a network namespace needs root")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // Never unlocked: the thread ends with its namespace.
		space, err := netns.New()
		if err != nil {
			t.Errorf("making a network namespace: %v", err)
			return
		}
		defer space.Close()
		run(t)
	}()
	<-done
}

func TestBothWaysToTryVLANFilteringAgree(t *testing.T) {
	inNewSpace(t, func(t *testing.T) {
		want, err := KernelFiltersVLANs()
		if err != nil {
			t.Error(err)
		}
		got, err := refusedForOtherThanVLANs()
		if err != nil || got != want {
			t.Errorf("without a namespace: %v, %v; with one: %v", got, err, want)
		}
		// The second reason to refuse is one on every kernel.
		err = newBridge("nmstate-try0", func(options *nl.RtAttr) { options.AddRtAttr(nl.IFLA_BR_GROUP_ADDR, make([]byte, 6)) })
		if !errors.Is(err, unix.EINVAL) {
			t.Errorf("a bridge with a group address that none may have: %v", err)
		}
		links, err := netlink.LinkList()
		if err != nil || len(links) != 1 {
			t.Errorf("left behind: %v, %v", links, err)
		}
	})
}

func TestNobodyHearsOfTheBridgeThatIsRefused(t *testing.T) {
	inNewSpace(t, func(t *testing.T) {
		heard, done := make(chan netlink.LinkUpdate, 10), make(chan struct{})
		defer close(done)
		if err := netlink.LinkSubscribe(heard, done); err != nil {
			t.Error(err)
			return
		}
		if _, err := refusedForOtherThanVLANs(); err != nil {
			t.Error(err)
		}
		if err := newBridge("seen", func(*nl.RtAttr) {}); err != nil {
			t.Error(err)
			return
		}
		if first := <-heard; first.Attrs().Name != "seen" {
			t.Errorf("heard of %s", first.Attrs().Name)
		}
	})
}

func TestWhatTheKernelSaysOfALinkIsWhatMakingOneSays(t *testing.T) {
	inNewSpace(t, func(t *testing.T) {
		links := &Links{try: knowsLink, isLoaded: func(string) bool { return true }, tried: map[string]bool{}}
		if err := links.begin(); err != nil {
			t.Error(err)
		}
		can, cannot := links.Links()
		if len(can)+len(cannot) != len(linkTypes()) {
			t.Errorf("of %d types it can make %v and cannot make %v", len(linkTypes()), can, cannot)
		}
		if there, err := netlink.LinkList(); err != nil || len(there) != 1 {
			t.Errorf("left behind: %v, %v", there, err)
		}
		for name, link := range map[string]netlink.Link{
			"bond":         netlink.NewLinkBond(netlink.LinkAttrs{Name: "made"}),
			"dummy":        &netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Name: "made"}},
			"linux-bridge": &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "made"}},
			"veth":         &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "made"}, PeerName: "peer"},
			"vlan":         &netlink.Vlan{LinkAttrs: netlink.LinkAttrs{Name: "made", ParentIndex: 1}, VlanId: 1},
			"vrf":          &netlink.Vrf{LinkAttrs: netlink.LinkAttrs{Name: "made"}, Table: 7},
			"vxlan":        &netlink.Vxlan{LinkAttrs: netlink.LinkAttrs{Name: "made"}, VxlanId: 1, Port: 4789},
		} {
			err := netlink.LinkAdd(link)
			if made := !errors.Is(err, unix.EOPNOTSUPP); made != links.CanMake(name) {
				t.Errorf("%s: making one says %v; without it: %v", name, err, links.CanMake(name))
			}
			if err == nil {
				_ = netlink.LinkDel(link)
			}
		}
	})
}

func TestWhatStandsOnANICIsFoundInAPodToo(t *testing.T) {
	inNewSpace(t, func(t *testing.T) {
		here, err := netns.Get()
		if err != nil {
			t.Error(err)
			return
		}
		pod, err := netns.New()
		if err != nil {
			t.Error(err)
			return
		}
		defer pod.Close()
		if err := netns.Set(here); err != nil {
			t.Error(err)
			return
		}
		for _, nic := range []string{"eth1", "eth2", "eth3"} {
			if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: nic}, PeerName: nic + "p"}); err != nil {
				t.Error(err)
				return
			}
		}
		stand := func(name, on string) netlink.Link {
			nic, err := netlink.LinkByName(on)
			if err != nil {
				t.Fatal(err)
			}
			made := &netlink.Macvlan{LinkAttrs: netlink.LinkAttrs{Name: name, ParentIndex: nic.Attrs().Index}, Mode: netlink.MACVLAN_MODE_BRIDGE}
			if err := netlink.LinkAdd(made); err != nil {
				t.Fatal(err)
			}
			return made
		}
		if err := netlink.LinkSetNsFd(stand("net1", "eth1"), int(pod)); err != nil {
			t.Error(err)
			return
		}
		stand("mv0", "eth2")
		type answer struct {
			name      string
			elsewhere bool
		}
		for nic, want := range map[string]answer{"eth1": {"net1", true}, "eth2": {"mv0", false}, "eth3": {}, "eth9": {}} {
			if name, elsewhere := standingOn(nic); (answer{name, elsewhere}) != want {
				t.Errorf("on %s stands %q, elsewhere %t; want %+v", nic, name, elsewhere, want)
			}
		}
	})
}
