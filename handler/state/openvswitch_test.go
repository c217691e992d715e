package state

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOpenVSwitch: forth from a node's columns, and back.
func TestOpenVSwitch(t *testing.T) {
	text := func(s string) *string { return &s }
	had := Columns{
		"external_ids": {"system-id": "rack7", "count": "3", "ovn-bridge-mappings": "b:br-b,a:br-a"},
		"other_config": {"vlan-limit": "0"},
	}
	cases := map[string]struct {
		desired     string
		now         Columns // As before, unless somebody else was there.
		forth, back Keys
	}{
		"a state that does not speak of it": {desired: `{"interfaces":[{"name":"eth1","ovs-db":{"external_ids":{"a":"1"}}}],"ovs-db":null}`,
			forth: Keys{}, back: Keys{}},
		"a value that is there is not written": {desired: `{"ovs-db":{"external_ids":{"count":3,"gone":null}}}`,
			forth: Keys{}, back: Keys{}},
		"a key is set, one changed, one taken away": {desired: `{"ovs-db":{"external_ids":{"new":true,"count":"4","system-id":null}}}`,
			forth: Keys{"external_ids": {"new": text("true"), "count": text("4"), "system-id": nil}},
			back:  Keys{"external_ids": {"new": nil, "count": text("3"), "system-id": text("rack7")}}},
		"an empty column loses everything but OVN's mappings": {desired: `{"ovs-db":{"external_ids":{}}}`,
			forth: Keys{"external_ids": {"count": nil, "system-id": nil}},
			back:  Keys{"external_ids": {"count": text("3"), "system-id": text("rack7")}}},
		"nothing at all empties both": {desired: `{"ovs-db":{}}`,
			forth: Keys{"external_ids": {"count": nil, "system-id": nil}, "other_config": {"vlan-limit": nil}},
			back:  Keys{"external_ids": {"count": text("3"), "system-id": text("rack7")}, "other_config": {"vlan-limit": text("0")}}},
		"mappings are merged and sorted, and come back in the order that they had": {
			desired: `{"ovn":{"bridge-mappings":[{"localnet":"c","bridge":"br-c"},{"localnet":"b","state":"absent"}]}}`,
			forth:   Keys{"external_ids": {"ovn-bridge-mappings": text("a:br-a,c:br-c")}},
			back:    Keys{"external_ids": {"ovn-bridge-mappings": text("b:br-b,a:br-a")}}},
		"the last mapping takes the key along": {
			desired: `{"ovn":{"bridge-mappings":[{"localnet":"a","state":"absent"},{"localnet":"b","state":"absent"}]}}`,
			forth:   Keys{"external_ids": {"ovn-bridge-mappings": nil}},
			back:    Keys{"external_ids": {"ovn-bridge-mappings": text("b:br-b,a:br-a")}}},
		"a database that is empty": {desired: `{"ovs-db":{"other_config":{"a":"1"}}}`, now: Columns{},
			forth: Keys{"other_config": {"a": text("1")}}, back: Keys{"other_config": {"a": nil}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before := had
			if c.now != nil {
				before = c.now
			}
			asked := parsed(t, c.desired).OpenVSwitch()
			forth := asked.Forth(before)
			if diff := cmp.Diff(c.forth, forth); diff != "" {
				t.Errorf("forth (-want +got):\n%s", diff)
			}
			now := written(before, forth)
			if again := asked.Forth(now); len(again) > 0 {
				t.Errorf("it is written again: %v", again.Names())
			}
			if diff := cmp.Diff(c.back, asked.Back(before, now)); diff != "" {
				t.Errorf("back (-want +got):\n%s", diff)
			}
			if again := asked.Back(before, written(now, c.back)); len(again) > 0 {
				t.Errorf("it goes back again: %v", again.Names())
			}
		})
	}
}

// written are columns with keys in them.
func written(columns Columns, keys Keys) Columns {
	result := Columns{"external_ids": {}, "other_config": {}}
	for column, values := range columns {
		maps.Copy(result[column], values)
	}
	for column, values := range keys {
		for key, value := range values {
			delete(result[column], key)
			if value != nil {
				result[column][key] = *value
			}
		}
	}
	return result
}

// TestOpenVSwitchIsLeftToOthers: what was set meanwhile beside the change's keys
// stays, and a database that was not looked into is not touched.
func TestOpenVSwitchIsLeftToOthers(t *testing.T) {
	asked := parsed(t, `{"ovs-db":{"external_ids":{"mine":"1"}}}`).OpenVSwitch()
	now := Columns{"external_ids": {"mine": "1", "theirs": "2"}}
	if got := asked.Back(Columns{"external_ids": {}}, now).Names(); cmp.Diff([]string{"external_ids:mine"}, got) != "" {
		t.Errorf("it goes back: %v", got)
	}
	if got := asked.Back(nil, now).Names(); got != nil {
		t.Errorf("without a picture it goes back: %v", got)
	}
}

// TestColumnsOfAReport: nmstate shows OVN's mappings apart.
func TestColumnsOfAReport(t *testing.T) {
	shown := parsed(t, `{"ovs-db":{"external_ids":{"system-id":"rack7"},"other_config":{}},"ovn":{"bridge-mappings":[{"localnet":"a","bridge":"br-a"}]}}`)
	want := Columns{"external_ids": {"system-id": "rack7", "ovn-bridge-mappings": "a:br-a"}, "other_config": {}}
	if diff := cmp.Diff(want, shown.Columns()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := parsed(t, `{"interfaces":[]}`).Columns(); got != nil {
		t.Errorf("a node without a database has %v", got)
	}
}

// TestForTrial: what cannot be kept in memory is left out.
func TestForTrial(t *testing.T) {
	cases := map[string]struct{ desired, want string }{
		"the hostname of the next boot":     {`{"hostname":{"config":"a","running":"b"}}`, `{"hostname":{"running":"b"}}`},
		"Open vSwitch's database":           {`{"ovs-db":{},"ovn":{"bridge-mappings":[{"localnet":"a","bridge":"b"}]},"interfaces":[]}`, `{"interfaces":[]}`},
		"all of it":                         {`{"ovs-db":{"external_ids":{"a":null}},"hostname":{"config":"a"}}`, `{}`},
		"an interface keeps its own":        {`{"interfaces":[{"name":"ovs0","ovs-db":{"external_ids":{"a":"1"}}}]}`, `{"interfaces":[{"name":"ovs0","ovs-db":{"external_ids":{"a":"1"}}}]}`},
		"a section that says nothing stays": {`{"ovn":{}}`, `{"ovn":{}}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := string(parsed(t, c.desired).ForTrial().JSON()); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
