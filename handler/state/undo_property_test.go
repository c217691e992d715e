package state_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// committer is a node with what its handler remembers.
type committer struct {
	node      *model
	committed state.State
	originals state.Originals
}

// to brings the node to the aggregate, and undoes what the paths say.
func (c *committer) to(t *testing.T, target state.State, reverts []state.Path) {
	t.Helper()
	before := c.node.show()
	undo := state.Undo(c.committed, target, reverts, c.originals, before)
	document := state.Union(state.Delta(c.committed, target), undo)
	c.node.apply(t, document)
	if missing := state.Missing(document, c.node.show()); len(missing) > 0 {
		t.Fatalf("what was applied does not hold: %v\n%s", missing, document.JSON())
	}
	originals, err := state.ParseOriginals(c.originals.Remember(c.committed, target, before, nil).JSON())
	if err != nil {
		t.Fatal(err)
	}
	c.committed, c.originals = target, originals
}

func randomNode(r *rand.Rand) *model {
	m := &model{links: map[string]*link{}}
	for i := range 4 {
		l := &link{Type: "ethernet", MTU: 1500 - 100*r.IntN(2)}
		name := fmt.Sprintf("eth%d", i)
		if l.On = r.IntN(2) == 0; l.On {
			l.Addresses = []string{fmt.Sprintf("10.0.%d.1", i), fmt.Sprintf("10.0.%d.2", i)}[:r.IntN(3)]
			if r.IntN(2) == 0 {
				m.routes = append(m.routes, route{fmt.Sprintf("10.9.%d.0/24", i), name})
			}
		}
		m.links[name] = l
	}
	if r.IntN(2) == 0 {
		m.links["br0"] = &link{Type: "linux-bridge", MTU: 1500}
		m.attach(&testing.T{}, "eth3", "br0")
	}
	if r.IntN(2) == 0 {
		m.dns = []string{"10.0.0.53"}
	}
	return m
}

// randomPolicy says something about a few things of the node. It gives no
// address to what is a port already, which nmstate refuses.
func randomPolicy(r *rand.Rand, node *model) state.State {
	var interfaces, routes []any
	tree := map[string]any{}
	taken := map[string]bool{}
	if r.IntN(2) == 0 {
		bridge := fmt.Sprintf("br%d", r.IntN(2))
		var ports []string
		for i := 2; i < 4; i++ {
			if name := fmt.Sprintf("eth%d", i); r.IntN(2) == 0 {
				ports, taken[name] = append(ports, name), true
			}
		}
		one := map[string]any{"name": bridge, "type": "linux-bridge", "state": "up", "bridge": map[string]any{"port": named(ports)}}
		if r.IntN(2) == 0 {
			one["ipv4"] = ip(true, []string{"10.1.0.1"})
			routes = append(routes, map[string]any{"destination": "10.8.0.0/24", "next-hop-interface": bridge})
		}
		interfaces = append(interfaces, one)
	}
	for i := range 4 {
		name := fmt.Sprintf("eth%d", i)
		one := map[string]any{"name": name, "type": "ethernet", "state": "up"}
		if r.IntN(3) == 0 {
			one["mtu"] = number(1300)
		}
		if r.IntN(3) == 0 && !taken[name] && node.links[name].Controller == "" {
			addresses := []string{fmt.Sprintf("10.0.%d.1", i), fmt.Sprintf("10.7.%d.1", i), fmt.Sprintf("10.7.%d.2", i)}[r.IntN(2) : 1+r.IntN(3)]
			one["ipv4"] = ip(true, addresses)
			if r.IntN(2) == 0 {
				routes = append(routes, map[string]any{"destination": fmt.Sprintf("10.%d.%d.0/24", 8+r.IntN(2), i), "next-hop-interface": name})
			}
		}
		if len(one) > 3 {
			interfaces = append(interfaces, one)
		}
	}
	if r.IntN(4) == 0 {
		tree["dns-resolver"] = map[string]any{"config": map[string]any{"server": []any{"10.0.0.54"}}}
	}
	if interfaces != nil {
		tree["interfaces"] = interfaces
	}
	if routes != nil {
		tree["routes"] = map[string]any{"config": routes}
	}
	return state.FromTree(tree)
}

func TestAPolicyThatIsUndoneLeavesTheNodeAsItWas(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		node := randomNode(r)
		before := node.same()
		policy, later := randomPolicy(r, node), randomPolicy(r, node)
		c := &committer{node: node}
		c.to(t, policy, nil)
		// An edit in between: what the newer one does not say is undone then.
		if r.IntN(2) == 0 {
			c.to(t, later, state.Paths(policy))
			policy = later
		}
		c.to(t, state.State{}, state.Paths(policy))
		if diff := cmp.Diff(before, node.same()); diff != "" {
			t.Fatalf("seed %d: the node is not as before (-before +after):\n%s\npolicy %s", seed, diff, policy.JSON())
		}
		if !c.originals.IsEmpty() {
			t.Fatalf("seed %d: something is still remembered: %s", seed, c.originals.JSON())
		}
	}
}

func TestTwoPoliciesThatAreUndoneInEitherOrderLeaveTheNodeAsItWas(t *testing.T) {
	together := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		node := randomNode(r)
		before := node.same()
		one, other := randomPolicy(r, node), randomPolicy(r, node)
		both, conflicts := desired.Merge([]desired.Contribution{{Policy: "a", State: one}, {Policy: "b", State: other}})
		if len(conflicts) > 0 || contradicts(both) {
			continue
		}
		together++
		first, second := one, other
		if r.IntN(2) == 0 {
			first, second = other, one
		}
		c := &committer{node: node}
		c.to(t, one, nil)
		c.to(t, both, nil)
		c.to(t, second, state.Paths(first))
		c.to(t, state.State{}, state.Paths(second))
		if diff := cmp.Diff(before, node.same()); diff != "" {
			t.Fatalf("seed %d: the node is not as before (-before +after):\n%s\nfirst out %s\nthen %s", seed, diff, first.JSON(), second.JSON())
		}
	}
	if together < 25 {
		t.Fatalf("only %d pairs of policies went together", together)
	}
}

// contradicts tells whether a port has addresses, or two controllers: nmstate
// refuses that.
func contradicts(s state.State) bool {
	controllers := map[string]string{}
	for _, one := range s.Interfaces() {
		for _, port := range one.Ports() {
			if controllers[port] != "" {
				return true
			}
			controllers[port] = one.Name
		}
	}
	for _, one := range s.Interfaces() {
		if on, _ := one.Enabled(state.IPv4); on && controllers[one.Name] != "" {
			return true
		}
	}
	return false
}

func TestAPolicyThatIsRetainedLeavesTheNodeAsItMadeIt(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		c := &committer{node: randomNode(r)}
		c.to(t, randomPolicy(r, c.node), nil)
		made := c.node.same()
		c.to(t, state.State{}, nil)
		if diff := cmp.Diff(made, c.node.same()); diff != "" {
			t.Fatalf("seed %d: something was undone:\n%s", seed, diff)
		}
	}
}
