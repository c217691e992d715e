package state_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// wide is more room than the tables' reports take.
const wide = 1 << 20

// node of a cut: its uplink carries the default route, br1 has ports, vlan7 an address.
const cutNode = `{
"dns-resolver": {"config": {}}, "hostname": {"running": "node1"},
"interfaces": [
 {"name": "bond0", "type": "bond", "link-aggregation": {"port": ["eth0", "eth1"]}},
 {"name": "br1", "type": "linux-bridge", "bridge": {"port": [{"name": "veth9"}]}},
 {"name": "br7", "type": "linux-bridge", "ipv6": {"address": [{"ip": "fe80::7", "prefix-length": 64}]}},
 {"name": "br8", "type": "linux-bridge"},
 {"name": "eth0", "type": "ethernet", "controller": "bond0"},
 {"name": "eth1", "type": "ethernet", "controller": "bond0"},
 {"name": "eth2", "type": "ethernet"},
 {"name": "veth9", "type": "veth", "controller": "br1"},
 {"name": "vlan7", "type": "vlan", "vlan": {"base-iface": "bond0"}, "ipv4": {"address": [{"ip": "192.0.2.7", "prefix-length": 24}]}},
 {"name": "vlan8", "type": "vlan", "vlan": {"base-iface": "bond0"}}
],
"routes": {
 "config": [{"destination": "198.51.100.0/24", "next-hop-interface": "br8"}],
 "running": [
  {"destination": "0.0.0.0/0", "next-hop-interface": "bond0", "next-hop-address": "192.0.2.1"},
  {"destination": "192.0.2.0/24", "next-hop-interface": "vlan7"},
  {"destination": "fe80::/64", "next-hop-interface": "br7"}
 ]},
"route-rules": {"config": [{"priority": 100}]}
}`

func TestCutKeepsWhatPeopleCanPredict(t *testing.T) {
	for sentence, test := range map[string]struct {
		named   []string
		kept    string
		omitted []state.Omission
	}{
		"what carries the default route or an address, with what it stands on, and NICs": {
			kept: "bond0 eth0 eth1 eth2 vlan7",
			omitted: []state.Omission{
				{Section: "interfaces", Type: "linux-bridge", Count: 3, Names: "br[1,7-8]"},
				{Section: "interfaces", Type: "veth", Count: 1, Names: "veth9"},
				{Section: "interfaces", Type: "vlan", Count: 1, Names: "vlan8"},
				{Section: "routes.running", Count: 1},
			},
		},
		"what policies name comes with its ports": {
			named: []string{"br1"},
			kept:  "bond0 br1 eth0 eth1 eth2 veth9 vlan7",
			omitted: []state.Omission{
				{Section: "interfaces", Type: "linux-bridge", Count: 2, Names: "br[7-8]"},
				{Section: "interfaces", Type: "vlan", Count: 1, Names: "vlan8"},
				{Section: "routes.running", Count: 1},
			},
		},
		"a port that policies name comes with its controller": {
			named: []string{"veth9"},
			kept:  "bond0 br1 eth0 eth1 eth2 veth9 vlan7",
			omitted: []state.Omission{
				{Section: "interfaces", Type: "linux-bridge", Count: 2, Names: "br[7-8]"},
				{Section: "interfaces", Type: "vlan", Count: 1, Names: "vlan8"},
				{Section: "routes.running", Count: 1},
			},
		},
		"a kept interface comes with its running routes": {
			named: []string{"br7", "br8", "veth9", "vlan8"},
			kept:  "bond0 br1 br7 br8 eth0 eth1 eth2 veth9 vlan7 vlan8",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			kept, omitted := state.Cut(parse(t, cutNode), wide, test.named...)
			if got := strings.Join(names(kept), " "); got != test.kept {
				t.Errorf("kept %s, want %s", got, test.kept)
			}
			if diff := cmp.Diff(test.omitted, omitted); diff != "" {
				t.Error(diff)
			}
			if len(kept.Routes()) != 1 || len(kept.RouteRules()) != 1 || !strings.Contains(string(kept.JSON()), "node1") {
				t.Errorf("configured routes, rules or what is the node's own are gone: %s", kept.JSON())
			}
		})
	}
}

func TestCutKeepsByItsOrderWhereRoomIsShort(t *testing.T) {
	report := parse(t, cutNode)
	all := []string{"br8", "node1", `"0.0.0.0/0"`, "bond0", "198.51.100.0/24", "vlan7", "eth0", "eth2", "192.0.2.0/24"}
	most := 0
	for limit := range len(report.JSON()) + 2000 {
		kept, _ := state.Cut(report, limit, "br8")
		there := 0
		for _, one := range kept.Interfaces() {
			if one.Name == "br8" {
				there = 1
			}
		}
		if there == 0 && len(kept.Interfaces())+len(kept.RunningRoutes()) > 0 {
			t.Fatalf("%d bytes: what policies name is not there, and something else is: %s", limit, kept.JSON())
		}
		if len(kept.JSON()) > limit && limit >= len("{}") {
			t.Fatalf("%d bytes, at most %d: %s", len(kept.JSON()), limit, kept.JSON())
		}
		most = max(most, len(kept.JSON()))
	}
	kept, _ := state.Cut(report, wide, "br8")
	if most != len(kept.JSON()) {
		t.Errorf("at most %d bytes were kept of %d", most, len(kept.JSON()))
	}
	for _, one := range all {
		if !strings.Contains(string(kept.JSON()), one) {
			t.Errorf("%s is not kept", one)
		}
	}
}

func TestThousandsOfInterfacesAreWithinTheBound(t *testing.T) {
	for sentence, test := range map[string]struct {
		interfaces int
		addressed  bool
		named      int
	}{
		"1,500 bridges, of which policies name one":                  {1500, false, 1},
		"1,500 bridges with addresses, of which policies name ten":   {1500, true, 10},
		"3,000 bridges with addresses, of which policies name all":   {3000, true, 3000},
		"5,000 bridges without addresses, of which policies name 50": {5000, false, 50},
	} {
		t.Run(sentence, func(t *testing.T) {
			report, named := bridges(test.interfaces, test.addressed)
			kept, omitted := state.Cut(report, state.ReportLimit, named[:test.named]...)
			told, err := json.Marshal(omitted)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes of %d are kept, %d say what is not", len(kept.JSON()), len(report.JSON()), len(told))
			if size := len(kept.JSON()) + len(told); size > state.ReportLimit {
				t.Errorf("%d bytes", size)
			}
			left := 0
			for _, one := range omitted {
				if one.Section == "interfaces" {
					left += one.Count
				}
			}
			if left+len(kept.Interfaces()) != test.interfaces {
				t.Errorf("%d are kept and %d left out of %d", len(kept.Interfaces()), left, test.interfaces)
			}
			there := map[string]bool{}
			for _, name := range names(kept) {
				there[name] = true
			}
			for _, name := range named[:min(test.named, 100)] {
				if !there[name] {
					t.Errorf("%s is named and left out", name)
				}
			}
		})
	}
}

// bridges are so many, each as large as nmstate tells them.
func bridges(count int, addressed bool) (state.State, []string) {
	var interfaces, running []any
	var all []string
	for i := range count {
		name := fmt.Sprintf("br%d", i)
		all = append(all, name)
		one := map[string]any{
			"name": name, "type": "linux-bridge", "state": "up", "mac-address": "02:00:00:00:00:01", "accept-all-mac-addresses": false,
			"bridge": map[string]any{"port": []any{}, "options": map[string]any{
				"group-addr": "01:80:C2:00:00:00", "stp": map[string]any{"enabled": false, "hello-time": 2}, "note": strings.Repeat("x", 1200),
			}},
		}
		if addressed {
			one["ipv4"] = map[string]any{"address": []any{map[string]any{"ip": fmt.Sprintf("10.%d.%d.1", i/256, i%256), "prefix-length": 24}}}
		}
		interfaces = append(interfaces, one)
		running = append(running, map[string]any{"destination": "fe80::/64", "next-hop-interface": name, "table-id": 254})
	}
	slices.SortFunc(interfaces, func(a, b any) int {
		return strings.Compare(a.(map[string]any)["name"].(string), b.(map[string]any)["name"].(string))
	})
	slices.Sort(all)
	return state.FromTree(map[string]any{"interfaces": interfaces, "routes": map[string]any{"config": []any{}, "running": running}}), all
}

func names(s state.State) []string {
	var found []string
	for _, one := range s.Interfaces() {
		found = append(found, one.Name)
	}
	return found
}

// FuzzCut: whatever a node shows, its report is within the bound, the same each time,
// accounts for every part of a list, and has what policies name before anything else.
func FuzzCut(f *testing.F) {
	f.Add([]byte(cutNode), 900, "br8")
	f.Add([]byte(`{"interfaces":[{"name":"a","type":"\u0000"},7,{"type":"x"}],"routes":7,"x":"<<<<<"}`), 200, "a")
	f.Add([]byte(`{"routes":{"running":[{"destination":"::/0"}]},"interfaces":{"name":"a"}}`), 120, "a")
	f.Fuzz(func(t *testing.T, raw []byte, limit int, named string) {
		report, err := state.Parse(raw)
		if err != nil || limit > wide {
			return // It is no state, so there is nothing to cut.
		}
		checkCut(t, report, limit, named)
	})
}

func TestWhateverANodeShowsItsReportIsWithinTheBound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		report, all := bridges(random.IntN(60), random.IntN(2) == 0)
		tree := report.Tree()
		for _, one := range tree["interfaces"].([]any) {
			link := one.(map[string]any)
			link["type"] = []string{"linux-bridge", "veth", "ethernet", "vlan", "dummy"}[random.IntN(5)]
			link["filler"] = strings.Repeat(`<"é`, random.IntN(400))
			if len(all) > 0 && random.IntN(3) == 0 {
				link["controller"] = all[random.IntN(len(all))]
			}
		}
		named := ""
		if len(all) > 0 {
			named = all[random.IntN(len(all))]
		}
		checkCut(t, state.FromTree(tree), random.IntN(60000), named)
	}
}

func checkCut(t *testing.T, report state.State, limit int, named string) {
	t.Helper()
	kept, omitted := state.Cut(report, limit, named)
	again, omittedAgain := state.Cut(report, limit, named)
	if !kept.Equal(again) || !slices.Equal(omitted, omittedAgain) {
		t.Fatal("it is another one each time")
	}
	told, err := json.Marshal(omitted)
	if err != nil {
		t.Fatal(err)
	}
	const least, around = 1200, 200 // Less has no room for what is left out; size and hash are said besides.
	if size := len(kept.JSON()) + len(told) + around; size > max(limit, least) || len(omitted) > 32 {
		t.Fatalf("%d bytes and %d lines that say in %d what is left out, at most %d in all", len(kept.JSON()), len(omitted), len(told), limit)
	}
	if missing := len(report.Interfaces()) - len(kept.Interfaces()); missing > 0 && len(omitted) == 0 {
		t.Fatalf("%d interfaces are left out in silence", missing)
	}
	one, there := report.Interface(named)
	if there && one.Name == named {
		if _, has := kept.Interface(named); !has && len(kept.Interfaces()) > 0 && smaller(kept, one) {
			t.Fatalf("%s is named and left out, and there would have been room: %s", named, kept.JSON())
		}
	}
}

// smaller tells whether the interface would fit in the place of those that are kept.
func smaller(kept state.State, one state.Interface) bool {
	room := 0
	for _, other := range kept.Interfaces() {
		room += len(state.FromTree(other.Tree()).JSON())
	}
	return len(state.FromTree(one.Tree()).JSON()) < room
}

func TestRangesTellNamesInFewWords(t *testing.T) {
	var odd []string
	for i := range 40 {
		odd = append(odd, fmt.Sprintf("br%d", 2*i))
	}
	for sentence, test := range map[string]struct {
		names []string
		limit int
		want  string
	}{
		"nothing":                               {nil, 100, ""},
		"a name without a number":               {[]string{"lo"}, 100, "lo"},
		"one number is no range":                {[]string{"br7"}, 100, "br7"},
		"numbers without a gap, in any order":   {[]string{"br2", "br0", "br1"}, 100, "br[0-2]"},
		"numbers with gaps":                     {[]string{"br0", "br1", "br9", "br10"}, 100, "br[0-1,9-10]"},
		"several prefixes":                      {[]string{"veth1", "br0", "br1", "lo"}, 100, "br[0-1], lo, veth1"},
		"a leading zero belongs to the name":    {[]string{"br007", "br7", "br008"}, 100, "br7, br00[7-8]"},
		"a zero alone is a number":              {[]string{"br0", "br1"}, 100, "br[0-1]"},
		"the same name twice":                   {[]string{"br0", "br0", "x", "x"}, 100, "br0, x"},
		"what does not fit is counted":          {[]string{"aaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbb", "c1", "c2"}, 50, "aaaaaaaaaaaaaaaaaaaa, and 3 more"},
		"nothing fits":                          {[]string{"aaaaaaaaaaaaaaaaaaaa", "b"}, 30, "2 names"},
		"many gaps are told in several groups":  {odd, 90, "br[0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30], and 24 more"},
		"what JSON would spell longer is asked": {[]string{"a<b", "é"}, 100, "?, a?b"},
		"a number beyond 18 digits":             {[]string{"x12345678901234567890"}, 100, "x12345678901234567890"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := state.Ranges(test.names, test.limit)
			if got != test.want {
				t.Errorf("%s", got)
			}
			if len(got) > test.limit {
				t.Errorf("%d bytes", len(got))
			}
		})
	}
}
