package state

import (
	"maps"
	"slices"
	"strings"
)

// formerName is nmstate's key for one that people know from older versions of
// nmstate or from other tools.
func formerName(key string) string {
	switch key {
	case "slaves", "slave":
		return "port"
	case "master":
		return "controller"
	case "aggregation", "bonding":
		return "link-aggregation"
	case "addresses":
		return "address"
	case "servers", "nameservers", "nameserver":
		return "server"
	case "base-interface", "parent":
		return "base-iface"
	case "gateway", "via":
		return "next-hop-address"
	case "mac":
		return "mac-address"
	case "dns":
		return "dns-resolver"
	case "rules":
		return "route-rules"
	}
	return ""
}

// suggestion completes the message about an unknown key, if some known key is
// near enough to be what was meant.
func suggestion(key string, known ...keys) string {
	names := slices.Collect(maps.Keys(joinKeys(known...)))
	if former := formerName(key); former != "" && slices.Contains(names, former) {
		return didYouMean(former)
	}
	return nearest(key, names)
}

func didYouMean(name string) string { return `, did you mean "` + name + `"?` }

// nearest suggests the one of the names that differs in the fewest letters:
// at most one in three may be wrong.
func nearest(written string, names []string) string {
	names = slices.Sorted(slices.Values(names))
	written = plainKey(shortened(written))
	best, fewest := "", max(1, len(written)/3)+1
	for _, name := range names {
		if distance := editDistance(written, plainKey(name)); distance < fewest {
			best, fewest = name, distance
		}
	}
	if best == "" {
		return ""
	}
	return didYouMean(best)
}

func plainKey(key string) string { return strings.ReplaceAll(strings.ToLower(key), "_", "-") }

// editDistance counts the letters to insert, delete, replace or swap.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// oneOf lists what a value may be, numbers aside: those are second spellings.
func oneOf(values []string) string {
	var words []string
	for _, value := range values {
		if _, number := integer(value); !number && value != "unknown" {
			words = append(words, value)
		}
	}
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + strings.Join(words, ", ")
}

func sortedSchemas(known keys) []string { return slices.Sorted(maps.Keys(known)) }

func sortedNames(types map[string]keys) []string { return slices.Sorted(maps.Keys(types)) }
