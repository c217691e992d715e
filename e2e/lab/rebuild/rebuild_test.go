package rebuild

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"gotest.tools/v3/golden"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func mustPlan(t *testing.T, file string) (*Plan, []Report) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	reports, err := Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(reports)
	if err != nil {
		t.Fatal(err)
	}
	return p, reports
}

// Each report of testdata becomes the topology and the list beside it, and the lab
// takes that topology. What the profiles say is libnmstate's business (e2e/suite).
func TestEachReportBecomesATopology(t *testing.T) {
	files, err := filepath.Glob("testdata/*[nl]") // .yaml and .json
	if err != nil || len(files) < 4 {
		t.Fatalf("found %d: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			p, _ := mustPlan(t, file)
			var got bytes.Buffer
			encoder := yaml.NewEncoder(&got)
			encoder.SetIndent(2)
			if err := encoder.Encode(p.Topology); err != nil {
				t.Fatal(err)
			}
			if _, err := lab.ParseTopology(got.Bytes()); err != nil {
				t.Errorf("the lab does not take it: %v", err)
			}
			for _, n := range p.Nodes {
				for _, line := range n.Left {
					got.WriteString("# " + n.Name + ": " + line + "\n")
				}
			}
			golden.Assert(t, got.String(), strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))+".want")
		})
	}
}

const nic = `{"name": "eth0", "type": "ethernet", "state": "up", "ipv4": {"enabled": true, "address": [{"ip": "192.0.2.11", "prefix-length": 24}]}}`

func TestAFileThatIsNoReportIsToldInOneLine(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"an empty file":                {"", "there is no NodeNetworkState in it"},
		"an empty list":                {"{kind: List, items: []}", "there is no NodeNetworkState in it"},
		"another object":               {"{kind: Pod}", "a Pod is no NodeNetworkState"},
		"a text":                       {"hello", "no NodeNetworkState, and no network state as nmstate prints it"},
		"something else":               {"{a: b}", "no NodeNetworkState, and no network state as nmstate prints it: it has no interfaces"},
		"what cannot be read":          {"a: [", "no YAML or JSON: error converting YAML to JSON: yaml: line 1: did not find expected node content"},
		"a node that reported nothing": {"{kind: NodeNetworkState, metadata: {name: a}}", "a: the report has no interfaces"},
		"two nodes of one name": {
			"{kind: NodeNetworkState, metadata: {name: a.x}, status: {currentState: {interfaces: [" + nic + "]}}}\n---\n" +
				"{kind: NodeNetworkState, metadata: {name: a.y}, status: {currentState: {interfaces: [" + nic + "]}}}",
			"two nodes would be called a in the lab: a.x and a.y"},
		"a name that no kernel takes":   {`{"interfaces": [` + strings.Replace(nic, "eth0", "a name", 1) + `]}`, `node1: no kernel has an interface called "a name"`},
		"a node that nothing leads out": {`{"interfaces": [` + strings.Replace(nic, "ethernet", "dummy", 1) + `]}`, "node1: no interface that leads out of the node has an IPv4 address, so it would have no way to the API server"},
		"a way that no lab has": {`{"interfaces": [{"name": "eth0", "type": "ethernet", "state": "up"}, ` + strings.Replace(strings.Replace(nic, "eth0", "tap1", 1), `"type": "ethernet"`, `"type": "mac-vtap", "mac-vtap": {"base-iface": "eth0", "mode": "bridge"}`, 1) + `]}`,
			"node1: its way to the API server is tap1, and a lab has no such link"},
	} {
		t.Run(name, func(t *testing.T) {
			reports, err := Read([]byte(tt.text))
			if err == nil {
				_, err = New(reports)
			}
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// The profiles of a node are called after their interfaces, and have what libnmstate
// leaves out.
func TestProfilesTakeThePlaceOfTheLabsOwn(t *testing.T) {
	p, _ := mustPlan(t, "testdata/bridge-as-default.yaml")
	err := p.Fill("worker", map[string]string{
		"spare.nmconnection": "[connection]\ninterface-name=eth2\n",
		"br0.nmconnection":   "[connection]\ninterface-name=br0\n\n[ipv6]\nmethod=manual\n\n[ethernet]\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"eth2.nmconnection": "[connection]\ninterface-name=eth2\n",
		"br0.nmconnection":  "[connection]\ninterface-name=br0\n\n[ipv6]\nroute-metric=100\nmethod=manual\n\n[ethernet]\n",
	}
	if diff := cmp.Diff(want, p.Topology.Nodes[0].Profiles); diff != "" {
		t.Error(diff)
	}
}

// What differs is told by its path; what is not rebuilt, and what the report does
// not speak of, is not.
func TestOnlyWhatTheListDoesNotSayIsADifference(t *testing.T) {
	_, reports := mustPlan(t, "testdata/pods.json")
	before := reports[0].State
	for name, tt := range map[string]struct{ from, to, want string }{
		"nothing":                        {"", "", ""},
		"an MTU":                         {`"mtu":1500`, `"mtu":1400`, "interfaces[eth0].mtu: is 1400, should be 1500"},
		"an address that is static":      {"172.18.7.7", "172.18.7.8", "interfaces[eth0].ipv4.address[172.18.7.7/16].ip: 172.18.7.7 is missing"},
		"a NIC that went down":           {`"mtu":1500,"name":"eth0","state":"up"`, `"mtu":1500,"name":"eth0","state":"down"`, "interfaces[eth0].state: is down, should be up"},
		"another lease":                  {"172.18.0.3", "172.18.0.4", ""},
		"an address that is yet to come": {`{"ip":"fc00:f853:ccd:e793::3","prefix-length":64},`, ``, ""},
		"a pod's veth":                   {"veth1a2b3c4d", "vethffffffff", ""},
		"what the file leaves out":       {`"mtu":1500`, `"mtu":1500,"wait-ip":"any"`, ""},
		"a port":                         {`{"name":"eth1"}`, `{"name":"eth9"}`, "interfaces[br1].bridge.port[eth1].name: eth1 is missing"},
		"a gateway":                      {`"172.18.0.1","next-hop-int`, `"172.18.0.9","next-hop-int`, "routes.running[0.0.0.0/0 via 172.18.0.1 dev eth0]: 0.0.0.0/0 via 172.18.0.1 dev eth0 is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.ReplaceAll(string(before.JSON()), tt.from, tt.to)
			if tt.from == "" {
				changed = string(before.JSON())
			} else if changed == string(before.JSON()) {
				t.Fatalf("%s is not in the report", tt.from)
			}
			after, err := state.Parse([]byte(changed))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range Compare(before, after) {
				got = append(got, d.String())
			}
			if tt.want == "" && len(got) > 0 || tt.want != "" && !strings.Contains(strings.Join(got, "\n"), tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
