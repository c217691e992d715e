package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMistakesAreToldWithFileAndLine(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"an unknown command":                         {"aply p.yaml", "x.txtar:1: aply: there is no such command or check (there are: add, advance, "},
		"a check that is none":                       {"await polcy p Available", "x.txtar:1: polcy: there is no such command or check"},
		"a file that is not there":                   {"apply p.yaml", `x.txtar:1: there is no file "p.yaml"`},
		"a file that nobody names":                   {"quiet 1s\n-- p.yaml --\n", `x.txtar:2: no command names the file "p.yaml"`},
		"a file that is there twice":                 {"apply p\n-- p --\n-- p --\n", `x.txtar:2: there is a file "p" already`},
		"a node that is not there":                   {"nodes 2\nreboot node3", `x.txtar:2: there is no node "node3" (there are: node1, node2)`},
		"a node that joins only later":               {"kill handler node2\nadd node 2\nkill handler node2", `x.txtar:1: there is no node "node2"`},
		"a phase that is none":                       {"kill handler node1 in Dreaming", `x.txtar:1: "Dreaming" is no phase of a transaction`},
		"a row that is none":                         {"await enactment node1.p Good", `x.txtar:1: "Good" is no row of the table of conditions (Aborted, Available, `},
		"a row of an enactment for a policy":         {"await policy p Failing", `x.txtar:1: "Failing" is no row of the table of conditions (Available, Degraded, `},
		"text without quotes":                        {"await kernel node1 link", "x.txtar:1: link: text stands in single quotes"},
		"a name in quotes":                           {"reboot 'node1'", "x.txtar:1: 'node1': want NODES, without quotes"},
		"a word too many":                            {"heal all", `x.txtar:1: "all" is one word too many; it reads: heal`},
		"a word too few":                             {"carrier node1 eth1", "x.txtar:1: up|down is missing; it reads: carrier NODE NIC up|down [in PHASE]"},
		"a check that ends early":                    {"await", "x.txtar:1: the rest of the line is missing"},
		"a quote without an end":                     {"await kernel node1 'link", "x.txtar:1: 'link: the quote does not end"},
		"a quote without a blank":                    {"await kernel node1 'link'eth1", "x.txtar:1: 'link'eth1: a blank is missing after the quote"},
		"a quote within a word":                      {"label node1 a='b'", "x.txtar:1: a='b': a quote begins in the middle of a word"},
		"a duration that is none":                    {"quiet soon", `x.txtar:1: "soon" is no duration such as 30s or 10m`},
		"a mark that was not made":                   {"expect same node1 since noon", `x.txtar:1: there is no mark "noon" before this line`},
		"a mark that was made already":               {"mark start", `x.txtar:1: there is a mark "start" already`},
		"a need after a command":                     {"heal\nneeds bond", "x.txtar:2: what is needed is said before the first command that does something"},
		"a reason that is missing":                   {"only sim:\nheal", "x.txtar:1: only sim: a reason is missing"},
		"a switch without a gateway":                 {"switch leaf dns\nheal", "x.txtar:1: gateway=ADDRESS/LENGTH is missing"},
		"a NIC in a switch that is not there":        {"nic node1 eth3 leaf\nheal", `x.txtar:1: there is no switch "leaf" before this line`},
		"nodes that are said twice":                  {"nodes 2\nnodes 3\nheal", "x.txtar:2: nodes is said once"},
		"a wait that a lab would sit out":            {"advance 10m", "x.txtar:1: a lab does not wait that long"},
		"a longer one of what the lab runs seldom":   {"lab seldom\nadvance 10m", "x.txtar:2: a lab does not wait that long: at most 3m"},
		"a script without a command":                 {"# nothing\n", "x.txtar:1: the script has no command"},
		"several mistakes, each in a line":           {"heel\nheal all", "x.txtar:2: \"all\""},
		"what is no text":                            {"heal \xff", "x.txtar:1: is not UTF-8"},
		"an alternative that is none":                {"carrier node1 eth1 sideways", `x.txtar:1: "sideways": want up or down`},
		"an address that is none":                    {"nic node1 eth1 lan 10.0.0.1\nheal", `x.txtar:1: "10.0.0.1" is not auto or an IPv6 address with prefix length`},
		"an each without phases":                     {"each PHASE\nheal\nend", "x.txtar:1: it reads: each PHASE Applying Probing"},
		"an each without an end":                     {"heal\neach PHASE Probing\nheal", "x.txtar:2: end is missing after this each"},
		"an end without an each":                     {"heal\nend", "x.txtar:2: there is no each before this end"},
		"an each within an each":                     {"each PHASE Probing\neach PHASE Applying\nend", "x.txtar:2: there is no each within an each"},
		"a phase that is none, in a line of an each": {"each PHASE Dreaming\nkill handler node1 in PHASE\nend", `x.txtar:2: "Dreaming" is no phase`},
		"the nearest of several forms of a command":  {"kill handler node1 at Probing", `x.txtar:1: "at" is one word too many; it reads: kill|stop|start|restart handler NODES [in PHASE], or: `},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("x.txtar", []byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestALineHasItsWords(t *testing.T) {
	tests := map[string]struct {
		line string
		want Args
	}{
		"an optional group that is there":        {"kill handler node1 in Probing", Args{"kill|stop|start|restart": "kill", "NODES": "node1", "PHASE": "Probing"}},
		"an optional group that is not":          {"restart handler nodes", Args{"kill|stop|start|restart": "restart", "NODES": "nodes"}},
		"an optional word before others":         {"cut dns in Probing", Args{"api|gateway|dns": "dns", "PHASE": "Probing"}},
		"several texts":                          {"drift node1 'mtu eth1 1300' 'link del br1'", Args{"NODES": "node1", "TEXT": "mtu eth1 1300\nlink del br1"}},
		"a quote in a text":                      {"once node1 fails 'it''s'", Args{"NODE": "node1", "TEXT": "it's"}},
		"a comment":                              {"heal # '", Args{}},
		"a label with a mark of a comment in it": {"label node1 a=b#c", Args{"NODES": "node1", "LABEL": "a=b#c"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := Parse("x.txtar", []byte(test.line))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, s.Steps[0].Args); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestACheckHasItsOwnWords(t *testing.T) {
	s, err := Parse("x.txtar", []byte("await within 2m enactment nodes.p Failing 'no'"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Args{"DURATION": "2m"}, s.Steps[0].Args); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Args{"ENACTMENT": "nodes.p", "ROW": "Failing", "TEXT": "no"}, s.Steps[0].Check.Args); diff != "" {
		t.Error(diff)
	}
}

func TestLinesAreCarriedOutForEachPhase(t *testing.T) {
	s, err := Parse("x.txtar", []byte("heal\neach PHASE Applying Probing\n  stop handler node1 in PHASE\n  apply PHASE.yaml\nend\nheal\n-- PHASE.yaml --\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, step := range s.Steps {
		got = append(got, fmt.Sprintf("%d %s", step.Line, step.Text))
	}
	want := []string{
		"1 heal", "3 stop handler node1 in Applying", "4 apply PHASE.yaml", "3 stop handler node1 in Probing", "4 apply PHASE.yaml", "6 heal",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEveryWordOfAUsageIsKnown(t *testing.T) {
	for _, table := range [][]form{commands, checks} {
		for _, f := range table {
			if f.means == "" || (f.sets == nil && f.does == nil && f.holds == nil) {
				t.Errorf("%s: says or does nothing", f.usage)
			}
			for token := range strings.FieldsSeq(f.usage) {
				token = strings.TrimSuffix(strings.Trim(token, "[]"), "...")
				_, known := kinds[token]
				if token != strings.ToLower(token) && token != "CHECK" && !known {
					t.Errorf("%s: nobody says what %s is", f.usage, token)
				}
			}
		}
	}
}

func TestALineCoversWhatIsWanted(t *testing.T) {
	const line = "link br1 linux-bridge up mtu 1500 stp off"
	for wanted, want := range map[string]bool{
		"link br1": true, "link br1 mtu 1500": true, "link br1 stp off": true, line: true,
		"link br": false, "br1": false, "link br1 off stp": false, "route br1": false, "": false,
	} {
		if got := covers(line, wanted); got != want {
			t.Errorf("%q: %v", wanted, got)
		}
	}
}

func TestAPictureLeavesOutWhatAServerOrARouterChose(t *testing.T) {
	for line, want := range map[string]string{
		"dns server fe80::35:9cff:fe71:93a0%eth0":     "dns server that a router on eth0 announced",
		"dns server 192.0.2.1":                        "dns server 192.0.2.1",
		"address eth0 192.0.2.101/24 dynamic":         "address eth0 dynamic IPv4",
		"address eth0 2001:db8::5/64 dynamic":         "address eth0 dynamic IPv6",
		"address eth0 192.0.2.11/24":                  "address eth0 192.0.2.11/24",
		"link eth0 ethernet up mtu 1450":              "link eth0 ethernet mtu 1450",
		"link br0 linux-bridge up mtu 1500 stp off":   "link br0 linux-bridge up mtu 1500 stp off",
		"route ::/0 via fe80::1 dev eth0 metric 1024": "route ::/0 via fe80::1 dev eth0 metric 1024",
	} {
		if got := comparably(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestSnapshotsAreInOrder where metrics differ that NetworkManager chose and that decide
// nothing, in the simulator's words; in the lab's each metric counts.
func TestSnapshotsAreInOrder(t *testing.T) {
	route := func(device, metric string) string {
		return "route 0.0.0.0/0 via 192.0.2.1 dev " + device + " metric " + metric + "\n"
	}
	const lab = `route {"dev":"eth0","dst":"default","gateway":"192.0.2.1","metric":100,"protocol":"dhcp"}`
	before := route("eth0", "100") + route("eth1", "101")
	for name, tt := range map[string]struct {
		before, after string
		same          bool
	}{
		"as before":                       {before, before, true},
		"both have others":                {before, route("eth0", "103") + route("eth1", "105"), true},
		"they changed places":             {before, route("eth1", "100") + route("eth0", "101"), false},
		"the first one comes last":        {before, route("eth1", "101") + route("eth0", "102"), false},
		"they have the same":              {before, route("eth0", "101") + route("eth1", "101"), false},
		"one has that of another type":    {before, route("eth0", "100") + route("eth1", "425"), false},
		"one is not there":                {before, route("eth0", "100"), false},
		"one leads to another gateway":    {before, strings.Replace(before, "192.0.2.1", "192.0.2.2", 1), false},
		"one is NetworkManager's no more": {before, strings.Replace(before, "metric 100", "metric 0", 1), false},
		"a VLAN is a bridge":              {route("eth0.7", "400"), route("eth0.7", "425"), false},
		"one that somebody has named":     {route("eth0", "150"), route("eth0", "151"), false},
		"one on the lab":                  {lab, strings.Replace(lab, "100", "102", 1), false},
	} {
		if got := InOrder(tt.after) == InOrder(tt.before); got != tt.same {
			t.Errorf("%s: the same is to be %v:\n%s", name, tt.same, cmp.Diff(InOrder(tt.before), InOrder(tt.after)))
		}
	}
}

// TestSnapshotsAreAlike whatever a boot chose anew, the order of lines by it included, and
// in nothing else.
func TestSnapshotsAreAlike(t *testing.T) {
	const (
		link      = `link {"address":"02:00:00:00:00:01","ifname":"eth0"}`
		connected = `route {"dev":"eth0","dst":"192.0.2.0/24","metric":100,"protocol":"kernel"}`
		static    = `route {"dev":"eth0","dst":"198.51.100.0/24","metric":100,"protocol":"static"}`
		leased    = `route {"dev":"eth0","dst":"default","metric":100,"protocol":"dhcp"}`
		addresses = `address {"addr_info":[{"local":"192.0.2.11"},{"local":"fe80::1"},{"local":"fe80::2"}],"ifname":"br0"}`
		bond      = `link {"ifname":"bond0","linkinfo":{"info_data":{"active_slave":"eth1","primary":"eth0"}}}`
		port      = `link {"ifname":"eth1","linkinfo":{"info_slave_data":{"mii_status":"UP","state":"ACTIVE"}},"master":"bond0"}`
		profile   = `eth0.nmconnection: route-metric=100`
	)
	for name, tt := range map[string]struct {
		before, after string
		want          bool
	}{
		"other MAC addresses in another order": {
			"address 02:00:00:00:00:01 eth0\naddress 02:00:00:00:00:02 bond0\nroute fe80::1 eth0",
			"address 02:00:00:00:00:01 bond0\naddress 02:00:00:00:00:03 eth0\nroute fe80::2 eth0", true,
		},
		"a route more": {link, link + "\n" + connected, false},
		"a connected route with another metric": {
			connected + "\n" + strings.Replace(connected, "eth0", "eth1", 1),
			strings.Replace(connected, "100", "102", 1) + "\n" + strings.Replace(strings.Replace(connected, "eth0", "eth1", 1), "100", "101", 1), true,
		},
		"a connected route of IPv6":           {strings.Replace(connected, "route", "route6", 1), strings.Replace(strings.Replace(connected, "route", "route6", 1), "100", "102", 1), true},
		"a connected route on another link":   {connected, strings.Replace(connected, "eth0", "eth1", 1), false},
		"a static route with another metric":  {static, strings.Replace(static, `"metric":100`, `"metric":102`, 1), false},
		"a DHCP server's with another metric": {leased, strings.Replace(leased, "100", "102", 1), false},
		"a profile that gives another metric": {profile, strings.Replace(profile, "100", "102", 1), false},
		"a bridge without the link-local address from before it had a port": {
			addresses + "\n" + `route6 {"dst":"fe80::1"}` + "\n" + `route6 {"dst":"fe80::2"}`,
			strings.Replace(addresses, `,{"local":"fe80::2"}`, "", 1) + "\n" + `route6 {"dst":"fe80::1"}`, true,
		},
		"a bridge without any link-local address": {addresses, `address {"addr_info":[{"local":"192.0.2.11"}],"ifname":"br0"}`, false},
		"a bridge without its own address":        {addresses, strings.Replace(addresses, `{"local":"192.0.2.11"},`, "", 1), false},
		"a line twice":                            {link + "\n" + static, link + "\n" + static + "\n" + static, false},
		"a bond that uses the other port":         {bond + "\n" + port, strings.Replace(bond, "eth1", "eth0", 1) + "\n" + strings.Replace(port, "ACTIVE", "BACKUP", 1), true},
		"a bond with another primary":             {bond, strings.Replace(bond, `"primary":"eth0"`, `"primary":"eth1"`, 1), false},
		"a port of another bond":                  {port, strings.Replace(port, "bond0", "bond1", 1), false},
		"a port that is down":                     {port, strings.Replace(port, `"UP"`, `"DOWN"`, 1), false},
		"another link":                            {link, strings.Replace(link, "eth0", "eth1", 1), false},
	} {
		if diff := cmp.Diff(acrossBoots(tt.before), acrossBoots(tt.after)); (diff == "") != tt.want {
			t.Errorf("%s: alike is to be %v: %s", name, tt.want, diff)
		}
	}
}

// TestAnUndoMaySaySomethingInOtherWords, and must come to the same.
func TestAnUndoMaySaySomethingInOtherWords(t *testing.T) {
	const before = `eth0.nmconnection: [connection] id=eth0
eth0.nmconnection: [ipv4] address1=192.0.2.11/24
eth0.nmconnection: [ipv6] route-metric=100
link {"ifname":"eth0","mtu":1500}`
	for name, tt := range map[string]struct {
		after string
		want  bool
	}{
		"defaults that are said":              {before + "\n" + `eth0.nmconnection: [ethernet] mtu=1500`, true},
		"a default that is not said any more": {strings.Replace(before, "eth0.nmconnection: [ipv6] route-metric=100\n", "", 1), true},
		"another MTU":                         {strings.Replace(before, `1500`, `1400`, 1), false},
		"another address":                     {strings.Replace(before, "192.0.2.11", "192.0.2.12", 1), false},
		"another profile":                     {before + "\n" + `br0.nmconnection: [connection] id=br0`, false},
	} {
		if diff := cmp.Diff(strings.Fields(afterUndo(before)), strings.Fields(afterUndo(tt.after))); (diff == "") != tt.want {
			t.Errorf("%s: undone is to be %v: %s", name, tt.want, diff)
		}
	}
}

// FuzzParse: no text makes the parser do anything but parse or refuse, and what it
// refuses it refuses with a line.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("files/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := Parse("x.txtar", raw)
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if line == "" {
					t.Errorf("an empty line in %q", err)
				}
			}
			return
		}
		for _, step := range s.Steps {
			if step.Line < 1 || step.form.does == nil {
				t.Errorf("%+v", step)
			}
		}
		if len(s.Topology.Nodes) == 0 || !slices.Contains(s.Topology.names(), "node1") {
			t.Errorf("%+v", s.Topology)
		}
	})
}
