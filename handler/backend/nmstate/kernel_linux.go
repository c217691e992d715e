package nmstate

import (
	"fmt"
	"runtime"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// KernelFiltersVLANs tells whether this kernel's bridges can filter VLANs. It
// is found out by trying, in a network namespace that is thrown away with its
// thread: what is built in or not says less.
func KernelFiltersVLANs() (bool, error) {
	answer := make(chan error, 1)
	filters := false
	go func() {
		runtime.LockOSThread() // Never unlocked: the thread ends with its namespace.
		answer <- func() error {
			space, err := netns.New()
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
