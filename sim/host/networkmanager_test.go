package host_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
)

func desired(t *testing.T, document string) state.State {
	t.Helper()
	return parsed(t, []byte(document))
}

const bridgeOnEth0 = `
interfaces:
- name: br1
  type: linux-bridge
  state: up
  bridge: {options: {stp: {enabled: false}}, port: [{name: eth0}]}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.11, prefix-length: 24}]}
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-interface: br1, next-hop-address: 192.0.2.1}
`

func (n *node) backend(t *testing.T) blocking { return blocking{n, t, n.host.Backend(n.process)} }

func (n *node) run(t *testing.T, d time.Duration) {
	t.Helper()
	if err := n.world.RunFor(d); err != nil {
		t.Fatal(err)
	}
}

func TestARestartOfNetworkManagerLosesTheCheckpointAndKeepsTheChange(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	b := n.backend(t)
	first, err := b.Instance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	made, _, err := b.Apply(t.Context(), desired(t, bridgeOnEth0), time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	after := n.host.Kernel()
	n.host.StopNetworkManager()
	if _, err := b.Pending(t.Context()); !errors.Is(err, backend.ErrUnavailable) {
		t.Errorf("Pending without NetworkManager: %v", err)
	}
	n.host.StartNetworkManager()
	n.run(t, 2*time.Minute)
	if diff := cmp.Diff(after, n.host.Kernel()); diff != "" {
		t.Errorf("the kernel changed:\n%s", diff)
	}
	if err := b.Commit(t.Context(), made); !errors.Is(err, backend.ErrGone) {
		t.Errorf("Commit: %v", err)
	}
	if second, err := b.Instance(t.Context()); err != nil || second == first {
		t.Errorf("instance %q, then %q: %v", first, second, err)
	}
}

func TestARestartInMidApplyBringsUpWhatIsInRunAndLeavesWhatIsActive(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	n.host.Faults.Step = func(done int) (time.Duration, error) {
		if done == 1 {
			n.host.RestartNetworkManager(140 * time.Millisecond)
		}
		return 0, nil
	}
	_, _, err := n.backend(t).Apply(t.Context(), desired(t, bridgeOnEth0), time.Minute, nil)
	for _, nothingChanged := range []error{backend.ErrInvalid, backend.ErrBusy, backend.ErrUnavailable} {
		if err == nil || errors.Is(err, nothingChanged) {
			t.Errorf("Apply: %v", err)
		}
	}
	n.run(t, time.Minute)
	if l := n.host.Link("eth0"); l.Controller != "" || !n.host.Link("br1").HasAddress(netip.MustParseAddr("192.0.2.11")) {
		t.Errorf("half of it is there:\n%s", n.host.Kernel())
	}
}

func TestARebootActivatesWhatIsOnDisk(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	boot := n.host.Boot(n.process)
	id, _ := boot.ID()
	before := n.host.Kernel()
	n.host.Reboot(time.Minute)
	if n.host.On() || n.host.Carrier("eth0") {
		t.Error("it is off and has a carrier")
	}
	n.run(t, 2*time.Minute)
	if diff := cmp.Diff(before, n.host.Kernel()); diff != "" {
		t.Errorf("it came up otherwise:\n%s", diff)
	}
	if err := n.apply(t, desired(t, bridgeOnEth0)); err != nil {
		t.Fatal(err)
	}
	mac := n.host.Link("br1").MAC
	bridged := n.host.Kernel()
	n.host.Reboot(time.Minute)
	n.run(t, 2*time.Minute)
	if diff := cmp.Diff(bridged, n.host.Kernel()); diff != "" || n.host.Link("br1").MAC != mac {
		t.Errorf("it came up otherwise:\n%s", diff)
	}
	if now, _ := boot.ID(); now == id {
		t.Error("the boot id is the same")
	}
	if elapsed, _ := boot.Elapsed(); elapsed > 2*time.Minute {
		t.Errorf("booted %s ago", elapsed)
	}
}

func TestAHungNetworkManagerAnswersLateOrNever(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	b := n.backend(t)
	n.host.HangNetworkManager()
	if _, err := b.Pending(t.Context()); !errors.Is(err, backend.ErrUnavailable) {
		t.Errorf("Pending: %v", err)
	}
	if elapsed := n.world.Elapsed(); elapsed != 10*time.Second {
		t.Errorf("answered after %s", elapsed)
	}
	n.world.After(time.Minute, n.host.ResumeNetworkManager)
	if _, err := b.Show(t.Context()); err != nil {
		t.Errorf("Show: %v", err)
	}
	if elapsed := n.world.Elapsed(); elapsed != 70*time.Second {
		t.Errorf("shown after %s", elapsed)
	}
}

func TestACheckpointThatEndsDuringAHangUndoesItselfAfterwards(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	before := n.host.Kernel()
	if _, _, err := n.backend(t).Apply(t.Context(), desired(t, bridgeOnEth0), time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	n.host.HangNetworkManager()
	n.run(t, 2*time.Minute)
	if len(n.host.Checkpoints()) != 1 {
		t.Fatal("it ended while NetworkManager hung")
	}
	n.host.ResumeNetworkManager()
	n.run(t, time.Second)
	if diff := cmp.Diff(before, n.host.Kernel()); diff != "" || len(n.host.Checkpoints()) != 0 {
		t.Errorf("not as before:\n%s", diff)
	}
}

func TestALinkThatTheKernelCannotMakeFailsLateAndIsTakenBack(t *testing.T) {
	t.Parallel()
	options := labNode()
	options.Lacks = []string{"dummy"}
	n := newNode(t, options)
	before := n.host.Kernel()
	err := n.apply(t, desired(t, "interfaces: [{name: dummy0, type: dummy, state: up}, {name: eth1, type: ethernet, state: up, mtu: 1400}]"))
	if err == nil || !strings.Contains(err.Error(), "operation not supported") || n.world.Elapsed() < 2*time.Minute {
		t.Errorf("after %s: %v", n.world.Elapsed(), err)
	}
	n.run(t, time.Second)
	if diff := cmp.Diff(before, n.host.Kernel()); diff != "" {
		t.Errorf("not as before:\n%s", diff)
	}
}

func TestAFailedApplyThatIsNotTakenBackStaysInPart(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	before := n.host.Kernel()
	n.host.Faults.Step = func(done int) (time.Duration, error) {
		if done == 1 {
			return 0, errors.New("gave up")
		}
		return 0, nil
	}
	n.host.Faults.KeepFailed = func() bool { return true }
	_, _, err := n.backend(t).Apply(t.Context(), desired(t, bridgeOnEth0), time.Minute, nil)
	if err == nil || n.host.Link("br1") == nil || n.host.Link("eth0").Controller != "" {
		t.Errorf("%v\n%s", err, n.host.Kernel())
	}
	n.run(t, 2*time.Minute)
	if diff := cmp.Diff(before, n.host.Kernel()); diff != "" {
		t.Errorf("the checkpoint has not undone it:\n%s", diff)
	}
}

func TestAKilledHandlerLeavesItsCheckpoint(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	before := n.host.Kernel()
	n.process.Go("apply", func() {
		_, _, _ = n.host.Backend(n.process).Apply(context.Background(), desired(t, bridgeOnEth0), time.Minute, func(backend.Checkpoint) { n.process.Kill() })
	})
	n.run(t, 30*time.Second)
	if open := n.host.Checkpoints(); len(open) != 1 || open[0].Owner != "handler" {
		t.Fatal(open)
	}
	n.run(t, time.Minute)
	if diff := cmp.Diff(before, n.host.Kernel()); diff != "" {
		t.Errorf("not as before:\n%s", diff)
	}
}

func TestALostCarrierTakesTheAddressesAfterAWhile(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	before := n.host.Kernel()
	n.host.SetCable("eth0", false)
	n.run(t, 3*time.Second)
	if diff := cmp.Diff(before, n.host.Kernel()); diff != "" {
		t.Errorf("at once:\n%s", diff)
	}
	n.run(t, 3*time.Second)
	if len(n.host.Link("eth0").Addresses) > 0 || len(n.host.Routes()) > 0 {
		t.Errorf("still there:\n%s", n.host.Kernel())
	}
	n.host.SetCable("eth0", true)
	n.run(t, time.Second)
	if diff := cmp.Diff(before, n.host.Kernel()); diff != "" {
		t.Errorf("not back:\n%s", diff)
	}
}

func TestADuplicateAddressFailsTheApply(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	n.host.Claimed = func(_ string, address netip.Addr) bool { return address == netip.MustParseAddr("198.51.100.7") }
	err := n.apply(t, desired(t, "interfaces: [{name: eth1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.7, prefix-length: 24}]}}]"))
	if err == nil || !strings.Contains(err.Error(), "does not have what was applied") {
		t.Error(err)
	}
}

// server leases one address after a time, or nothing.
type server struct {
	gone  bool
	lease host.Lease
	asked int
}

func (s *server) Lease(*host.Host, string, string) (host.Lease, time.Duration, bool) {
	s.asked++
	return s.lease, time.Second, !s.gone
}

func TestALeaseComesLateAndEnds(t *testing.T) {
	t.Parallel()
	s := &server{gone: true, lease: host.Lease{
		Address: netip.MustParsePrefix("192.0.2.160/24"), Gateway: netip.MustParseAddr("192.0.2.1"), Servers: []string{"192.0.2.53"}, For: time.Hour,
	}}
	n := newNode(t, host.Options{NICs: []host.NIC{{Name: "eth0", Profile: true, DHCP4: true}}, DHCP: s})
	has := func() bool { return n.host.Link("eth0").HasAddress(s.lease.Address.Addr()) }
	n.run(t, time.Minute)
	if has() {
		t.Fatal("leased by nobody")
	}
	s.gone = false
	n.host.AskDHCP()
	n.run(t, 2*time.Second)
	if !has() || len(n.host.NameServers()) != 1 || len(n.host.Routes()) != 2 {
		t.Fatal(n.host.Kernel(), n.host.NameServers())
	}
	n.run(t, 2*time.Hour)
	if !has() || s.asked > 10 {
		t.Errorf("not renewed, or too often: %d", s.asked)
	}
	s.gone = true
	n.run(t, 2*time.Hour)
	if has() || len(n.host.NameServers()) != 0 {
		t.Error("the lease never ended")
	}
}

// The kernel has the device, /run the profile, and the next NetworkManager takes
// the one up for the other no more (lab: kill -9 in mid-apply).
func TestANetworkManagerThatDiesBeforeItUsesADeviceLeavesItToNobody(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	b := n.backend(t)
	n.host.Faults.Die = func() (bool, time.Duration) { return true, time.Second }
	if _, _, err := b.Apply(t.Context(), desired(t, bridgeOnEth0), time.Minute, nil); err == nil {
		t.Fatal("the apply succeeded")
	}
	n.run(t, time.Minute)
	is, there := n.host.Show().Interface("br1")
	if !there || is.State != "ignore" {
		t.Errorf("the device is there: %t, %q", there, is.State)
	}
	now, err := b.Profiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range now.Devices {
		if d.Name == "br1" && (d.Profile != "" || !d.Software) {
			t.Errorf("%+v", d)
		}
	}
	if _, is := now.Files["/run/NetworkManager/system-connections/br1.nmconnection"]; !is {
		t.Errorf("its profile is not in /run: %d files", len(now.Files))
	}
}
