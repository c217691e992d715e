package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// SampleLeaf is a place of the tables with documents that say something of it.
type SampleLeaf struct {
	Place string
	// Is has a value, Spelled the same in other words, Other another one, Before a third.
	Is, Other, Before []byte
	Spelled           [][]byte
	// Key: the value says which entry of a list is meant.
	Key bool
	// Unread: no node reports it in a form that can be compared.
	Unread bool
}

// Leaves are those of every type of interface and of the node.
func Leaves() []SampleLeaf {
	var all []SampleLeaf
	add := func(place string, s *schema, wrap func(any) any) {
		values := sampleValues(s)
		if len(values.is) == 0 || elsewhere(place) {
			return
		}
		leaf := SampleLeaf{Place: place, Is: marshalled(wrap(values.is[0])), Other: marshalled(wrap(values.other)), Before: marshalled(wrap(values.before))}
		for _, spelled := range values.is[1:] {
			leaf.Spelled = append(leaf.Spelled, marshalled(wrap(spelled)))
		}
		leaf.Key, leaf.Unread = isSampleKey(place), isUnreadLeaf(place)
		all = append(all, leaf)
	}
	for _, key := range sortedSchemas(vocabulary.state) {
		switch key {
		case "interfaces":
		default:
			eachLeaf(vocabulary.state[key], key, func(value any) any { return map[string]any{key: value} }, add)
		}
	}
	for _, kind := range sortedNames(vocabulary.whole) {
		if kind == "" {
			continue
		}
		sections := vocabulary.whole[kind]
		if !slices.Contains([]string{"ethernet", "ovs-bridge", "wireguard"}, kind) { // What all types have is the same.
			sections = vocabulary.types[kind]
		}
		for _, key := range sortedSchemas(sections) {
			if slices.Contains([]string{"name", "type", "state", "identifier"}, key) || sections[key].alias != "" {
				continue
			}
			eachLeaf(sections[key], kind+"."+key, func(value any) any {
				entry := map[string]any{"name": "x", "type": kind, "state": "up"}
				for _, section := range sortedSchemas(vocabulary.types[kind]) {
					if s := vocabulary.types[kind][section]; len(s.required) > 0 && s.alias == "" && kind != "ethernet" && kind != "veth" && kind != "ovs-interface" {
						entry[section] = smallest(s)
					}
				}
				entry[key] = value
				return map[string]any{"interfaces": []any{entry}}
			}, add)
		}
	}
	return all
}

// eachLeaf goes down to what is no object; of a list there is one entry.
func eachLeaf(s *schema, place string, wrap func(any) any, add func(string, *schema, func(any) any)) {
	switch s.kind {
	case aKeyed, aSwitch:
		for _, key := range sortedSchemas(s.keys) {
			if s.keys[key].alias != "" {
				continue
			}
			eachLeaf(s.keys[key], place+"."+key, func(value any) any {
				with := smallest(s)
				for _, other := range s.either {
					delete(with, other)
				}
				maps.Copy(with, beside(place, key))
				with[key] = value
				return wrap(with)
			}, add)
		}
	case aMap:
		eachLeaf(s.item, place+".k", func(value any) any { return wrap(map[string]any{"k": value}) }, add)
	case aList:
		eachLeaf(s.item, place+"[]", func(value any) any { return wrap([]any{value}) }, add)
	default:
		add(place, s, wrap)
	}
}

// beside is what a key needs beside it to mean anything.
func beside(place, key string) map[string]any {
	last := place[strings.LastIndex(place, ".")+1:]
	switch {
	case (last == "ipv4" || last == "ipv6") && (strings.HasPrefix(key, "auto-") || strings.HasPrefix(key, "dhcp-")):
		return map[string]any{"enabled": true, "dhcp": true}
	case last == "ipv4" || last == "ipv6":
		return map[string]any{"enabled": true}
	case last == "bridge-mappings[]":
		return map[string]any{"bridge": "br", "localnet": "net"}
	}
	return nil
}

type values struct {
	is            []any
	other, before any
}

// sampleValues of a leaf: the first in one spelling, then in the others.
func sampleValues(s *schema) values {
	number := func(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }
	switch s.kind {
	case aText, aWord:
		return values{[]any{"a"}, "b", "c"}
	case aMAC:
		return values{[]any{"02:00:00:00:00:0A", "02-00-00-00-00-0a", "02:00:00:00:00:0a"}, "02:00:00:00:00:0B", "02:00:00:00:00:0C"}
	case aWhole, aNumber:
		least := max(s.within.least, 0)
		is := min(least+10, s.within.most)
		made := values{[]any{number(is)}, number(least + 1), number(least + 2)}
		if s.kind == aWhole {
			made.is = append(made.is, strconv.FormatInt(is, 10))
			if s.within.least == 0 {
				made.is = append(made.is, fmt.Sprintf("0x%x", is))
			}
		}
		return made
	case aBool:
		return values{[]any{true, "yes", "ON", json.Number("1")}, false, false}
	case aFlag:
		return values{[]any{true}, false, false}
	case anIP:
		if s.family == IPv4 {
			return values{[]any{"192.0.2.1"}, "192.0.2.2", "192.0.2.3"}
		}
		return values{[]any{"2001:db8::1", "2001:DB8:0::1"}, "2001:db8::2", "2001:db8::3"}
	case aNetwork:
		return values{[]any{"192.0.2.0/24", "192.0.2.7/24"}, "198.51.100.0/24", "203.0.113.0/24"}
	case aChoice:
		firsts := slices.DeleteFunc(slices.Clone(s.values), func(word string) bool { return s.first[word] != "" })
		if len(firsts) < 2 {
			return values{}
		}
		made := values{[]any{firsts[0]}, firsts[1], firsts[len(firsts)-1]}
		for _, other := range slices.Sorted(maps.Keys(s.first)) {
			if s.first[other] == firsts[0] {
				made.is = append(made.is, other)
			}
		}
		return made
	}
	return values{}
}

// isSampleKey tells the leaves that say which entry of a list is meant: another value is
// another entry. A route rule and a range of VLANs are nothing but that.
func isSampleKey(place string) bool {
	if strings.HasSuffix(place, "[]") || strings.HasPrefix(place, "route-rules.") || strings.Contains(place, "trunk-tags[].id-range.") {
		return true
	}
	_, last, found := strings.Cut(place[max(0, strings.LastIndex(place, "[]")):], "[].")
	return found && slices.Contains([]string{"name", "id", "ip", "prefix-length", "from", "localnet", "destination", "next-hop-interface", "table-id"}, last)
}

// unread are leaves that are not compared with what a node reports, and why. What ends
// with a dot is all below.
func unread() map[string]string {
	const hint, counts, defaults, form = "says which interface is meant, or how", "counts down", "NetworkManager's default is reported where nothing is set", "nmstate reports it in another form"
	return map[string]string{
		".802.1x.": "nmstate reports no secret, and not the rest of it", ".mka-cak": "nmstate reports no secret", ".mka-ckn": "nmstate reports no secret",
		".libreswan.": form, ".pkey": form, ".dhcp-client-id": form, ".dhcp-duid": form,
		".min-mtu": "the device has it", ".max-mtu": "the device has it", ".max-vfs": "the device has it", ".iface-name": "the kernel names virtual functions",
		".permanent-mac-address": hint, ".driver": hint, ".profile-name": hint, ".copy-mac-from": hint, ".wait-ip": hint,
		".allow-extra-ports": hint, ".allow-extra-patch-ports": hint, ".allow-extra-address": hint,
		".gc-timer": counts, ".hello-timer": counts, ".valid-life-time": counts, ".preferred-life-time": counts,
		"bond.link-aggregation.options.": "the kernel rounds them, and nmstate does not verify them",
		".mptcp-flags[]":                 "the kernel sets flags of its own", "address[].protocol": "who gave the address; only reported",
		".addr-gen-mode": defaults, ".token": defaults, ".prefix-route-metric": defaults,
		"ipv4.enabled": "without an address it is off to nmstate", "ipv6.enabled": "without an address it is off to nmstate",
	}
}

// elsewhere are leaves that this test says nothing of, and why.
func elsewhere(place string) bool {
	switch place {
	case "description": // It is kept nowhere.
	case "routes.config[].state": // It makes a filter of a route: TestMerge.
	case "routes.config[].vrf-name": // It is the table of another interface: TestMissing.
	default:
		return strings.Contains(place, "running") // Only reported: nmstate sets nothing of it.
	}
	return true
}

func isUnreadLeaf(place string) bool {
	for pattern := range unread() {
		if strings.HasSuffix(pattern, ".") && strings.Contains(place, pattern) || strings.HasSuffix(place, pattern) {
			return true
		}
	}
	return false
}

func marshalled(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return raw
}
