package host_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// pods has what a CNI, a routing daemon and a person put on a node.
func pods(t *testing.T, h *host.Host, nic string) {
	t.Helper()
	for _, prefix := range []string{"203.0.113.5/24", "203.0.113.6/32", "2001:db8:1::5/64"} {
		h.AddAddress(nic, netip.MustParsePrefix(prefix))
	}
	gateway := netip.MustParseAddr("203.0.113.2")
	for _, r := range []host.Route{
		{To: netip.MustParsePrefix("10.244.1.0/24"), Via: gateway, Dev: nic, Protocol: host.Boot},
		{To: netip.MustParsePrefix("10.244.2.0/24"), Via: gateway, Dev: nic, Protocol: host.Bird, Metric: 32},
		{To: netip.MustParsePrefix("10.244.5.0/24"), Via: gateway, Dev: nic, Protocol: host.Boot, Table: 100},
		{To: netip.MustParsePrefix("fd00:244::/64"), Via: netip.MustParseAddr("2001:db8:1::2"), Dev: nic, Protocol: host.Boot, Metric: 1024},
	} {
		if err := h.AddRoute(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.AddLink(host.Link{Name: "pod1", Type: "veth", Foreign: true, Up: true, MTU: 1450}); err != nil {
		t.Fatal(err)
	}
}

func (n *node) note(t *testing.T) (s foreign.Snapshot) {
	t.Helper()
	var err error
	n.call(t, func() { s, err = n.host.Keeper(n.process).Note(t.Context()) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// putBack puts back all that is lost, as the agent does.
func (n *node) putBack(t *testing.T, before foreign.Snapshot, named foreign.Named) (refused []string) {
	t.Helper()
	for range 3 {
		losses := foreign.Lost(before, n.note(t), named)
		refused = nil
		for _, loss := range losses {
			var err error
			n.call(t, func() { err = n.host.Keeper(n.process).PutBack(t.Context(), loss) })
			if err != nil {
				refused = append(refused, loss.String()+": "+err.Error())
			}
		}
		n.run(t, time.Second)
	}
	return refused
}

// others are the kernel's lines about what nobody's policy names.
func others(kernel string) []string {
	var found []string
	for line := range strings.Lines(kernel) {
		if strings.Contains(line, "10.24") || strings.Contains(line, "fd00") || strings.Contains(line, "pod1") || strings.Contains(line, "203.0.113.6") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

func TestWhatIsDroppedInPassingIsNotedAndTakenBack(t *testing.T) {
	t.Parallel()
	for name, nic := range map[string]string{"a NIC that was only observed": "eth1", "a NIC with a profile": "eth0"} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, labNode())
			pods(t, n.host, nic)
			was, before := n.host.Kernel(), n.note(t)
			change := desired(t, "interfaces: [{name: "+nic+", type: ethernet, state: up, mtu: 1400}]")
			made, _, err := n.backend(t).Apply(t.Context(), change, time.Minute, nil)
			if err != nil {
				t.Fatal(err)
			}
			if cmp.Equal(others(was), others(n.host.Kernel())) {
				t.Error("NetworkManager dropped nothing")
			}
			named := foreign.NamedBy(change)
			if refused := n.putBack(t, before, named); len(refused) > 0 {
				t.Error(refused)
			}
			if diff := cmp.Diff(others(was), others(n.host.Kernel())); diff != "" {
				t.Errorf("not put back:\n%s", diff)
			}
			if err := n.backend(t).Rollback(t.Context(), made); err != nil {
				t.Fatal(err)
			}
			n.run(t, time.Second)
			n.putBack(t, before, named.Back())
			if diff := cmp.Diff(others(was), others(n.host.Kernel())); diff != "" {
				t.Errorf("not put back after the rollback:\n%s", diff)
			}
			if lost := foreign.Lost(before, n.note(t), named.Back()); len(lost) > 0 {
				t.Errorf("still lost: %v", lost)
			}
		})
	}
}

func TestTheKernelRefusesARouteWhoseGatewayIsOutOfReach(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	pods(t, n.host, "eth1")
	before := n.note(t)
	change := desired(t, "interfaces: [{name: eth1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.5, prefix-length: 24}]}}]")
	if err := n.apply(t, change); err != nil {
		t.Fatal(err)
	}
	refused := n.putBack(t, before, foreign.NamedBy(change))
	if len(refused) == 0 || !strings.Contains(strings.Join(refused, "\n"), "route 10.244.1.0/24 via 203.0.113.2 dev eth1 proto boot: network is unreachable") {
		t.Error(refused)
	}
}

func TestARollbackOfAnObservedNICIsNoDifferenceOnceItIsPutBack(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	pods(t, n.host, "eth1")
	shown, before := n.host.Show(), n.note(t)
	change := desired(t, "interfaces: [{name: eth1, type: ethernet, state: up, mtu: 1400}]")
	made, _, err := n.backend(t).Apply(t.Context(), change, time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.backend(t).Rollback(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	n.run(t, time.Second)
	n.putBack(t, before, foreign.NamedBy(change).Back())
	if diff := state.Diff(shown, n.host.Show()); len(diff) > 0 {
		t.Error(diff)
	}
}

func TestTheJournalSurvivesACrash(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	j := n.host.Journal(n.process)
	n.call(t, func() {
		if entry, err := j.Load(); entry != nil || err != nil {
			t.Errorf("an empty one: %v, %v", entry, err)
		}
		if err := j.Save(journal.Entry{BootID: "b", Transaction: txn.State{Phase: txn.Applying}}); err != nil {
			t.Error(err)
		}
	})
	n.process.Kill()
	n.process = n.world.Process("handler")
	j = n.host.Journal(n.process)
	n.call(t, func() {
		entry, err := j.Load()
		if err != nil || entry == nil || entry.Transaction.Phase != txn.Applying {
			t.Errorf("after the crash: %v, %v", entry, err)
		}
		if err := j.Close(journal.Record{Corrections: idle.Corrections{"x": {Times: 1}}}); err != nil {
			t.Error(err)
		}
		entry, err = j.Load()
		record, recordErr := j.Record()
		if entry != nil || err != nil || recordErr != nil || record.Corrections["x"].Times != 1 {
			t.Errorf("closed: %v, %v, %v, %v", entry, err, record, recordErr)
		}
	})
	if n.host.JournalOpen() || n.host.Entry() != nil || n.host.Record().Corrections["x"].Times != 1 {
		t.Error("the oracle sees it otherwise")
	}
}

func TestACrashBetweenRecordAndCloseLeavesBoth(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	n.call(t, func() {
		if err := n.host.Journal(n.process).Save(journal.Entry{BootID: "b"}); err != nil {
			t.Error(err)
		}
	})
	n.world.Interpose = func(c world.Call) world.Verdict { return world.Verdict{CrashAfter: c.Verb == "record"} }
	n.process.Go("close", func() { _ = n.host.Journal(n.process).Close(journal.Record{Committed: &journal.Committed{Hash: "h"}}) })
	n.run(t, time.Second)
	if !n.host.JournalOpen() || n.host.Record().Committed == nil {
		t.Error("one of them is missing")
	}
}

func TestAFullDiskKeepsTheOlderEntry(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	j := n.host.Journal(n.process)
	n.call(t, func() {
		if err := j.Save(journal.Entry{BootID: "old"}); err != nil {
			t.Error(err)
		}
		full := errors.New("no space left on device")
		n.host.Faults.Disk = func() error { return full }
		if err := j.Save(journal.Entry{BootID: "new"}); !errors.Is(err, full) {
			t.Errorf("Save: %v", err)
		}
	})
	if n.host.Entry().BootID != "old" {
		t.Error("the older entry is gone")
	}
}
