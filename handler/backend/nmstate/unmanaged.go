package nmstate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const (
	// reasonUserSettings is why NetworkManager has a device unmanaged whatever is
	// activated on it (NMDeviceStateReason UNMANAGED_USER_SETTINGS). From 1.48 on it
	// says so; older ones give no reason.
	reasonUserSettings = 76
	// silenceAfter is how long an apply may go without a signal of NetworkManager's
	// before it is looked at what it waits for.
	silenceAfter = 10 * time.Second
)

// refuseLeftAlone refuses a change of what NetworkManager is configured to leave alone.
// NetworkManager refuses each activation there, and nmstate goes on asking for two minutes.
func refuseLeftAlone(desired state.State, devices map[string]known) error {
	return leftAlone(toActivate(desired), devices, func(k known) bool { return k.unmanaged() && k.reason == reasonUserSettings })
}

// toActivate are the interfaces that nmstate activates a profile on: those that are to
// be up, and their ports.
func toActivate(desired state.State) []string {
	var names []string
	for _, one := range desired.Interfaces() {
		if !one.WantedUp() {
			continue
		}
		names = append(names, one.Ports()...)
		if !strings.HasPrefix(one.Type, "ovs-") {
			names = append(names, one.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// leftAlone names the interfaces whose devices NetworkManager leaves alone, and says what
// to do. It is nil where there is none.
func leftAlone(names []string, devices map[string]known, leaves func(known) bool) error {
	names = those(names, devices, leaves)
	if len(names) == 0 {
		return nil
	}
	it := "it"
	if len(names) > 1 {
		it = "them"
	}
	return fmt.Errorf("interfaces[%s]: NetworkManager is configured to leave %s alone on this node, and no profile changes that; "+
		"take %s out of unmanaged-devices below /etc/NetworkManager and out of /etc/network/interfaces, whichever has %s",
		strings.Join(names, ", "), it, it, it)
}

// refuseReadOnly refuses a change of a profile that NetworkManager could try, and not save.
func refuseReadOnly(desired state.State, devices map[string]known) error {
	names := toActivate(desired)
	for _, route := range desired.Routes() {
		names = append(names, route.NextHopInterface)
	}
	slices.Sort(names)
	names = those(slices.Compact(names), devices, func(k known) bool { return k.readOnly })
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("interfaces[%s]: NetworkManager reads the profile from /etc/network/interfaces, and cannot write it; "+
		"copy it into one of NetworkManager's own (nmcli connection clone), take the interface out of that file, and activate the copy", strings.Join(names, ", "))
}

// those are the named interfaces with devices of a kind.
func those(names []string, devices map[string]known, is func(known) bool) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		device, there := devices[name]
		return !there || !is(device)
	})
}

// orLeftAlone adds to what was found wrong that NetworkManager leaves a part of it alone.
// Before 1.48 it does not say so of a port, and has the rest activated.
func (t *trial) orLeftAlone(ctx context.Context, desired state.State, wrong error) error {
	devices, err := t.manager.devices(ctx)
	if err != nil {
		return wrong
	}
	if told := leftAlone(toActivate(desired), devices, known.stillUnmanaged); told != nil {
		return fmt.Errorf("%w (%w)", told, wrong)
	}
	return wrong
}

// silence is the time since NetworkManager's last signal.
type silence struct {
	// over is closed once it has lasted for silenceAfter.
	over <-chan struct{}
	end  context.CancelFunc
}

// begin begins it anew. It goes on after ctx has ended, until the child has, too.
func (s *silence) begin(ctx context.Context) {
	if s.end != nil {
		s.end()
	}
	lasts, end := context.WithTimeout(context.WithoutCancel(ctx), silenceAfter)
	s.over, s.end = lasts.Done(), end
}

// waiting knows whether nmstate waits for what will not happen: that NetworkManager
// activates what it leaves alone. While profiles are still being added, it may not have
// asked for the activation yet.
type waiting struct {
	looked bool
	// profiles is how many there were at the last look.
	profiles int
}

// inVain is the error once nothing has happened since the last look.
func (w *waiting) inVain(names []string, all objects) error {
	before := *w
	*w = waiting{looked: true}
	for path := range all {
		if _, is := all[path][connectionName]; is {
			w.profiles++
		}
	}
	devices := all.devices()
	if *w != before || slices.ContainsFunc(names, func(name string) bool { return devices[name].activating() }) {
		return nil
	}
	return leftAlone(names, devices, known.stillUnmanaged)
}

func (k known) unmanaged() bool { return k.State == profiles.Unmanaged }

// stillUnmanaged tells a device that is unmanaged although its activation was asked for,
// unless NetworkManager says that something else than its configuration is why.
func (k known) stillUnmanaged() bool {
	return k.unmanaged() && (k.reason == reasonUserSettings || k.reason == 0)
}

func (k known) activating() bool { return k.State > profiles.Disconnected && k.State < profiles.Active }

// endInVain ends an apply that waits in vain, and takes back what there is of it.
func (t *trial) endInVain(ctx context.Context, under underCheckpoint) error {
	all, err := t.manager.objects(ctx)
	if err != nil || t.checkpoint == "" {
		return nil // The next look asks again; before the checkpoint nmstate only reads.
	}
	if err = t.waits.inVain(toActivate(under.desired), all); err == nil {
		return nil
	}
	under.child.kill()
	<-under.child.ended
	// Whoever called looks for the checkpoint, and takes back what this did not.
	_ = t.manager.rollback(context.WithoutCancel(ctx), t.checkpoint)
	return err
}
