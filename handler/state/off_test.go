package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestFamiliesThatAStateSwitchesOff(t *testing.T) {
	for sentence, test := range map[string]struct {
		text string
		want []Off
	}{
		"a family that is disabled":                  {`interfaces: [{name: eth1, state: up, ipv4: {enabled: false}, ipv6: {enabled: true, autoconf: true}}]`, []Off{{"eth1", IPv4}}},
		"also on one that is down":                   {`interfaces: [{name: eth1, state: down, ipv4: {enabled: false}, ipv6: {enabled: false}}]`, []Off{{"eth1", IPv4}, {"eth1", IPv6}}},
		"one that is on without addresses":           {`interfaces: [{name: eth1, ipv4: {enabled: true, dhcp: false, address: []}}]`, []Off{{"eth1", IPv4}}},
		"not one whose addresses come by DHCP":       {`interfaces: [{name: eth1, ipv4: {enabled: true, dhcp: true, address: []}}]`, nil},
		"not one whose addresses the state keeps":    {`interfaces: [{name: eth1, ipv4: {enabled: true}}]`, nil},
		"not one of which nothing is said":           {`interfaces: [{name: eth1, state: up}]`, nil},
		"not one of an interface whose profile goes": {`interfaces: [{name: eth1, state: absent, ipv4: {enabled: false}}]`, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			raw, err := yaml.YAMLToJSON([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			s := parsed(t, string(raw))
			if diff := cmp.Diff(test.want, s.Off()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
