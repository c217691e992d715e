package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// appended adds a tree's canonical JSON, byte for byte as encoding/json writes it, which
// would take three times as long.
func appended(raw []byte, value any) []byte {
	switch value := value.(type) {
	case nil:
		return append(raw, "null"...)
	case bool:
		if value {
			return append(raw, "true"...)
		}
		return append(raw, "false"...)
	case string:
		return appendedText(raw, value)
	case json.Number:
		if text := string(value); text != "" && numberIn(text) == len(text) {
			return append(raw, text...)
		}
	case []any:
		if value != nil {
			return appendedList(raw, value)
		}
	case map[string]any:
		if value != nil {
			return appendedObject(raw, value)
		}
	}
	return append(raw, inJSON(value)...)
}

func appendedList(raw []byte, items []any) []byte {
	raw = append(raw, '[')
	for i, item := range items {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = appended(raw, item)
	}
	return append(raw, ']')
}

func appendedObject(raw []byte, tree map[string]any) []byte {
	const usual = 24 // Keys; they are sorted without an allocation then.
	var room [usual]string
	keys := room[:0]
	for key := range tree {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	raw = append(raw, '{')
	for i, key := range keys {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = append(appendedText(raw, key), ':')
		raw = appended(raw, tree[key])
	}
	return append(raw, '}')
}

func appendedText(raw []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return append(raw, inJSON(text)...)
		}
	}
	raw = append(raw, '"')
	raw = append(raw, text...)
	return append(raw, '"')
}

func inJSON(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil { // The tree came from JSON, so it goes back to JSON.
		panic(fmt.Sprintf("marshalling a network state: %v", err))
	}
	return raw
}

// sameTree tells whether two trees have the same JSON.
func sameTree(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		if b, is := b.(map[string]any); is && a != nil && b != nil {
			return sameObject(a, b)
		}
	case []any:
		if b, is := b.([]any); is && a != nil && b != nil {
			return slices.EqualFunc(a, b, sameTree)
		}
	case string:
		if b, is := b.(string); is {
			return a == b
		}
	case json.Number:
		if b, is := b.(json.Number); is && a == b {
			return true
		}
	case bool:
		if b, is := b.(bool); is {
			return a == b
		}
	case nil:
		if b == nil {
			return true
		}
	}
	return bytes.Equal(appended(nil, a), appended(nil, b))
}

func sameObject(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for key, value := range a {
		other, there := b[key]
		if !there || !sameTree(value, other) {
			return false
		}
	}
	return true
}
