package nmstate

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// KernelFiltersVLANs tells whether this kernel's bridges can filter VLANs. It
// is found out by trying, since what is built in or not says less: in a network
// namespace that is thrown away with its thread, and where the process may not
// make one (a pod with NET_ADMIN and no more) without one.
func KernelFiltersVLANs() (bool, error) {
	answer := make(chan error, 1)
	filters := false
	go func() {
		runtime.LockOSThread() // Never unlocked: the thread ends with its namespace.
		answer <- func() error {
			space, err := netns.New()
			if errors.Is(err, unix.EPERM) {
				filters, err = refusedForOtherThanVLANs()
				return err
			}
			if err != nil {
				return fmt.Errorf("making a network namespace to try VLAN filtering in: %w", err)
			}
			defer space.Close()
			on := true
			bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "try0"}, VlanFiltering: &on}
			filters = netlink.LinkAdd(bridge) == nil
			return nil
		}()
	}()
	err := <-answer
	return filters, err
}

// refusedForOtherThanVLANs asks for a bridge that cannot be: it filters VLANs and
// has a group address that none may have. The kernel looks at these in this
// order, tells why it refuses, and has told nobody of the bridge by then.
func refusedForOtherThanVLANs() (bool, error) {
	err := newBridge("nmstate-try0", func(options *nl.RtAttr) {
		options.AddRtAttr(nl.IFLA_BR_VLAN_FILTERING, nl.Uint8Attr(1))
		options.AddRtAttr(nl.IFLA_BR_GROUP_ADDR, make([]byte, 6))
	})
	switch {
	case errors.Is(err, unix.EINVAL):
		return true, nil
	case errors.Is(err, unix.EOPNOTSUPP):
		return false, nil
	}
	return false, fmt.Errorf("trying VLAN filtering on a bridge that the kernel must refuse: %w", err)
}

// newBridge asks the kernel for a bridge with options of our own making.
func newBridge(name string, add func(options *nl.RtAttr)) error {
	return newLink(name, "bridge", func(_ *nl.NetlinkRequest, info *nl.RtAttr) {
		add(info.AddRtAttr(nl.IFLA_INFO_DATA, nil))
	})
}

func newLink(name, kind string, add func(request *nl.NetlinkRequest, info *nl.RtAttr)) error {
	request := nl.NewNetlinkRequest(unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL|unix.NLM_F_ACK)
	request.AddData(nl.NewIfInfomsg(unix.AF_UNSPEC))
	request.AddData(nl.NewRtAttr(unix.IFLA_IFNAME, nl.ZeroTerminated(name)))
	info := nl.NewRtAttr(unix.IFLA_LINKINFO, nil)
	info.AddRtAttr(nl.IFLA_INFO_KIND, nl.NonZeroTerminated(kind))
	add(request, info)
	request.AddData(info)
	_, err := request.Execute(unix.NETLINK_ROUTE, 0)
	return err
}

// knowsLink asks for a link that cannot be: it has no queue to send from. The kernel
// looks for the kind first, then at the queues, and has told nobody of the link by
// then. A kind may find more to refuse; that the kernel refuses it says that it
// knows it. So no namespace is needed, which a pod with NET_ADMIN and no more may
// not make.
func knowsLink(kind string) (bool, error) {
	err := newLink("nmstate-try0", kind, func(request *nl.NetlinkRequest, _ *nl.RtAttr) {
		request.AddData(nl.NewRtAttr(unix.IFLA_NUM_TX_QUEUES, nl.Uint32Attr(0)))
	})
	switch {
	case errors.Is(err, unix.EOPNOTSUPP):
		return false, nil
	case errors.Is(err, unix.EPERM):
		return false, fmt.Errorf("trying whether the kernel has links of kind %s: %w", kind, err)
	case err == nil:
		return false, fmt.Errorf("trying whether the kernel has links of kind %s: it made one without a queue", kind)
	}
	return true, nil
}

// loadsNothing tells whether trying a kind of link loads no module: the kernel has it
// already, or can load none.
func loadsNothing(module string) bool {
	if _, err := os.Stat("/sys/module/" + module); err == nil {
		return true
	}
	disabled, err := os.ReadFile("/proc/sys/kernel/modules_disabled")
	return err != nil || strings.TrimSpace(string(disabled)) == "1"
}
