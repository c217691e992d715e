package state_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// model is a node as nmstate treats it, as far as undoing cares: what a
// document does not name stays, lists of addresses and ports are exact, routes
// are added, a port has no addresses, and what has no addresses no routes.
type model struct {
	links  map[string]*link
	routes []route
	dns    []string
}

type link struct {
	Type       string
	MTU        int
	On         bool
	Addresses  []string
	Ports      []string // Of a bridge.
	Controller string
}

type route struct{ Destination, Device string }

func (m *model) show() state.State {
	var interfaces []any
	for _, name := range slices.Sorted(maps.Keys(m.links)) {
		l := m.links[name]
		tree := map[string]any{"name": name, "type": l.Type, "state": "up", "mtu": number(l.MTU), "ipv4": ip(l.On, l.Addresses)}
		if l.Type == "linux-bridge" {
			tree["bridge"] = map[string]any{"port": named(l.Ports)}
		}
		if l.Controller != "" {
			tree["controller"] = l.Controller
		}
		interfaces = append(interfaces, tree)
	}
	var routes []any
	for _, r := range m.routes {
		routes = append(routes, map[string]any{"destination": r.Destination, "next-hop-interface": r.Device})
	}
	return state.FromTree(map[string]any{
		"interfaces": interfaces, "routes": map[string]any{"config": routes},
		"dns-resolver": map[string]any{"config": map[string]any{"server": listed(m.dns)}},
	})
}

func number(n int) json.Number { return json.Number(strconv.Itoa(n)) }

func ip(on bool, addresses []string) map[string]any {
	if !on {
		return map[string]any{"enabled": false}
	}
	list := []any{}
	for _, one := range addresses {
		list = append(list, map[string]any{"ip": one, "prefix-length": number(24)})
	}
	return map[string]any{"enabled": true, "dhcp": false, "address": list}
}

func named(names []string) []any {
	list := []any{}
	for _, name := range names {
		list = append(list, map[string]any{"name": name})
	}
	return list
}

func listed(values []string) []any {
	list := []any{}
	for _, value := range values {
		list = append(list, value)
	}
	return list
}

// same is the node in a form in which order does not matter.
func (m *model) same() string {
	c := m.copied()
	for _, l := range c.links {
		slices.Sort(l.Addresses)
		slices.Sort(l.Ports)
	}
	slices.SortFunc(c.routes, func(a, b route) int {
		return slices.Compare([]string{a.Destination, a.Device}, []string{b.Destination, b.Device})
	})
	raw, err := json.MarshalIndent(map[string]any{"links": c.links, "routes": c.routes, "dns": c.dns}, "", " ")
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func (m *model) copied() *model {
	c := &model{links: map[string]*link{}, routes: append([]route{}, m.routes...), dns: append([]string{}, m.dns...)}
	for name, l := range m.links {
		same := *l
		same.Addresses, same.Ports = append([]string{}, l.Addresses...), append([]string{}, l.Ports...)
		c.links[name] = &same
	}
	return c
}

// apply is one transaction.
func (m *model) apply(t *testing.T, desired state.State) {
	t.Helper()
	for _, one := range desired.Interfaces() {
		if one.IsAbsent() {
			m.remove(one.Name)
		} else if m.links[one.Name] == nil {
			m.links[one.Name] = &link{Type: one.Type, MTU: 1500}
		}
	}
	for _, one := range desired.Interfaces() {
		l := m.links[one.Name]
		if l == nil {
			continue
		}
		if controller, said := one.Controller(); said {
			if controller == "" {
				m.detach(one.Name)
			} else {
				m.attach(t, one.Name, controller)
			}
		}
		if one.SaysPorts() {
			for _, port := range slices.Clone(l.Ports) {
				if !slices.Contains(one.Ports(), port) {
					m.detach(port)
				}
			}
			for _, port := range one.Ports() {
				m.attach(t, port, one.Name)
			}
		}
	}
	for _, one := range desired.Interfaces() {
		m.configure(t, one)
	}
	for _, r := range desired.Routes() {
		next := route{r.Destination, r.NextHopInterface}
		m.routes = slices.DeleteFunc(m.routes, func(have route) bool {
			return have.Device == next.Device && (r.Destination == "" || have == next)
		})
		if !r.Absent {
			if l := m.links[next.Device]; l == nil || !l.On {
				t.Fatalf("a route on %s, which has no addresses: %s", next.Device, desired.JSON())
			}
			m.routes = append(m.routes, next)
		}
	}
	if config, said := desired.Tree()["dns-resolver"]; said && config != nil {
		m.dns = desired.DNS().Servers
	}
}

func (m *model) configure(t *testing.T, one state.Interface) {
	t.Helper()
	l := m.links[one.Name]
	if l == nil {
		return
	}
	if mtu, said := one.MTU(); said {
		l.MTU = int(mtu)
	}
	on, said := one.Enabled(state.IPv4)
	if said && !on {
		m.silence(one.Name)
	}
	if said && on {
		if l.Controller != "" {
			t.Fatalf("an address on %s, which is a port of %s", one.Name, l.Controller)
		}
		l.On = true
	}
	if ipv4, _ := one.Tree()["ipv4"].(map[string]any); ipv4["address"] != nil && l.On {
		l.Addresses = nil
		for _, address := range one.Addresses(state.IPv4) {
			l.Addresses = append(l.Addresses, address[:len(address)-len("/24")])
		}
	}
}

func (m *model) silence(name string) {
	m.links[name].On, m.links[name].Addresses = false, nil
	m.routes = slices.DeleteFunc(m.routes, func(r route) bool { return r.Device == name })
}

func (m *model) remove(name string) {
	l := m.links[name]
	if l == nil {
		return
	}
	for _, port := range slices.Clone(l.Ports) {
		m.detach(port)
	}
	m.silence(name)
	delete(m.links, name)
}

func (m *model) detach(name string) {
	l := m.links[name]
	if l == nil || l.Controller == "" {
		return
	}
	controller := m.links[l.Controller]
	controller.Ports = slices.DeleteFunc(controller.Ports, func(port string) bool { return port == name })
	l.Controller = ""
}

func (m *model) attach(t *testing.T, name, controller string) {
	t.Helper()
	l := m.links[name]
	if l == nil {
		t.Fatalf("port %s of %s is not there", name, controller)
	}
	if l.Controller == controller {
		return
	}
	m.detach(name)
	m.silence(name)
	l.Controller = controller
	m.links[controller].Ports = append(m.links[controller].Ports, name)
}
