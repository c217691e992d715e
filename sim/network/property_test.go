package network_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/sim/network"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// nudge is one random change, of which some cut and some mend.
func nudge(t *testing.T, r *rand.Rand, c *network.Cluster, stations []*station) string {
	i := r.IntN(len(stations))
	s, nic := stations[i], fmt.Sprint("eth", r.IntN(2))
	yes := r.IntN(2) == 0
	switch r.IntN(9) {
	case 0:
		c.SetCable(s, nic, yes)
		return fmt.Sprint(s.name, " ", nic, " cable ", yes)
	case 1:
		s.link(t, nic, func(l *network.Link) { l.Up = yes })
		return fmt.Sprint(s.name, " ", nic, " up ", yes)
	case 2:
		to := prefix(fmt.Sprintf("192.0.2.%d/24", 1+r.IntN(20)))
		s.link(t, "eth0", func(l *network.Link) { l.Addresses = []network.Address{{Prefix: to}} })
		return fmt.Sprint(s.name, " has ", to)
	case 3:
		gateway := addr(fmt.Sprintf("192.0.2.%d", 1+r.IntN(3)))
		s.edit(func(k *network.Stack) { k.Routes = []network.Route{defaultVia(gateway, nic)} })
		return fmt.Sprint(s.name, " by ", gateway)
	case 4:
		c.Gateway.SetPower(yes)
		return fmt.Sprint("gateway on ", yes)
	case 5:
		c.Block(s.name, stations[r.IntN(len(stations))].name, yes)
		return fmt.Sprint(s.name, " blocked ", yes)
	case 6:
		c.Switch(network.LAN).SetPower(yes)
		return fmt.Sprint("switch on ", yes)
	case 7:
		original := installed(c.Nodes[i])
		s.edit(func(k *network.Stack) { *k = *original.stack })
		return s.name + " as installed"
	}
	to := c.Switch([]string{network.LAN, "other"}[r.IntN(2)])
	c.Plug(s, nic, to)
	return fmt.Sprint(s.name, " ", nic, " in ", to.Name())
}

func TestWhatIsRememberedIsWhatWouldBeFoundAnew(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // It has to repeat itself.
		topology := network.Nodes(4, 1)
		topology.API = addr("198.51.100.10")
		c, stations := fleet(world.New(seed), topology)
		c.AddSwitch("other")
		targets := []netip.Addr{topology.API, addr("192.0.2.1"), addr("192.0.2.12"), addr("192.0.2.13"), addr("2001:db8::12")}
		ask := func() (all []string) {
			for _, s := range stations {
				for _, to := range targets {
					all = append(all, fmt.Sprintf("%s to %s: %v", s.name, to, c.Reaches(s, to)))
				}
			}
			return all
		}
		var history []string
		for range 100 {
			history = append(history, nudge(t, r, c, stations))
			remembered := ask()
			network.Forget(c.Network)
			for i, anew := range ask() {
				if remembered[i] != anew {
					t.Fatalf("seed %d, after %q:\nremembered %s\nanew       %s", seed, history, remembered[i], anew)
				}
			}
		}
	}
}

func TestReachingIsMutual(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // It has to repeat itself.
		c, stations := fleet(world.New(seed), network.Nodes(4, 1))
		c.AddSwitch("other")
		var history []string
		for range 100 {
			history = append(history, nudge(t, r, c, stations))
			for _, a := range stations {
				for _, b := range stations {
					from, to := only(a), only(b)
					if !from.IsValid() || !to.IsValid() || from == to || a == b {
						continue
					}
					if there, back := c.Reaches(a, to), c.Reaches(b, from); (there == nil) != (back == nil) && !twice(stations, from, to) {
						t.Fatalf("seed %d, after %q: %s to %s: %v, but the other way: %v", seed, history, a.name, b.name, there, back)
					}
				}
			}
		}
	}
}

// only is the IPv4 address of a station's eth0.
func only(s *station) netip.Addr {
	for _, a := range s.stack.Links[0].Addresses {
		if a.Prefix.Addr().Is4() {
			return a.Prefix.Addr()
		}
	}
	return netip.Addr{}
}

// twice tells whether one of the addresses is not of one station only: then it is a
// matter of who asks whom who gets through.
func twice(stations []*station, addresses ...netip.Addr) bool {
	for _, a := range addresses {
		owners := 0
		if a == addr("192.0.2.1") {
			owners++
		}
		for _, s := range stations {
			if only(s) == a {
				owners++
			}
		}
		if owners != 1 {
			return true
		}
	}
	return false
}

func BenchmarkFiveThousandHosts(b *testing.B) {
	const hosts = 5000
	var c *network.Cluster
	var stations []*station
	api := addr("192.0.2.1")
	b.Run("what the network keeps of a host", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			_, stations = fleet(world.New(1), network.Nodes(hosts, 2)) // Their own share.
			c = nil
			before := heap()
			c = network.Build(world.New(1), network.Nodes(hosts, 2))
			for i, s := range stations {
				s.changed = nil
				c.Hook(c.Nodes[i], s)
				if err := c.Reaches(s, api); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(heap()-before)/hosts, "B/host")
		}
	})
	b.Run("an answer that is remembered", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			_ = c.Reaches(stations[i%hosts], api)
		}
	})
	b.Run("an answer after the host changed", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			for _, f := range stations[i%hosts].changed {
				f()
			}
			_ = c.Reaches(stations[i%hosts], api)
		}
	})
	b.Run("an answer after the whole network changed", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			c.Block("nobody", "anybody", i%2 == 0)
			_ = c.Reaches(stations[i%hosts], api)
		}
	})
}

func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
