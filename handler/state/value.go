package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The values of a tree are those of decoded JSON with numbers kept as
// json.Number: map[string]any, []any, string, bool, json.Number and nil.

func object(value any) map[string]any {
	tree, _ := value.(map[string]any)
	return tree
}

func list(value any) []any {
	items, _ := value.([]any)
	return items
}

// objects are the elements of a list that are objects.
func objects(value any) []map[string]any {
	var found []map[string]any
	for _, item := range list(value) {
		if tree, ok := item.(map[string]any); ok {
			found = append(found, tree)
		}
	}
	return found
}

// text is a scalar as text: nmstate reads a number where it expects a name.
func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

func texts(value any) []string {
	var found []string
	for _, item := range list(value) {
		if t := text(item); t != "" {
			found = append(found, t)
		}
	}
	return found
}

// integer is a whole number, also when written as text ("1500", "0x1f").
func integer(value any) (int64, bool) {
	var written string
	switch v := value.(type) {
	case json.Number:
		written = v.String()
	case string:
		written = strings.TrimSpace(v)
	default:
		return 0, false
	}
	if number, err := strconv.ParseInt(written, 10, 64); err == nil {
		return number, true
	}
	lower := strings.ToLower(written)
	if strings.HasPrefix(lower, "0x") || strings.HasPrefix(lower, "0b") || strings.HasPrefix(lower, "0o") {
		if number, err := strconv.ParseInt(lower, 0, 64); err == nil {
			return number, true
		}
	}
	return 0, false
}

// truth is a boolean in any of the spellings that nmstate reads.
func truth(value any) (is, ok bool) {
	switch v := value.(type) {
	case bool:
		return v, true
	case string, json.Number:
		switch strings.ToLower(text(v)) {
		case "1", "true", "yes", "on", "y":
			return true, true
		case "0", "false", "no", "off", "n":
			return false, true
		}
	}
	return false, false
}

// copied is a deep copy in which every value has one of the tree's types.
func copied(value any) any {
	switch v := value.(type) {
	case nil, string, bool, json.Number:
		return v
	case map[string]any:
		return copiedObject(v)
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = copied(item)
		}
		return items
	case int:
		return json.Number(strconv.Itoa(v))
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	}
	return decoded(value)
}

func copiedObject(tree map[string]any) map[string]any {
	if tree == nil {
		return nil
	}
	same := make(map[string]any, len(tree))
	for key, value := range tree {
		same[key] = copied(value)
	}
	return same
}

// decoded takes a Go value of any other type the long way, through JSON.
func decoded(value any) any {
	raw, err := json.Marshal(value)
	if err != nil { // Only channels, functions and the like: a mistake in the program.
		panic(fmt.Sprintf("a network state cannot hold %T: %v", value, err))
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var result any
	if err := decoder.Decode(&result); err != nil {
		panic(fmt.Sprintf("reading back %T: %v", value, err))
	}
	return result
}

func sortedKeys(tree map[string]any) []string {
	return slices.Sorted(maps.Keys(tree))
}
