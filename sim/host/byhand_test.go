package host_test

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/sim/host"
)

func TestNetworkManagerMendsLinksAndPortsAndNothingElse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		meddle func(*host.Host)
		mended bool
	}{
		"a bridge removed by hand":    {func(h *host.Host) { h.RemoveLink("br1") }, true},
		"a port removed by hand":      {func(h *host.Host) { h.SetController("eth0", "") }, true},
		"an address removed by hand":  {func(h *host.Host) { h.RemoveAddress("br1", netip.MustParsePrefix("192.0.2.11/24")) }, false},
		"an address added by hand":    {func(h *host.Host) { h.AddAddress("br1", netip.MustParsePrefix("192.0.2.99/24")) }, false},
		"an MTU set by hand":          {func(h *host.Host) { h.SetMTU("eth0", 1300) }, false},
		"a route removed by hand":     {func(h *host.Host) { h.RemoveRoute(netip.MustParsePrefix("0.0.0.0/0")) }, false},
		"a link that somebody added":  {func(h *host.Host) { _ = h.AddLink(host.Link{Name: "dummy9", Type: "dummy"}) }, false},
		"a NIC that was unplugged":    {func(h *host.Host) { h.Unplug("eth1") }, false},
		"a NIC that is switched off":  {func(h *host.Host) { h.SetUp("eth0", false) }, false},
		"the same MTU as it has":      {func(h *host.Host) { h.SetMTU("eth0", 1500) }, true},
		"a NIC that is not there yet": {func(h *host.Host) { h.Plug(host.NIC{Name: "eth9"}) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, labNode())
			if err := n.apply(t, desired(t, bridgeOnEth0)); err != nil {
				t.Fatal(err)
			}
			before := n.host.Kernel()
			test.meddle(n.host)
			n.run(t, time.Second)
			if diff := cmp.Diff(before, n.host.Kernel()); (diff == "") != test.mended {
				t.Errorf("mended: %t, want %t:\n%s", diff == "", test.mended, diff)
			}
		})
	}
}

func TestANICIsLetGoByHandWhereItHurtsNobody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		applied string
		named   []string
		want    string
	}{
		"nothing hangs on it":           {`{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":1400}]}`, []string{"eth1"}, "eth1"},
		"it is nobody's":                {`{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":1400}]}`, nil, ""},
		"it leads to the default route": {`{"interfaces":[{"name":"eth0","type":"ethernet","state":"up","mtu":1400}]}`, []string{"eth0"}, ""},
		"it is a port":                  {bridgeOnEth0, []string{"eth0"}, ""},
		"something stands on it":        {`{"interfaces":[{"name":"v9","type":"vlan","state":"up","vlan":{"base-iface":"eth1","id":9}},{"name":"eth1","type":"ethernet","state":"up"}]}`, []string{"eth1"}, ""},
		"it is to be down":              {`{"interfaces":[{"name":"eth1","type":"ethernet","state":"down"}]}`, []string{"eth1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, labNode())
			if err := n.apply(t, desired(t, c.applied)); err != nil {
				t.Fatal(err)
			}
			before := n.host.Stays()
			said := n.host.Disconnect(rand.New(rand.NewPCG(1, 1)), c.named...)
			gone := slices.DeleteFunc(n.host.Stays(), func(name string) bool { return slices.Contains(before, name) })
			if got := strings.Join(gone, " "); got != c.want || (said == "") != (c.want == "") {
				t.Errorf("let go: %q (%q), want %q", got, said, c.want)
			}
			if l := n.host.Link("eth1"); c.want != "" && !l.Up {
				t.Error("its link is down")
			}
		})
	}
}

func TestTheWatcherIsToldOfABurstTwiceAndOfNetworkManagerAtOnce(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	var told []string
	n.host.OnChange = func(k host.Kind) {
		told = append(told, n.world.Elapsed().String()+" "+map[host.Kind]string{
			host.NetworkChanged: "network", host.NetworkManagerGone: "gone", host.NetworkManagerBack: "back",
		}[k])
	}
	for mtu := range 5 {
		n.world.After(time.Second+time.Duration(mtu)*10*time.Millisecond, func() { n.host.SetMTU("eth1", 1300+mtu) })
	}
	n.world.After(10*time.Second, n.host.StopNetworkManager)
	n.world.After(11*time.Second, n.host.StartNetworkManager)
	n.run(t, time.Minute)
	want := []string{"1s network", "1.2s network", "10s gone", "10s network", "11s back", "11s network"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

func TestCheckpointsAreTold(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	var told []string
	n.host.OnCheckpoint = func(e host.CheckpointEvent) { told = append(told, string(e.Kind)+" "+e.Owner+" "+e.By) }
	change := desired(t, "interfaces: [{name: eth1, type: ethernet, state: up, mtu: 1400}]")
	if err := n.apply(t, change); err != nil {
		t.Fatal(err)
	}
	b := n.backend(t)
	for range 3 {
		if _, _, err := b.Apply(t.Context(), change, time.Minute, nil); err != nil {
			t.Fatal(err)
		}
		switch {
		case len(told) < 8:
			n.run(t, 2*time.Minute)
		case len(told) < 10:
			if err := b.Rollback(t.Context(), n.host.Checkpoints()[0].Checkpoint); err != nil {
				t.Fatal(err)
			}
		default:
			n.host.RestartNetworkManager(time.Second)
			n.run(t, time.Minute)
		}
	}
	n.host.ForeignCheckpoint(time.Minute)
	n.host.EndForeignCheckpoints()
	want := []string{
		"made handler ", "applied handler handler", "committed handler handler",
		"made handler ", "applied handler handler", "expired handler ",
		"made handler ", "applied handler handler", "rolled back handler handler",
		"made handler ", "applied handler handler", "lost handler ",
		"made  ", "committed  ",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

func TestDriftSaysWhatItChanges(t *testing.T) {
	t.Parallel()
	n := newNode(t, labNode())
	if err := n.apply(t, desired(t, "interfaces: [{name: eth1, type: ethernet, state: up, ipv4: {enabled: true, address: [{ip: 10.0.0.1, prefix-length: 8}]}}]")); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	kinds := map[string]bool{}
	for range 50 {
		before := n.host.Kernel()
		said := n.host.Drift(r)
		if said == "" || n.host.Kernel() == before && !strings.Contains(said, "added") {
			t.Errorf("%q changed nothing", said)
		}
		kinds[strings.Fields(said)[0]+" "+said[strings.LastIndex(said, " by hand")-7:]] = true
	}
	if len(n.host.Link("eth0").Addresses) < 2 {
		t.Error("it cut the host off")
	}
}

// TestASeedGivesTheSameHost: a host's choices are drawn, and the same each time.
func TestASeedGivesTheSameHost(t *testing.T) {
	t.Parallel()
	run := func() (string, uint64) {
		n := newNode(t, labNode())
		for _, document := range []string{bridgeOnEth0, "interfaces: [{name: veth9, type: veth, state: up, veth: {peer: veth9p}}, {name: veth9p, type: veth, state: up, veth: {peer: veth9}}]"} {
			if err := n.apply(t, desired(t, document)); err != nil {
				t.Fatal(err)
			}
		}
		n.host.Reboot(time.Minute)
		n.run(t, time.Hour)
		return n.host.Kernel() + string(n.host.Show().JSON()), n.world.Hash()
	}
	first, hash := run()
	second, again := run()
	if first != second || hash != again {
		t.Error(cmp.Diff(first, second))
	}
}
