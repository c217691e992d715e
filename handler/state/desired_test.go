package state_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestEverySampleIsADesiredStateAndComesOutAsItWentIn(t *testing.T) {
	for name, raw := range samples(t) {
		t.Run(name, func(t *testing.T) {
			desired, err := state.ParseDesired(raw)
			if err != nil {
				t.Fatal(err)
			}
			unchecked := parse(t, string(raw))
			if !desired.Equal(unchecked) {
				t.Error("the checked parse changed the document")
			}
			again, err := state.Parse(desired.JSON())
			if err != nil || again.Hash() != desired.Hash() {
				t.Errorf("JSON does not come back: %v", err)
			}
			if copied := state.FromTree(desired.Tree()); !copied.Equal(desired) {
				t.Error("the tree does not come back")
			}
		})
	}
}

func TestParseDesiredRefusesByName(t *testing.T) {
	for name, test := range map[string]struct {
		raw  string
		want []string
	}{
		"a misspelt key of a bond": {
			`{"interfaces":[{"name":"bond0","type":"bond","state":"up","link-agregation":{"mode":"active-backup"}}]}`,
			[]string{`interfaces[0].bond: unknown key "link-agregation", did you mean "link-aggregation"?`},
		},
		"the same one level too deep": {
			`{"interfaces":[{"name":"bond0","type":"bond","bond":{"link-agregation":{"mode":"active-backup"}}}]}`,
			[]string{`interfaces[0].bond: unknown key "link-agregation", did you mean "link-aggregation"?`},
		},
		"a script for root, and what nmstate writes to disk at once": {
			`{"interfaces":[{"name":"eth1","alt-names":[{"name":"uplink"}],"dispatch":{"post-activation":"{{ x }}"}}]}`,
			[]string{
				"interfaces[0].alt-names: is refused: nmstate keeps alternative names in /etc/systemd/network, on disk before the change is proven; name the interface by name, mac-address or pci-address",
				"interfaces[0].dispatch: is refused: a desired state is no program; it would be a script that the node runs as root, on disk before the change is proven",
			},
		},
		"a misspelt top-level key": {
			`{"interface":[]}`,
			[]string{`unknown key "interface", did you mean "interfaces"?`},
		},
		"a number that is none": {
			`{"interfaces":[{"name":"eth0"},{"name":"eth1","type":"ethernet","mtu":"abc"}]}`,
			[]string{`interfaces[1].mtu: expected a whole number, found "abc"`},
		},
		"a fraction": {
			`{"interfaces":[{"name":"eth1","mtu":1500.5}]}`,
			[]string{`interfaces[0].mtu: expected a whole number, found 1500.5`},
		},
		"a negative size": {
			`{"interfaces":[{"name":"eth1","mtu":-1}]}`,
			[]string{`interfaces[0].mtu: expected a whole number, found -1`},
		},
		"an unknown type of interface": {
			`{"interfaces":[{"name":"br1","type":"linux-brigde"}]}`,
			[]string{`interfaces[0].type: unknown interface type "linux-brigde", did you mean "linux-bridge"?`},
		},
		"an unknown state of an interface": {
			`{"interfaces":[{"name":"br1","type":"linux-bridge","state":"upp"}]}`,
			[]string{`interfaces[0].state: expected one of up, down, absent, ignore, found "upp", did you mean "up"?`},
		},
		"a section of another type": {
			`{"interfaces":[{"name":"eth1","type":"ethernet","vlan":{"id":3}}]}`,
			[]string{`interfaces[0].ethernet: unknown key "vlan": it belongs to type vlan`},
		},
		"an unknown key where no type is given": {
			`{"interfaces":[{"name":"eth1","vlann":{"id":3}}]}`,
			[]string{`interfaces[0]: unknown key "vlann", did you mean "vlan"?`},
		},
		"the word of an older nmstate": {
			`{"interfaces":[{"name":"bond0","type":"bond","link-aggregation":{"mode":"802.3ad","slaves":["eth1"]}}]}`,
			[]string{`interfaces[0].link-aggregation: unknown key "slaves", did you mean "port"?`},
		},
		"a mode that no bond has": {
			`{"interfaces":[{"name":"bond0","type":"bond","link-aggregation":{"mode":"active-bakcup"}}]}`,
			[]string{`interfaces[0].link-aggregation.mode: expected one of balance-rr, active-backup, balance-xor, broadcast, 802.3ad, balance-tlb, balance-alb, lacp, found "active-bakcup", did you mean "active-backup"?`},
		},
		"an interface without a name": {
			`{"interfaces":[{"type":"dummy"}]}`,
			[]string{`interfaces[0]: name is missing`},
		},
		"a name that is a number": {
			`{"interfaces":[{"name":100}]}`,
			[]string{`interfaces[0].name: expected text, found 100: put it in quotes`},
		},
		"an object where a list is due, and a list where an object is due": {
			`{"interfaces":{"name":"eth1"},"routes":[]}`,
			[]string{`interfaces: expected a list, found keys and values`, `routes: expected keys and values, found a list`},
		},
		"an address that is none": {
			`{"interfaces":[{"name":"eth1","ipv4":{"address":[{"ip":"192.0.2.300","prefix-length":24}]}}]}`,
			[]string{`interfaces[0].ipv4.address[0].ip: expected an IP address, found "192.0.2.300"`},
		},
		"a key that only the other family has": {
			`{"interfaces":[{"name":"eth1","ipv4":{"autoconf":true}}]}`,
			[]string{`interfaces[0].ipv4: unknown key "autoconf"`},
		},
		"a yes that is none": {
			`{"interfaces":[{"name":"eth1","ipv4":{"enabled":"maybe"}}]}`,
			[]string{`interfaces[0].ipv4.enabled: expected true or false, found "maybe"`},
		},
		"a route with a key of another tool": {
			`{"routes":{"config":[{"destination":"0.0.0.0/0","gateway":"192.0.2.1"}]}}`,
			[]string{`routes.config[0]: unknown key "gateway", did you mean "next-hop-address"?`},
		},
		"several mistakes at once": {
			`{"interfaces":[{"name":"eth1","mtuu":1,"ipv4":{"dchp":true}}],"dns-resolver":{"config":{"servers":["192.0.2.1"]}}}`,
			[]string{
				`dns-resolver.config: unknown key "servers", did you mean "server"?`,
				`interfaces[0].ipv4: unknown key "dchp", did you mean "dhcp"?`,
				`interfaces[0]: unknown key "mtuu", did you mean "mtu"?`,
			},
		},
		"an empty entry": {`{"interfaces":[null]}`, []string{`interfaces[0]: there is nothing in this entry`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := state.ParseDesired([]byte(test.raw))
			if err == nil {
				t.Fatal("it was accepted")
			}
			if diff := cmp.Diff(test.want, strings.Split(err.Error(), "\n")); diff != "" {
				t.Error(diff)
			}
			if got := len(state.Mistakes(err)); got != len(test.want) {
				t.Errorf("%d mistakes, want %d", got, len(test.want))
			}
		})
	}
}

func TestParseDesiredAcceptsWhatNmstateAccepts(t *testing.T) {
	for name, raw := range map[string]string{
		"nothing":                          ``,
		"null":                             `null`,
		"an empty document":                `{}`,
		"numbers written as text":          `{"interfaces":[{"name":"eth1","mtu":"1400"}],"routes":{"config":[{"metric":"-1"}]}}`,
		"words for true and false":         `{"interfaces":[{"name":"eth1","ipv4":{"enabled":"Yes","dhcp":0}}]}`,
		"hexadecimal numbers":              `{"route-rules":{"config":[{"fwmark":"0x20"}]}}`,
		"an absent interface with details": `{"interfaces":[{"name":"br1","state":"absent","misspelt":1}]}`,
		"an ignored interface of any type": `{"interfaces":[{"name":"wg0","type":"wireguard","state":"ignore"}]}`,
		"templates anywhere":               `{"interfaces":[{"name":"{{ capture.nic.interfaces.0.name }}","mtu":"{{ var.mtu }}"}],"routes":{"config":"{{ capture.routes.routes.running }}"}}`,
		"null values":                      `{"interfaces":[{"name":"eth1","mtu":null,"ipv4":null}]}`,
		"an interface without a type":      `{"interfaces":[{"name":"eth1","bridge":{"port":[]},"vlan":{"id":1}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := state.ParseDesired([]byte(raw)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestParseDesiredRefusesWhatIsNoDocument(t *testing.T) {
	for name, raw := range map[string]string{
		"a list":         `[]`,
		"text":           `"interfaces"`,
		"broken JSON":    `{"interfaces":`,
		"two documents":  `{} {}`,
		"YAML by itself": "interfaces:\n- name: eth1\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := state.ParseDesired([]byte(raw)); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}

func TestOnlySoManyMistakesAreReported(t *testing.T) {
	raw := `{"interfaces":[` + strings.Repeat(`{"name":"eth1","mtuu":1},`, 50) + `{"name":"x"}]}`
	_, err := state.ParseDesired([]byte(raw))
	all := strings.Split(err.Error(), "\n")
	if len(all) != 21 || all[20] != "and 30 more" {
		t.Errorf("%d lines, the last %q", len(all), all[len(all)-1])
	}
}

func FuzzParseDesired(f *testing.F) {
	for _, raw := range samples(f) {
		f.Add(raw)
	}
	f.Add([]byte(`{"interfaces":[{"name":"bond0","type":"bond","link-agregation":{}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		desired, err := state.ParseDesired(raw)
		if err != nil {
			for _, mistake := range state.Mistakes(err) {
				if mistake.Message == "" || strings.Contains(mistake.Message, "\n") {
					t.Errorf("not one readable line: %q", mistake.Message)
				}
			}
			return
		}
		unchecked, err := state.Parse(raw)
		if err != nil {
			t.Fatalf("checked but not readable: %v", err)
		}
		if !desired.Equal(unchecked) || !state.FromTree(desired.Tree()).Equal(desired) {
			t.Error("something was lost on the way")
		}
		_ = state.Missing(desired, desired)
		_ = state.Report(desired)
		_ = state.Diff(desired, state.State{})
		if delta := state.Delta(desired, desired); !delta.IsEmpty() {
			t.Errorf("a delta to itself: %s", delta.JSON())
		}
	})
}
