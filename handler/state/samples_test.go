package state

import (
	"encoding/json"
	"strconv"
)

// sample is a document in which one place has a value worth judging.
type sample struct {
	place string
	raw   []byte
}

// samples are documents for every place of the tables.
func samples() []sample {
	var all []sample
	visit := func(place string, document any) {
		raw, err := json.Marshal(document)
		if err != nil {
			panic(err)
		}
		all = append(all, sample{place, raw})
	}
	for _, key := range sortedSchemas(vocabulary.state) {
		if key != "interfaces" {
			places(vocabulary.state[key], key, func(value any) any { return map[string]any{key: value} }, visit)
		}
	}
	inInterface := func(kind string, sections keys) {
		for _, key := range sortedSchemas(sections) {
			places(sections[key], kind+"."+key, func(value any) any {
				entry := map[string]any{"name": "e", "type": kind}
				entry[key] = value
				return map[string]any{"interfaces": []any{entry}}
			}, visit)
		}
	}
	inInterface("ethernet", vocabulary.base)
	for _, kind := range sortedNames(vocabulary.types) {
		inInterface(kind, vocabulary.types[kind])
	}
	return all
}

type visitor func(place string, document any)

// places visits every place at and below one, with values that are right there and
// values that are not; wrap makes a document of a value.
func places(s *schema, place string, wrap func(any) any, visit visitor) {
	if s == nil || s.kind == anything || s.kind == aRefusal {
		return
	}
	for _, value := range append(right(s), wrong()...) {
		visit(place, wrap(value))
	}
	switch s.kind {
	case aKeyed, aSwitch:
		whole := smallest(s)
		for key := range whole {
			without := copiedObject(whole)
			delete(without, key)
			visit(place+" without "+key, wrap(without))
		}
		unknown := copiedObject(whole)
		unknown["no-such-key"] = "1"
		visit(place+" with an unknown key", wrap(unknown))
		for _, key := range sortedSchemas(s.keys) {
			places(s.keys[key], place+"."+key, func(value any) any {
				with := smallest(s)
				for _, other := range s.either {
					delete(with, other)
				}
				with[key] = value
				return wrap(with)
			}, visit)
		}
	case aMap:
		places(s.item, place+".*", func(value any) any { return wrap(map[string]any{"k": value}) }, visit)
	case aList:
		places(s.item, place+"[]", func(value any) any { return wrap([]any{value}) }, visit)
	}
}

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

// wrong are values that are right in few places.
func wrong() []any {
	return []any{
		nil, "", "no such word", "yes", "1", "0x10", "0X10", "0b1", " 1", "-1", "1.5", "300", json.Number("0"), json.Number("-1"), json.Number("1.5"),
		json.Number("256"), json.Number("65536"), json.Number("4294967296"), json.Number("99999999999999999999"), true, map[string]any{}, []any{},
		map[string]any{"k": "v"}, []any{"a", nil},
	}
}
