package network_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/sim/fault"
	"github.com/nmstate/kubernetes-nmstate/sim/network"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

var _ fault.Network = network.Effects{}

// attempt is a probe of node1 that has one second, and how long it took.
func attempt(t *testing.T, w *world.World, c *network.Cluster, s *station, name string) (string, time.Duration) {
	t.Helper()
	p := w.Process(s.name)
	prober := c.Prober(p, s, network.ProberOptions{
		API: c.Nodes[0].API, Node: s.name, Ready: func(context.Context) (bool, error) { return false, nil },
	})
	var err error
	began, ended := w.Elapsed(), time.Duration(-1)
	p.Go("probe", func() {
		ctx, cancel := deadline.After(t.Context(), p.Clock(), time.Second)
		defer cancel()
		err = prober.Probe(ctx, name)
		ended = w.Elapsed()
	})
	if failed := w.RunFor(time.Minute); failed != nil || ended < 0 {
		t.Fatalf("the probe does not end: %v", failed)
	}
	p.Kill()
	return why(err), ended - began
}

func gatewayOff(_ *testing.T, c *network.Cluster, _, _ *station) { c.Gateway.SetPower(false) }

func service(name string, by func(s *network.Service)) change {
	return func(_ *testing.T, c *network.Cluster, _, _ *station) { by(c.Service(name)) }
}

func block(from, to string, on bool) change {
	return func(_ *testing.T, c *network.Cluster, _, _ *station) { c.Block(from, to, on) }
}

func stack(by func(k *network.Stack)) change {
	return func(_ *testing.T, _ *network.Cluster, node1, _ *station) { node1.edit(by) }
}

// The words are those of the live probes (handler/probe).
func TestAProbeSaysWhatTheLiveOneSays(t *testing.T) {
	tests := map[string]struct {
		change change
		probe  string
		want   string
		took   time.Duration
	}{
		"a gateway that answers":                {all(), "default-gateway", "", 0},
		"a gateway that is off":                 {gatewayOff, "default-gateway", "default-gateway: 192.0.2.1 did not answer a ping within 1s; 2001:db8::1 did not answer a ping within 1s", time.Second},
		"no gateway":                            {stack(func(k *network.Stack) { k.Routes = nil }), "default-gateway", "default-gateway: the main routing table has no default gateway", 0},
		"one of two gateways":                   {stack(func(k *network.Stack) { k.Routes[0].Gateway = addr("192.0.2.99") }), "default-gateway", "", 0},
		"a gateway that ignores pings":          {func(_ *testing.T, c *network.Cluster, _, _ *station) { c.Gateway.SetPing(false) }, "ping 192.0.2.1", "ping 192.0.2.1: no answer within 1s", time.Second},
		"a gateway that is cut for the node":    {block("node1", network.Pings+network.GatewayName, true), "ping 192.0.2.1", "ping 192.0.2.1: no answer within 1s", time.Second},
		"a gateway that is cut for another":     {block("node2", network.Pings+network.GatewayName, true), "ping 192.0.2.1", "", 0},
		"a gateway that is cut for pings":       {block(network.Everybody, network.Pings+network.GatewayName, true), "dns", "", 0},
		"the API server is cut for all":         {block(network.Everybody, network.APIServer, true), "api-server", "api-server: 192.0.2.1:6443 did not answer within 1s", time.Second},
		"a cut that is healed":                  {all(block(network.Everybody, network.DNS, true), block(network.Everybody, network.DNS, false)), "dns", "", 0},
		"a name server that resolves":           {all(), "dns", "", 0},
		"a name server that is silent":          {service("dns", func(s *network.Service) { s.State = network.Silent }), "dns", "dns: 192.0.2.1 did not answer for root-servers.net within 1s", time.Second},
		"a name server that has no way out":     {service("dns", func(s *network.Service) { s.Zone.Code = "SERVFAIL" }), "dns", "dns: 192.0.2.1: answered SERVFAIL for root-servers.net.", 0},
		"no name server":                        {stack(func(k *network.Stack) { k.NameServers = nil }), "dns", "dns: the host has no name server", 0},
		"a second name server resolves":         {stack(func(k *network.Stack) { k.NameServers = append(k.NameServers, addr("192.0.2.99")) }), "dns", "", 0},
		"a name that there is not":              {all(), "http http://nobody.lab.example/", "http http://nobody.lab.example/: 192.0.2.1: answered NXDOMAIN for nobody.lab.example.", 0},
		"a name server that lies":               {service("dns", func(s *network.Service) { s.Zone.Lie = addr("192.0.2.99") }), "tcp gateway.lab.example:7", "tcp gateway.lab.example:7: 192.0.2.99: no answer within 1s", time.Second},
		"the API server answers":                {all(), "api-server", "", 0},
		"nobody listens at the API server":      {service("api-server", func(s *network.Service) { s.State = network.Refuses }), "api-server", "api-server: 192.0.2.1:6443 cannot be reached: connection refused", 0},
		"the API server is silent":              {service("api-server", func(s *network.Service) { s.State = network.Silent }), "api-server", "api-server: 192.0.2.1:6443 did not answer within 1s", time.Second},
		"the API server is not ready":           {service("api-server", func(s *network.Service) { s.Status = "500 Internal Server Error" }), "api-server", "", 0},
		"a proxy stands in front of the server": {service("api-server", func(s *network.Service) { s.Status = "502 Bad Gateway" }), "api-server", `api-server: something in front of 192.0.2.1:6443 answered "502 Bad Gateway"`, 0},
		"replies of the API server are lost": {func(_ *testing.T, c *network.Cluster, _, _ *station) {
			network.Effects{Cluster: c}.Partition("node1", false, true)
		}, "api-server", "api-server: 192.0.2.1:6443 did not answer within 1s", time.Second},
		"the node has no address":              {onLink("eth0", func(l *network.Link) { l.Addresses = nil }), "ping 192.0.2.1", "ping 192.0.2.1: network is unreachable", 0},
		"a port that nobody listens at":        {all(), "tcp 192.0.2.1:81", "tcp 192.0.2.1:81: connection refused", 0},
		"a port of another node":               {all(), "tcp 192.0.2.12:22", "tcp 192.0.2.12:22: connection refused", 0},
		"a network that the gateway knows not": {all(), "tcp 203.0.113.5:22", "tcp 203.0.113.5:22: no route to host", 0},
		"a ping there, which hears no router":  {all(), "ping 203.0.113.5", "ping 203.0.113.5: no answer within 1s", time.Second},
		"a host that does not answer":          {all(), "ping 192.0.2.99", "ping 192.0.2.99: no answer within 1s", time.Second},
		"a page":                               {all(), "http http://192.0.2.1:8080/", "", 0},
		"a page that fails":                    {service("status", func(s *network.Service) { s.Status = "404 Not Found" }), "http http://192.0.2.1:8080/", `http http://192.0.2.1:8080/: answered "404 Not Found"`, 0},
		"a service that speaks no HTTP":        {all(), "http http://192.0.2.1:7/", "http http://192.0.2.1:7/: EOF", 0},
		"a node that is not ready":             {all(), "node-ready", "node-ready: node node1 is not ready", 0},
		"a probe that lies": {func(_ *testing.T, c *network.Cluster, _, _ *station) {
			network.Effects{Cluster: c}.Probes("node1", "lost")
		}, "dns", "dns: no answer, says a probe that lies", 0},
		"a probe that is slow": {func(_ *testing.T, c *network.Cluster, _, _ *station) {
			c.SetDeceit("node1", "dns", network.Deceit{Slow: 700 * time.Millisecond})
		}, "dns", "", 700 * time.Millisecond},
		"a gateway that comes back meanwhile": {func(t *testing.T, c *network.Cluster, _, _ *station) {
			c.Gateway.Flap(400*time.Millisecond, 400*time.Millisecond)
		},
			"ping 192.0.2.1", "", 500 * time.Millisecond},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := world.New(1)
			c, stations := fleet(w, network.Nodes(2, 1))
			test.change(t, c, stations[0], stations[1])
			got, took := attempt(t, w, c, stations[0], test.probe)
			if got != test.want || took != test.took {
				t.Errorf("got  %q after %s\nwant %q after %s", got, took, test.want, test.took)
			}
		})
	}
}

func TestAProbeThatFlapsFailsInEveryOtherPeriod(t *testing.T) {
	w := world.New(1)
	c, stations := fleet(w, network.Nodes(1, 0))
	c.SetDeceit("node1", "", network.Deceit{Flap: time.Minute})
	for i := range 4 {
		got, _ := attempt(t, w, c, stations[0], "dns") // Each takes a minute of the world.
		if failed := got != ""; failed != (i%2 == 1) {
			t.Errorf("minute %d: %q", i, got)
		}
	}
}

func TestALeaseComesLateOrNotAtAll(t *testing.T) {
	w := world.New(1)
	c, stations := fleet(w, network.Nodes(3, 0))
	effects := network.Effects{Cluster: c}
	ask := func(s *station) string {
		lease, takes, granted := c.Discover(s, "eth0")
		if !granted {
			return "nobody"
		}
		return fmt.Sprintf("%s by %s, late %t", lease.Address, lease.Gateway, takes >= 10*time.Second)
	}
	expect := func(s *station, want string) {
		t.Helper()
		if got := ask(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	expect(stations[0], "192.0.2.220/24 by 192.0.2.1, late false")
	expect(stations[1], "192.0.2.221/24 by 192.0.2.1, late false")
	expect(stations[0], "192.0.2.220/24 by 192.0.2.1, late false")
	effects.DHCP("late")
	expect(stations[0], "192.0.2.220/24 by 192.0.2.1, late true")
	effects.DHCP("gone")
	expect(stations[0], "nobody")
	effects.DHCP("")
	if err := w.RunFor(time.Minute); err != nil || stations[2].asked != 1 {
		t.Errorf("asked again %d times, %v", stations[2].asked, err)
	}
	c.Switch(network.LAN).DHCP()[0].Forget()
	expect(stations[1], "192.0.2.220/24 by 192.0.2.1, late false")
	c.SetCable(stations[1], "eth0", false)
	expect(stations[1], "nobody")
}

func TestWhatANICHearsOfItsSwitch(t *testing.T) {
	c, stations := fleet(world.New(1), network.Nodes(1, 1))
	got := fmt.Sprint(c.Neighbours(stations[0], "eth0"))
	if want := "[{02:00:00:00:00:01 node1.eth0 tor1 [100 200]}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c.SetCable(stations[0], "eth0", false)
	if found := c.Neighbours(stations[0], "eth0"); len(found) > 0 {
		t.Error(found)
	}
	c.SetCable(stations[0], "eth0", true)
	if who := c.Claimed(stations[0], "eth0", addr("192.0.2.1")); who != "gateway" {
		t.Errorf("192.0.2.1 is claimed by %q", who)
	}
	if who := c.Claimed(stations[0], "eth0", addr("192.0.2.11")); who != "" {
		t.Errorf("its own address is claimed by %q", who)
	}
}
