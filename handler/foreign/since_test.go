package foreign

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsToBeThereAfterARollback(t *testing.T) {
	pods := func(n *node) *node { return n.via("10.244.1.0/24", "eth1", "203.0.113.2") }
	for name, c := range map[string]struct {
		change      string
		before, now func(*node) *node
		kept        bool
		want        []string
	}{
		"what was there before": {change: mtuOfEth1, before: pods, now: pods, kept: true, want: []string{"route 10.244.1.0/24 via 203.0.113.2 dev eth1 proto boot"}},
		"what the change cost and could not be put back": {
			change: mtuOfEth1, before: pods, want: []string{"route 10.244.1.0/24 via 203.0.113.2 dev eth1 proto boot"},
		},
		"not what its owner took away once all was there": {change: mtuOfEth1, before: pods, kept: true},
		"what its owner put in its place": {
			change: mtuOfEth1, before: pods, kept: true,
			now:  func(n *node) *node { return n.via("10.244.1.0/24", "eth0", "192.0.2.1") },
			want: []string{"route 10.244.1.0/24 via 192.0.2.1 dev eth0 proto boot"},
		},
		"what somebody added meanwhile": {
			change: mtuOfEth1, kept: true,
			now: func(n *node) *node {
				n.Links = append(n.Links, Link{Name: "pod2", Index: 20, Kind: kindVeth, Up: true, Carrier: true})
				return n.via("10.244.9.0/24", "pod2", "169.254.1.1").address("eth0", "192.0.2.200/32", byHand)
			},
			want: []string{"address 192.0.2.200/32 dev eth0", "route 10.244.9.0/24 via 169.254.1.1 dev pod2 proto boot"},
		},
		"not what the change made": {
			change: ipv4OfEth1, kept: true,
			now: func(n *node) *node {
				return n.address("eth1", "198.51.100.5/24", byNM).
					route(routeSpec{to: "10.1.0.0/16", ways: []way{{"eth1", "198.51.100.1"}}, protocol: protocolStatic})
			},
		},
		"a route that followed its address is where it was": {
			change: eth1InBr2, before: pods, kept: true,
			now: func(n *node) *node {
				n.Links = append(n.Links, Link{Name: "br2", Index: 9, Kind: kindBridge, Up: true})
				n.change("eth1", func(l *Link) { l.Master = 9 })
				return n.via("10.244.1.0/24", "br2", "203.0.113.2")
			},
			want: []string{"route 10.244.1.0/24 via 203.0.113.2 dev eth1 proto boot"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, now := aNode(t), aNode(t)
			if c.before != nil {
				before = c.before(before)
			}
			if c.now != nil {
				now = c.now(now)
			}
			named := NamedBy(document(t, c.change))
			since := Since(before.Snapshot, now.Snapshot, named, c.kept)
			var got []string
			for _, loss := range Lost(since, Snapshot{Links: since.Links}, named.Back()) {
				got = append(got, loss.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTooManyRoutesAreTheRoutingDaemonsOwn(t *testing.T) {
	n := aNode(t).via("10.244.1.0/24", "eth1", "203.0.113.2")
	n.route(routeSpec{to: "10.0.0.0/8", protocol: 186})
	for range MaxRoutes {
		n.Routes = append(n.Routes, n.Routes[1])
	}
	bounded, left := n.Bounded()
	if len(bounded.Routes) != 1 || left != MaxRoutes+1 {
		t.Errorf("%d routes are kept, %d left out", len(bounded.Routes), left)
	}
	if all, left := bounded.Bounded(); len(all.Routes) != 1 || left != 0 {
		t.Errorf("of one route %d are kept, %d left out", len(all.Routes), left)
	}
}
