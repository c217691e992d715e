package v1_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

// warnings are what the API server warned of.
type warnings struct {
	mu   sync.Mutex
	said []string
}

func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, text)
}

func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := w.said
	w.said = nil
	return said
}

// warnedStates are desired states with a mistake, and what the API server says.
func warnedStates() map[string]refusal {
	return map[string]refusal{
		"a misspelt key at the top":            {`{interface: []}`, `unknown key "interface"; there are description, dns-resolver,`},
		"an object for a list":                 {`{interfaces: {name: eth1}}`, "spec.desiredState.interfaces: expected a list"},
		"an unknown type of interface":         {`{interfaces: [{name: br1, type: linux-brigde}]}`, `unknown interface type "linux-brigde"`},
		"a misspelt key of an interface":       {`{interfaces: [{name: eth1, type: ethernet, ipv4s: {}}]}`, `spec.desiredState.interfaces[eth1]: unknown key "ipv4s" for type ethernet`},
		"a section of another type":            {`{interfaces: [{name: eth1, type: ethernet, vlan: {id: 3}}]}`, `spec.desiredState.interfaces[eth1]: unknown key "vlan" for type ethernet`},
		"a misspelt key of an IP":              {`{interfaces: [{name: eth1, type: ethernet, ipv4: {enabeld: true}}]}`, "spec.desiredState.interfaces[eth1]: an unknown key in ipv4 or ipv6: enabeld"},
		"a prefix of 33 bits":                  {`{interfaces: [{name: eth1, ipv4: {address: [{ip: 192.0.2.1, prefix-length: 33}]}}]}`, "a prefix-length is 0 to 32 in ipv4 and 0 to 128 in ipv6"},
		"a prefix of 129 bits":                 {`{interfaces: [{name: eth1, ipv6: {address: [{ip: "2001:db8::1", prefix-length: 129}]}}]}`, "a prefix-length is 0 to 32 in ipv4 and 0 to 128 in ipv6"},
		"an address with its prefix":           {`{interfaces: [{name: eth1, ipv4: {address: [{ip: 10.0.0.3/24}]}}]}`, "an address stands in ip alone; what is behind the / belongs into prefix-length"},
		"VLAN 5000":                            {`{interfaces: [{name: a, type: vlan, vlan: {base-iface: eth1, id: 5000}}]}`, "a VLAN id is 0 to 4094"},
		"an MTU of 70000":                      {`{interfaces: [{name: eth1, type: ethernet, mtu: 70000}]}`, "spec.desiredState.interfaces[eth1].mtu: 0 to 65535 for type ethernet"},
		"a password in clear text":             {`{interfaces: [{name: eth1, type: ethernet, 802.1x: {identity: a, password: b}}]}`, "spec.desiredState.interfaces[eth1]: a secret in clear text, for whoever may read policies: put it into a Secret and write {{ secret.NAME.KEY }}"},
		"a key of MACsec in clear text":        {`{interfaces: [{name: m0, type: macsec, macsec: {base-iface: eth1, mka-cak: "01"}}]}`, "spec.desiredState.interfaces[m0]: a secret in clear text"},
		"a key of IPsec in clear text":         {`{interfaces: [{name: ipsec0, type: ipsec, libreswan: {right: 192.0.2.1, psk: a}}]}`, "spec.desiredState.interfaces[ipsec0]: a secret in clear text"},
		"a key of Open vSwitch in clear text":  {`{ovs-db: {external_ids: {remote_psk: a}}}`, "spec.desiredState.ovs-db: a secret in clear text"},
		"one of a bridge of Open vSwitch":      {`{interfaces: [{name: br0, type: ovs-bridge, ovs-db: {external_ids: {remote_psk: a}}}]}`, "spec.desiredState.interfaces: a secret in clear text in ovs-db"},
		"an interface's name that is too long": {`{interfaces: [{name: sixteen-letters-, type: linux-bridge}]}`, "the name of an interface has at most 15 characters"},
	}
}

// warns: what is wrong in a desired state is taken, with a warning; what is right is
// taken without one, the examples of the documentation and the samples of the parser
// among them.
func warns(t *testing.T, plane *controlplane.ControlPlane) {
	config, err := plane.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	heard := &warnings{}
	config.WarningHandler = heard
	api, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	install(t, api, "../../deploy/admission/mistakes.yaml")
	dryRun := func(name string, spec any) []string {
		t.Helper()
		tree := object(t, policy(name, "{}"))
		tree.Object["spec"] = spec
		heard.take()
		if err := api.Create(t.Context(), tree, client.DryRunAll); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return heard.take()
	}
	controlplanetest.Eventually(t, func(context.Context) error { // A policy for admission takes effect a moment later.
		if len(dryRun("first", map[string]any{"desiredState": map[string]any{"interface": "x"}})) == 0 {
			return fmt.Errorf("no warning yet")
		}
		return nil
	})
	for sentence, warned := range warnedStates() {
		t.Run(sentence, func(t *testing.T) {
			said := dryRun("wrong", object(t, "desiredState: "+warned.spec).Object)
			if len(said) != 1 || !strings.Contains(said[0], warned.message) {
				t.Errorf("warnings %q, want %q", said, warned.message)
			}
		})
	}
	for name, spec := range goodSpecs(t) {
		said := dryRun("good", spec)
		if text := fmt.Sprint(spec); (strings.Contains(text, "mka-cak:50b7") || strings.Contains(text, "private-key-password:secret")) && len(said) == 1 && strings.Contains(said[0], "a secret in clear text") {
			continue // It is to be copied as it is, and gives its warning.
		}
		if len(said) > 0 {
			t.Errorf("%s: warnings %q", name, said)
		}
	}
}

// goodSpecs are those of the documentation, but for the one with a mistake, and one
// for each sample of the parser.
func goodSpecs(t *testing.T) map[string]any {
	good := map[string]any{
		"templates":                 object(t, `{variables: {m: {values: {node1: "1400"}}}, desiredState: {interfaces: "{{ capture.x.interfaces }}"}}`).Object,
		"templates in an interface": object(t, `{desiredState: {interfaces: [{name: "{{ capture.a.interfaces.0.name }}", type: "{{ var.t }}", mtu: "{{ var.m }}"}]}}`).Object,
		"secrets by reference": object(t, `{desiredState: {interfaces: [{name: eth1, type: ethernet, 802.1x: {private-key: /etc/key.pem, password: "{{ secret.a.b }}"}}],
			ovs-db: {external_ids: {psk-of: x}}}}`).Object,
		"what is to go":    object(t, `{desiredState: {interfaces: [{name: br1, type: linux-bridge, state: absent, whatever: 1}]}}`).Object,
		"what has no name": object(t, `{match: [{name: "eth*"}], desiredState: {interfaces: [{type: ethernet, mtu: 1400}]}}`).Object,
	}
	for _, pattern := range []string{"../../docs/examples/*.yaml", "../../handler/state/testdata/*.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) < 10 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, one := range bytes.Split(raw, []byte("\n---\n")) {
				tree := map[string]any{}
				if err := yaml.Unmarshal(one, &tree); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				name := fmt.Sprintf("%s (%d)", file, i)
				switch {
				case filepath.Ext(file) == ".json":
					good[name] = map[string]any{"desiredState": tree}
				case tree["kind"] == "NodeNetworkConfigurationPolicy" && filepath.Base(file) != "102-misspelt.yaml":
					good[name] = tree["spec"]
				}
			}
		}
	}
	return good
}

func install(t *testing.T, api client.Client, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for one := range bytes.SplitSeq(raw, []byte("\n---\n")) {
		inJSON, err := yaml.YAMLToJSON(one)
		tree := map[string]any{}
		if err == nil {
			err = json.Unmarshal(inJSON, &tree)
		}
		if err == nil {
			err = api.Create(t.Context(), &unstructured.Unstructured{Object: tree})
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
}
