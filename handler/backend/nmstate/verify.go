package nmstate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const (
	// verifyWithin is how long the node may take to have what was applied. nmstate
	// looks five times a second apart, applies once more, and looks five times again.
	verifyWithin = 10 * time.Second
	// verifyReads is how often the node is read at least before the apply has
	// failed: one read of a node with a thousand interfaces takes seconds.
	verifyReads = 10
	// verifyPoll is the longest time between two reads. NetworkManager's signals
	// make it shorter.
	verifyPoll = 250 * time.Millisecond
	// verifyPause lets the signals of one device come together, so that one read
	// answers all of them. It is as long as the last read where that took longer, so
	// that reading a large node leaves NetworkManager half of the time.
	verifyPause = 20 * time.Millisecond
	// verifyRenewal is after how many reads the checkpoint's life begins anew.
	verifyRenewal = 4
	// verifyMost is how many differences the error names.
	verifyMost = 5
)

// What is verified here is what nmstate always reports, so that what is not there is
// a difference (TestWhatOursVerifiesNmstateVerifiesToo compares the two
// verifications). Whatever else a state says leaves the verification to nmstate:
// Open vSwitch and SR-IOV, since it knows how long their daemons and drivers take; ethtool,
// 802.1X and the like, since only some drivers report them; and what no machine of ours can make.
var (
	verifiedTypes    = set("", "ethernet", "veth", "linux-bridge", "bond", "vlan", "vxlan", "vrf", "dummy", "mac-vlan", "ipvlan")
	verifiedSections = set("interfaces", "routes", "route-rules", "dns-resolver", "hostname")
	verifiedKeys     = set("name", "type", "state", "mtu", "mac-address", "description", "lldp", "ipv4", "ipv6",
		"bridge", "link-aggregation", "vlan", "vxlan", "vrf", "mac-vlan", "ipvlan", "veth")
	verifiedOfFamily = set("enabled", "dhcp", "autoconf", "address", "auto-dns", "auto-gateway", "auto-routes")
)

func set(names ...string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all
}

// verifiesItself tells whether nmstate has to verify what it applies.
func verifiesItself(tried state.State) bool {
	tree := tried.Tree()
	for _, one := range tried.Interfaces() {
		keys := one.Tree()
		if !verifiedTypes[one.Type] || isMore(keys, verifiedKeys) || isMore(keys["ipv4"], verifiedOfFamily) || isMore(keys["ipv6"], verifiedOfFamily) {
			return true
		}
	}
	return isMore(tree, verifiedSections)
}

// isMore tells whether an object says more than the keys.
func isMore(object any, keys map[string]bool) bool {
	said, _ := object.(map[string]any)
	for key := range said {
		if !keys[key] {
			return true
		}
	}
	return false
}

// verify waits until the node has what was applied, as nmstate's verification
// does: guards that are asked before would be asked of the network from before.
// It reads the node at once, and again whenever NetworkManager says that something
// has changed. The checkpoint's life begins anew meanwhile, and at the end. An error wraps
// none of the port's, since the change is there.
func (t *trial) verify(ctx context.Context, wanted state.State, show func(context.Context) (state.State, error), changes <-chan *dbus.Signal, holding *holder) error {
	patience, cancel := context.WithTimeout(ctx, verifyWithin)
	defer cancel()
	for reads := 1; ; reads++ {
		t.drain(changes)
		began := t.clock.Now()
		current, err := show(ctx)
		if err != nil {
			return unwrapped(ctx, "reading back what was applied", err)
		}
		missing := state.Missing(wanted, current)
		if len(missing) == 0 {
			return t.renew(ctx)
		}
		if patience.Err() != nil && ctx.Err() == nil && reads >= verifyReads {
			return fmt.Errorf("the node does not have what was applied: %s%s", listed(missing), keptOff(missing))
		}
		if reads%verifyRenewal == 0 {
			if err := t.renew(ctx); err != nil {
				return err
			}
		}
		if err := t.nextRead(ctx, max(verifyPause, t.clock.Since(began)), changes, holding); err != nil {
			return err
		}
	}
}

// unwrapped is an error of a call that wraps only the end of its context.
func unwrapped(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	return fmt.Errorf("%s: %v", doing, err)
}

// renew gives the checkpoint its whole life again, from now on.
func (t *trial) renew(ctx context.Context) error {
	err := t.manager.call(ctx, answerWithin, nmPath, nmName+".CheckpointAdjustRollbackTimeout", dbus.ObjectPath(t.checkpoint), uint32(t.rollbackAfter/time.Second)).Err
	if err != nil {
		return unwrapped(ctx, "renewing the checkpoint of what was applied", err)
	}
	return nil
}

// drain takes the signals that have come: the read that follows answers all of them.
func (t *trial) drain(changes <-chan *dbus.Signal) {
	for {
		select {
		case change, open := <-changes:
			if !open {
				return // The next call to NetworkManager tells.
			}
			t.notice(change)
		default:
			return
		}
	}
}

// notice keeps why a device failed.
func (t *trial) notice(change *dbus.Signal) {
	if device, reason, is := failedDevice(change); is {
		t.failedFor[device] = reason
	}
}

// nextRead waits until something has changed and a pause is over, and not for long.
func (t *trial) nextRead(ctx context.Context, pause time.Duration, changes <-chan *dbus.Signal, holding *holder) error {
	poll, cancel := context.WithTimeout(ctx, max(verifyPoll, pause))
	defer cancel()
	changed, err := t.change(poll, changes, holding)
	if err == nil && changed {
		together, cancel := context.WithTimeout(poll, pause)
		defer cancel()
		_, err = t.change(together, nil, holding) // Those that come in the pause are read at once.
	}
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("verifying what was applied: %w", context.Cause(ctx))
	}
	return err
}

// change waits for a signal until ctx ends. Meanwhile it puts DNSFile back.
func (t *trial) change(ctx context.Context, changes <-chan *dbus.Signal, holding *holder) (changed bool, err error) {
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case <-holding.changes:
			_ = holding.putBack() // The next change, or the end, tries again and tells.
		case change, open := <-changes:
			if !open {
				return false, errors.New("verifying what was applied: NetworkManager went away")
			}
			t.notice(change)
			return true, nil
		}
	}
}

// keptOff tells why a NIC has not become a port, where the kernel says no more than that it
// is busy, and NetworkManager not even that.
func keptOff(missing []state.Difference) string {
	for _, one := range missing {
		if one.Path.Leaf != "port" || one.Want == "" {
			continue
		}
		name, elsewhere := standingOn(one.Want)
		if name == "" {
			continue
		}
		if elsewhere {
			name += " of a pod"
		}
		return fmt.Sprintf(" (%s stands on %s: the kernel lets no macvlan or ipvlan and a controller share it)", name, one.Want)
	}
	return ""
}

// listed is one line of the first differences.
func listed(missing []state.Difference) string {
	told := ""
	for i, one := range missing {
		if i == verifyMost {
			return fmt.Sprintf("%s; and %d more", told, len(missing)-verifyMost)
		}
		if i > 0 {
			told += "; "
		}
		told += one.String()
	}
	return told
}
