package state

import (
	"encoding/json"
	"slices"
	"strings"
)

// Hidden stands for a secret in whatever people read: messages, events, logs, plans.
const Hidden = "(hidden)"

// secretKeys are those of nmstate's own.
func secretKeys() []string { return []string{"password", "private-key-password", "mka-cak", "psk"} }

// isSecret tells whether a key's value is one: of 802.1X, MACsec, IPsec and of
// what Open vSwitch keeps beside its own settings. What is public is not: a key's
// name (mka-ckn), a certificate, a path to a key.
func isSecret(key string) bool {
	return slices.Contains(secretKeys(), key) || strings.HasSuffix(key, "_psk") || strings.HasSuffix(key, "-psk") ||
		strings.HasSuffix(key, "_password") || strings.HasSuffix(key, "-password")
}

// Masked is a deep copy of a value without its secrets.
func Masked(value any) any {
	switch value := value.(type) {
	case map[string]any:
		tree := make(map[string]any, len(value))
		for key, item := range value {
			if tree[key] = Masked(item); item != nil && isSecret(key) {
				tree[key] = Hidden
			}
		}
		return tree
	case []any:
		list := make([]any, len(value))
		for i, item := range value {
			list[i] = Masked(item)
		}
		return list
	}
	return value
}

// MaskedAt is Masked for the value at a path, "interfaces[eth1].802.1x.password".
func MaskedAt(path string, value any) any {
	if value != nil && isSecret(path[strings.LastIndex(path, ".")+1:]) {
		return Hidden
	}
	return Masked(value)
}

// maskedText is a value's text at a path; nothing stays nothing.
func maskedText(path, text string) string {
	if text == "" {
		return ""
	}
	return MaskedAt(path, text).(string)
}

// shown is a value as a message shows it.
func shown(value any) string { return encoded(Masked(value)) }

// encoded is a value as text, secrets included: equal values have equal texts.
func encoded(value any) string {
	switch value.(type) {
	case map[string]any, []any:
		raw, err := json.Marshal(value)
		if err != nil {
			return ""
		}
		return string(raw)
	}
	return text(value)
}
