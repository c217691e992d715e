package state

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
)

func (c *checker) scalar(path string, s *schema, value any) {
	expected := ""
	switch s.kind {
	case aText, aMAC:
		if _, ok := value.(string); !ok {
			if object(value) == nil && list(value) == nil {
				c.add(path, "expected text, found %s: put it in quotes", described(MaskedAt(path, value)))
				return
			}
			expected = "text"
		}
	case aWord:
		if object(value) != nil || list(value) != nil {
			expected = "one value"
		}
	case aWhole, aNumber:
		expected = s.number(value)
	case aSwitch: // That is no object: nmstate takes words for it and no number.
		if _, ok := truth(value); !ok || !isText(value) && !isBool(value) {
			expected = "true or false, or keys and values"
		}
	case aBool:
		if _, ok := truth(value); !ok {
			expected = "true or false"
		}
	case aFlag:
		if !isBool(value) {
			expected = "true or false"
		}
	case anIP:
		c.address(path, s.family, value)
	case aShape:
		if isBool(value) || !s.shape.MatchString(text(value)) {
			expected = s.expected
		}
	case aNetwork:
		if !isScalar(value) || !isNetwork(text(value)) {
			expected = "a network such as 192.0.2.0/24 or 2001:db8::/32"
		}
	case aChoice:
		c.choice(path, s.values, value)
	}
	if expected != "" {
		c.add(path, "expected %s, found %s", expected, described(MaskedAt(path, value)))
	}
}

// number is what is expected instead of the value; empty if nothing is.
func (s *schema) number(value any) string {
	number, ok := integer(value)
	if ok && (s.kind != aNumber || !isText(value)) && s.within.least <= number && number <= s.within.most {
		return ""
	}
	if s.within.most == math.MaxInt64 {
		return "a whole number"
	}
	return fmt.Sprintf("a whole number from %d to %d", s.within.least, s.within.most)
}

func (c *checker) address(path string, family Family, value any) {
	expected := "an IP address"
	switch family {
	case IPv4:
		expected = "an IPv4 address"
	case IPv6:
		expected = "an IPv6 address"
	}
	written := text(value)
	if network, err := netip.ParsePrefix(written); err == nil {
		todo := fmt.Sprintf("leave /%d out", network.Bits())
		if family != "" {
			todo += fmt.Sprintf(" and put %d into prefix-length", network.Bits())
		}
		c.add(path, "expected %s, found %s: %s", expected, described(MaskedAt(path, value)), todo)
		return
	}
	found, err := netip.ParseAddr(written)
	if err != nil || family == IPv4 && !found.Is4() || family == IPv6 && found.Is4() {
		c.add(path, "expected %s, found %s", expected, described(MaskedAt(path, value)))
	}
}

// isNetwork takes nothing, too: it stands for every network.
func isNetwork(written string) bool {
	if written == "" {
		return true
	}
	if _, err := netip.ParsePrefix(written); err == nil {
		return true
	}
	_, err := netip.ParseAddr(written)
	return err == nil
}

func (c *checker) choice(path string, values []string, value any) {
	if slices.Contains(values, text(value)) {
		return
	}
	c.add(path, "expected %s, found %s%s", oneOf(values), described(MaskedAt(path, value)), nearest(text(value), values))
}

func isText(value any) bool {
	_, is := value.(string)
	return is
}

// described is a value as it stands in a message.
func described(value any) string {
	switch v := value.(type) {
	case nil:
		return "nothing"
	case map[string]any:
		return "keys and values"
	case []any:
		return "a list"
	case string:
		return fmt.Sprintf("%q", shortened(v))
	}
	return text(value)
}

// shortened keeps a message to one readable line.
func shortened(written string) string {
	const most = 60
	if characters := []rune(written); len(characters) > most {
		return string(characters[:most]) + "..."
	}
	return written
}
