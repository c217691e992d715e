package kernel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Query is something to ask ip for.
type Query struct {
	// Kind is the first word of each line.
	Kind string
	// Args of ip, after -json.
	Args []string
}

// Queries are what a node's configuration consists of.
func Queries() []Query {
	return []Query{
		{"link", []string{"-details", "link", "show"}},
		{"address", []string{"address", "show"}},
		{"route", []string{"-4", "route", "show", "table", "all"}},
		{"route6", []string{"-6", "route", "show", "table", "all"}},
		{"rule", []string{"-4", "rule", "show"}},
		{"rule6", []string{"-6", "rule", "show"}},
	}
}

// Lines turns the JSON list that ip answers with into sorted lines without what
// changes by itself: indexes, lifetimes, counters, timers.
func Lines(kind string, answer []byte) ([]string, error) {
	if len(strings.TrimSpace(string(answer))) == 0 {
		return nil, nil
	}
	var objects []map[string]any
	if err := json.Unmarshal(answer, &objects); err != nil {
		return nil, fmt.Errorf("reading the answer of ip: %w", err)
	}
	var lines []string
	for _, o := range objects {
		if _, ofVRFs := o["l3mdev"]; ofVRFs {
			continue // The kernel makes this rule with the first VRF, and keeps it.
		}
		if isVRF(o) || o["ifname"] == "ovs-system" { // This one stands for Open vSwitch.
			delete(o, "address") // random each time that it is made
		}
		text, err := json.Marshal(steady(o))
		if err != nil {
			return nil, fmt.Errorf("writing the answer of ip: %w", err)
		}
		if string(text) != "{}" {
			lines = append(lines, kind+" "+string(text))
		}
	}
	slices.Sort(lines)
	return lines, nil
}

// isVRF tells a VRF among links and addresses: ip tells the type of the former only.
func isVRF(o map[string]any) bool {
	flags, _ := o["flags"].([]any)
	return slices.Contains(flags, any("MASTER")) && slices.Contains(flags, any("NOARP"))
}

// Settling tells whether one of the lines has an address that the kernel still
// checks for duplicates. On a link without carrier it never begins to.
func Settling(lines string) bool {
	for line := range strings.Lines(lines) {
		if strings.Contains(line, `"tentative":true`) && !strings.Contains(line, `"NO-CARRIER"`) {
			return true
		}
	}
	return false
}

// steady drops volatile keys at every depth and sorts lists, whose order ip does
// not promise.
func steady(v any) any {
	switch v := v.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, value := range v {
			if !volatile(key) {
				kept[key] = steady(value)
			}
		}
		return kept
	case []any:
		var texts []string
		for _, value := range v {
			text, err := json.Marshal(steady(value))
			if err == nil && string(text) != "{}" {
				texts = append(texts, string(text))
			}
		}
		slices.Sort(texts)
		var list []json.RawMessage
		for _, text := range texts {
			list = append(list, json.RawMessage(text))
		}
		return list
	}
	return v
}

func volatile(key string) bool {
	switch key {
	case "ifindex", "link_index", "link_netnsid", "stats", "stats64", "fdb_n_learned", "expires", "age", "users", "used", "error",
		"valid_life_time", "preferred_life_time", "num_tx_queues", "num_rx_queues",
		"aggregator", "ad_aggregator_id", // of a bond that speaks LACP: counted up
		"cstamp", "tstamp", "topology_change", "topology_change_detected":
		return true
	}
	return strings.HasSuffix(key, "_timer")
}
