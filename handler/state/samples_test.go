package state

import (
	"encoding/json"
	"strconv"
)

// smallest is an object with nothing but what it must have.
func smallest(s *schema) map[string]any {
	made := map[string]any{}
	for _, key := range s.required {
		made[key] = right(s.keys[key])[0]
	}
	if len(s.either) > 0 {
		made[s.either[0]] = right(s.keys[s.either[0]])[0]
	}
	return made
}

// right are values that the tables take.
func right(s *schema) []any {
	number := func(n int64) any { return json.Number(strconv.FormatInt(n, 10)) }
	switch s.kind {
	case aText, aWord:
		return append([]any{"text"}, words(s)...)
	case aMAC:
		return []any{"02:00:00:00:00:01", "02-00-00-00-00-01"}
	case aWhole, aNumber:
		return []any{number(s.within.least), number(s.within.most), number(s.within.least - 1), number(s.within.most + 1)}
	case aBool, aFlag:
		return []any{true, false}
	case anIP:
		if s.family == IPv4 {
			return []any{"192.0.2.1"}
		}
		return []any{"2001:db8::1"}
	case aNetwork:
		return []any{"192.0.2.0/24", "2001:db8::/32", "192.0.2.1"}
	case aShape:
		return []any{"1", "0", "255", "256", "0x4", "yes", "lo", "0000:07:00.1", "07:00.1"}
	case aChoice:
		return words(s)
	case aMap:
		return []any{map[string]any{"k": right(s.item)[0]}}
	case aList:
		return []any{[]any{right(s.item)[0]}, []any{}}
	case aSwitch:
		return []any{true, smallest(s)}
	}
	return []any{smallest(s)}
}

func words(s *schema) []any {
	var all []any
	for _, word := range s.values {
		all = append(all, word)
	}
	return all
}
