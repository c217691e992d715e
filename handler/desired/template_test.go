package desired

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func twoMatched() Templates {
	return Templates{
		Variables: map[string]string{"mtu": "9000", "rack": "r7", "on": "true", "net": "192.0.2"},
		Matching:  true, Matched: []string{"eth1", "eth2"},
		Captures: map[string]string{"gw": "routes.running.destination==\"0.0.0.0/0\""},
	}
}

func TestExpand(t *testing.T) {
	for name, test := range map[string]struct {
		matched     []string
		state, want string
	}{
		"an entry without a name is there once for each matched interface": {
			state: `interfaces: [{type: ethernet, description: "port {{ match.name }}", mtu: 9000}]`,
			want:  `interfaces: [{name: eth1, type: ethernet, description: port eth1, mtu: 9000}, {name: eth2, type: ethernet, description: port eth2, mtu: 9000}]`,
		},
		"so is one with the template in its name, with what it stands on": {
			state: `interfaces: [{name: "{{ match.name }}.7", type: vlan, vlan: {id: 7, base-iface: "{{match.name}}"}}]`,
			want:  `interfaces: [{name: eth1.7, type: vlan, vlan: {id: 7, base-iface: eth1}}, {name: eth2.7, type: vlan, vlan: {id: 7, base-iface: eth2}}]`,
		},
		"ports of a bridge and of a bond are repeated, not the bridge or the bond": {
			state: `interfaces: [{name: br1, bridge: {port: [{name: "{{ match.name }}", vlan: {}}, {name: extra}]}}, {name: bond0, link-aggregation: {port: ["{{ match.name }}"]}}]`,
			want:  `interfaces: [{name: br1, bridge: {port: [{name: eth1, vlan: {}}, {name: eth2, vlan: {}}, {name: extra}]}}, {name: bond0, link-aggregation: {port: [eth1, eth2]}}]`,
		},
		"routes are repeated": {
			state: `routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: "{{ match.name }}"}]}`,
			want:  `routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: eth1}, {destination: 198.51.100.0/24, next-hop-interface: eth2}]}`,
		},
		"the value of a Secret stays a reference, in an entry for each matched interface too": {
			state: `{interfaces: [{802.1x: {identity: "{{ var.rack }}", password: "{{secret.wifi.password}}"}}]}`,
			want:  `{interfaces: [{name: eth1, 802.1x: {identity: r7, password: "{{ secret.wifi.password }}"}}, {name: eth2, 802.1x: {identity: r7, password: "{{ secret.wifi.password }}"}}]}`,
		},
		"what does not depend on the match is there once": {
			state: `{interfaces: [{name: eth9, mtu: 1400}, {mtu: 1500}], dns-resolver: {config: {server: [192.0.2.1]}}}`,
			want:  `{interfaces: [{name: eth9, mtu: 1400}, {name: eth1, mtu: 1500}, {name: eth2, mtu: 1500}], dns-resolver: {config: {server: [192.0.2.1]}}}`,
		},
		"where nothing matches only that is left, and no list is emptied": {
			matched: []string{},
			state:   `{interfaces: [{mtu: 1500}, {name: br1, bridge: {port: [{name: "{{ match.name }}"}], options: {stp: {enabled: false}}}}], routes: {config: [{next-hop-interface: "{{ match.name }}"}]}}`,
			want:    `interfaces: [{name: br1, bridge: {options: {stp: {enabled: false}}}}]`,
		},
		"where nothing matches an entry without a name leaves nothing": {
			matched: []string{}, state: `interfaces: [{mtu: 1500}]`, want: `{}`,
		},
		"an empty list that was written stays": {
			state: `interfaces: [{name: br1, bridge: {port: []}}]`, want: `interfaces: [{name: br1, bridge: {port: []}}]`,
		},
		"variables stand in every text, and become numbers and booleans": {
			state: `interfaces: [{name: "br-{{ var.rack }}", mtu: "{{ var.mtu }}", ipv4: {enabled: "{{ var.on }}", address: [{ip: "{{var.net}}.{{ var.net }}", prefix-length: "2{{ var.mtu }}"}]}}]`,
			want:  `interfaces: [{name: br-r7, mtu: 9000, ipv4: {enabled: true, address: [{ip: 192.0.2.192.0.2, prefix-length: 29000}]}}]`,
		},
		"a number in the place of a text stays text": {
			state: `interfaces: [{name: "{{ var.mtu }}", profile-name: "{{ var.mtu }}"}]`,
			want:  `interfaces: [{name: "9000", profile-name: "9000"}]`,
		},
		"captures stay for libnmstate": {
			state: `interfaces: [{name: "{{capture.gw.routes.running.0.next-hop-interface}}", description: "{{ var.rack }} {{ capture.gw.x }}"}]`,
			want:  `interfaces: [{name: "{{ capture.gw.routes.running.0.next-hop-interface }}", description: "r7 {{ capture.gw.x }}"}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			templates := twoMatched()
			if test.matched != nil {
				templates.Matched = test.matched
			}
			got, err := Expand(stateOf(t, test.state).JSON(), templates)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(stateOf(t, test.want).JSON()), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestExpandNamesWhatStandsForNothing(t *testing.T) {
	none := Templates{}
	for name, test := range map[string]struct {
		templates   Templates
		state, want string
	}{
		"an unknown name":                            {twoMatched(), `interfaces: [{name: "{{ mach.name }}"}]`, `reading spec.desiredState: interfaces[0].name: {{ mach.name }} names nothing: a template is match.name, var.NAME, capture.NAME or secret.NAME.KEY`},
		"nothing between the braces":                 {twoMatched(), `hostname: {config: "{{}}"}`, `reading spec.desiredState: hostname.config: {{  }} names nothing: a template is match.name, var.NAME, capture.NAME or secret.NAME.KEY`},
		"a template that does not end":               {twoMatched(), `hostname: {config: "a{{ var.rack }"}`, `reading spec.desiredState: hostname.config: "a{{ var.rack }" begins a template with {{ and does not end it with }}`},
		"an unknown variable":                        {twoMatched(), `interfaces: [{name: e, mtu: "{{ var.mut }}"}]`, `reading spec.desiredState: interfaces[0].mtu: {{ var.mut }}: spec.variables has no such variable; there is mtu, net, on, rack`},
		"a variable of a policy without any":         {none, `interfaces: [{name: e, mtu: "{{ var.mtu }}"}]`, `reading spec.desiredState: interfaces[0].mtu: {{ var.mtu }}: spec.variables has no such variable`},
		"an unknown capture":                         {none, `interfaces: [{name: "{{ capture.gw.interfaces.0.name }}"}]`, `reading spec.desiredState: interfaces[0].name: {{ capture.gw.interfaces.0.name }}: spec.capture has no capture "gw"`},
		"match.name without spec.match":              {none, `interfaces: [{name: "{{ match.name }}"}]`, `reading spec.desiredState: interfaces[0]: {{ match.name }} needs spec.match, which selects the interfaces that it stands for`},
		"a Secret where it would be shown":           {twoMatched(), `interfaces: [{name: eth1, description: "{{ secret.wifi.password }}"}]`, `reading spec.desiredState: interfaces[0].description: {{ secret.wifi.password }} cannot stand here, where its value would be shown: it may be the value of password, private-key-password, mka-cak, psk, and in ovs-db of a key that ends in _password or _psk`},
		"a variable where a secret stands":           {twoMatched(), `interfaces: [{name: eth1, 802.1x: {password: "{{ var.rack }}"}}]`, `reading spec.desiredState: interfaces[0].802.1x.password: a variable cannot stand here, since the enactment shows the values of variables: write {{ secret.NAME.KEY }}`},
		"a Secret that is not named right":           {twoMatched(), `interfaces: [{name: eth1, 802.1x: {password: "x{{ secret.wifi.password }}"}}]`, `reading spec.desiredState: interfaces[0].802.1x.password: a value of a Secret is named by {{ secret.NAME.KEY }}, with nothing beside it; NAME has no dots`},
		"match.name outside of every list":           {twoMatched(), `hostname: {config: "{{ match.name }}"}`, `reading spec.desiredState: hostname.config: {{ match.name }} is not in an item of a list, which could be repeated for each matched interface`},
		"a template as a key":                        {twoMatched(), `ovs-db: {external_ids: {"{{ var.rack }}": x}}`, `reading spec.desiredState: ovs-db.external_ids.{{ var.rack }}: a template can be a value but no key`},
		"one name for several interfaces":            {twoMatched(), `interfaces: [{name: v7, vlan: {base-iface: "{{ match.name }}"}}]`, `reading spec.desiredState: interfaces[v7] is there twice, beside the entry for a matched interface or once for each of several: say all in one entry, or put {{ match.name }} into its name`},
		"a matched interface with its own entry too": {twoMatched(), `interfaces: [{mtu: 1500}, {name: eth2, mtu: 1400}]`, `reading spec.desiredState: interfaces[eth2] is there twice, beside the entry for a matched interface or once for each of several: say all in one entry, or put {{ match.name }} into its name`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Expand(stateOf(t, test.state).JSON(), test.templates)
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestAStateWithoutTemplatesStaysAsItIsWritten(t *testing.T) {
	const raw = `{"interfaces": [ {"name":"e", "mtu": "1500"} ]}`
	if got, err := Expand([]byte(raw), Templates{}); err != nil || string(got) != raw {
		t.Errorf("%s, %v", got, err)
	}
}

// FuzzExpand: whatever is written, the outcome is an error or a state in which
// only captures' templates are left, and it does not depend on the order.
func FuzzExpand(f *testing.F) {
	for _, seed := range []string{
		`{"interfaces":[{"mtu":"{{ var.v }}"}]}`, `{"interfaces":[{"name":"{{ match.name }}","x":["{{match.name}}"]}]}`,
		`{"a":[["{{ match.name }}"],[]],"b":{"c":[{"d":"{{ var.e }}{ x }}"}]}}`, `{"a":"\u007b\u007b x }}"}`, `{"a":"{{{ var.v }}}"}`,
		`{"a":"}} {{ capture.c.x }}"}`, `{"{{ var.v }}":1}`, `[]`, `null`, `{"interfaces":{"name":null}}`,
	} {
		f.Add([]byte(seed), "value", "eth1")
	}
	f.Fuzz(func(t *testing.T, raw []byte, value, name string) {
		variables, err := Variables(map[string]v1.Variable{"v": {Default: &value, Values: map[string]string{}}, "e": {Values: map[string]string{"": ""}}}, &corev1.Node{})
		if err != nil {
			return
		}
		templates := Templates{Variables: variables, Matching: name != "", Matched: []string{name, "eth2"}, Captures: map[string]string{"c": ""}}
		got, err := Expand(raw, templates)
		if err != nil {
			return
		}
		templates.Captures, templates.Matching = nil, false
		text := strings.ReplaceAll(strings.ReplaceAll(string(got), "{{ capture.c", ""), `\u00`, "")
		if strings.Contains(text, opening) {
			t.Errorf("%s leaves %s", raw, got)
		}
		if _, err := Render(got, 0, true); err == nil {
			again, err := Expand(got, Templates{Captures: map[string]string{"c": ""}})
			if err != nil || string(again) != string(got) && string(again) != string(stateOf(t, string(got)).JSON()) {
				t.Errorf("expanded again: %s, %v", again, err)
			}
		}
	})
}

func TestVariables(t *testing.T) {
	fallback := "1500"
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: "node1", Labels: map[string]string{"rack": "r1", "empty": ""}, Annotations: map[string]string{"example.com/asn": "64512", "odd": "{{ var.x }}"},
	}}
	for name, test := range map[string]struct {
		variable    v1.Variable
		value, want string
	}{
		"of a label":                          {v1.Variable{FromLabel: "rack"}, "r1", ""},
		"of an empty label":                   {v1.Variable{FromLabel: "empty", Default: &fallback}, "", ""},
		"of an annotation":                    {v1.Variable{FromAnnotation: "example.com/asn"}, "64512", ""},
		"of the table":                        {v1.Variable{Values: map[string]string{"node1": "a", "node2": "b"}}, "a", ""},
		"the default where the node has none": {v1.Variable{FromLabel: "mtu", Default: &fallback}, "1500", ""},
		"no label":                            {v1.Variable{FromLabel: "mtu"}, "", "spec.variables[x]: node node1 has no label mtu, and there is no default"},
		"no annotation":                       {v1.Variable{FromAnnotation: "mtu"}, "", "spec.variables[x]: node node1 has no annotation mtu, and there is no default"},
		"not in the table":                    {v1.Variable{Values: map[string]string{"node2": "b"}}, "", "spec.variables[x]: node node1 has no entry in values, and there is no default"},
		"a template as a value":               {v1.Variable{FromAnnotation: "odd"}, "", `spec.variables[x]: the value "{{ var.x }}" of node node1 (annotation odd) has a brace, which only templates have`},
	} {
		t.Run(name, func(t *testing.T) {
			values, err := Variables(map[string]v1.Variable{"x": test.variable}, node)
			if test.want != "" {
				if err == nil || err.Error() != test.want {
					t.Errorf("got  %v\nwant %s", err, test.want)
				}
				return
			}
			if err != nil || values["x"] != test.value {
				t.Errorf("got %q, %v", values["x"], err)
			}
		})
	}
}

func TestVariablesInProbesAndCaptures(t *testing.T) {
	values := map[string]string{"gw": "192.0.2.1"}
	written := []v1.Probe{{Type: v1.ProbeTCP, Target: "{{ var.gw }}:179"}, {Type: v1.ProbeConfirm}}
	filled, err := Probes(written, values)
	if err != nil || filled[0].Target != "192.0.2.1:179" || filled[1].Target != "" || written[0].Target != "{{ var.gw }}:179" {
		t.Errorf("%v of %v, %v", filled, written, err)
	}
	_, err = Probes([]v1.Probe{{Target: "{{ match.name }}"}}, values)
	if want := "spec.probes[0].target: {{ match.name }} is not in an item of a list, which could be repeated for each matched interface"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	captures, err := FillCaptures(map[string]string{"base": `interfaces.name == "{{ var.gw }}"`}, values)
	if err != nil || captures["base"] != `interfaces.name == "192.0.2.1"` {
		t.Errorf("%v, %v", captures, err)
	}
	if _, err = FillCaptures(map[string]string{"base": "{{ var.no }}"}, values); err == nil || !strings.HasPrefix(err.Error(), "spec.capture[base]: {{ var.no }}: spec.variables has no such variable") {
		t.Errorf("got %v", err)
	}
}
