package desired

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestOwned(t *testing.T) {
	for name, test := range map[string]struct {
		policies []string
		want     [][]string
	}{
		"an interface of one policy is its own as a whole": {
			policies: []string{`interfaces: [{name: br1, type: linux-bridge, bridge: {port: [{name: eth1}]}}]`},
			want:     [][]string{{"interfaces[br1]"}},
		},
		"an interface of two policies is shared leaf by leaf": {
			policies: []string{
				`interfaces: [{name: eth1, type: ethernet, mtu: 1400}]`,
				`interfaces: [{name: eth1, type: ethernet, ipv4: {address: [{ip: 192.0.2.1, prefix-length: 24}]}}]`,
			},
			want: [][]string{
				{"interfaces[eth1].mtu", "interfaces[eth1].type"},
				{"interfaces[eth1].ipv4.address[192.0.2.1/24]", "interfaces[eth1].type"},
			},
		},
		"two policies that say the same own the same": {
			policies: []string{`interfaces: [{name: eth1, mtu: 1400}]`, `interfaces: [{name: eth1, mtu: 1400}]`},
			want:     [][]string{{"interfaces[eth1]"}, {"interfaces[eth1]"}},
		},
		"a policy that only names an interface owns nothing of what another says of it": {
			policies: []string{`interfaces: [{name: eth1}]`, `interfaces: [{name: eth1, mtu: 1400}]`},
			want:     [][]string{nil, {"interfaces[eth1]"}},
		},
		"a route that a second policy completes is both's": {
			policies: []string{
				`routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: eth1}]}`,
				`routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: eth1, metric: 9}]}`,
			},
			want: [][]string{
				{"routes.config[198.51.100.0/24 dev eth1 metric 9]"}, {"routes.config[198.51.100.0/24 dev eth1 metric 9]"},
			},
		},
		"name servers are owned one by one": {
			policies: []string{
				`dns-resolver: {config: {server: [192.0.2.1, 192.0.2.2]}}`, `dns-resolver: {config: {server: [192.0.2.2, 192.0.2.3]}}`,
			},
			want: [][]string{
				{"dns-resolver.config.server[192.0.2.1]", "dns-resolver.config.server[192.0.2.2]"},
				{"dns-resolver.config.server[192.0.2.2]", "dns-resolver.config.server[192.0.2.3]"},
			},
		},
		"who does not say the type may be about an OVS bridge": {
			policies: []string{`interfaces: [{name: br0, type: ovs-bridge}]`, `interfaces: [{name: br0, state: up}]`},
			want:     [][]string{{"interfaces[br0 ovs-bridge].type"}, {"interfaces[br0 ovs-bridge].state"}},
		},
		"a policy that is left out owns nothing": {
			policies: []string{`interfaces: [{name: eth1, mtu: 1400}]`, `interfaces: [{name: eth1, mtu: 1500}]`},
			want:     [][]string{{"interfaces[eth1]"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, written(fold(inOrder(t, test.policies...)).owned())); diff != "" {
				t.Errorf("%s", diff)
			}
		})
	}
}

// TestEveryLeafHasAnOwner: every leaf of the merged state is somebody's, and
// nobody's paths stand for a leaf that is not theirs.
func TestEveryLeafHasAnOwner(t *testing.T) {
	for seed := range int64(3000) {
		r := rand.New(rand.NewSource(seed))
		var all []Contribution
		for i := range 1 + r.Intn(5) {
			s := randomState(r)
			all = append(all, Contribution{Policy: string(rune('a' + i)), Hash: s.Hash(), State: s})
		}
		merged := fold(all)
		leaves, owned := state.Paths(merged.state), merged.owned()
		for _, leaf := range leaves {
			if !slices.ContainsFunc(owned, func(paths []state.Path) bool { return covers(paths, leaf) }) {
				t.Errorf("seed %d: nobody owns %s of %s", seed, leaf, merged.state.JSON())
			}
		}
		for i, member := range merged.members {
			own := indexed(merged.state).found(member.State)
			for _, leaf := range leaves {
				if covers(owned[i], leaf) != slices.Contains(own, leaf) {
					t.Errorf("seed %d: %s is covered by %v of policy %s: %s", seed, leaf, owned[i], member.Policy, member.State.JSON())
				}
			}
		}
	}
}

func covers(paths []state.Path, leaf state.Path) bool {
	return slices.ContainsFunc(paths, func(path state.Path) bool { return path.Covers(leaf) })
}

func written(owned [][]state.Path) [][]string {
	var all [][]string
	for _, paths := range owned {
		all = append(all, state.WrittenPaths(paths))
	}
	return all
}
