//go:build linux && cgo && nmstate

package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	nmstate "github.com/nmstate/kubernetes-nmstate/handler/libnmstate"
)

// TestNmstateTakesWhatWeTake makes documents from the tables, each key with each of
// its values and with broken ones, and has both sides judge them. What we take
// nmstate must take in its canonical form, which is all that it sees. What nmstate
// takes we take too, but for the exceptions. Then documents of several of these, from
// a fixed seed.
func TestNmstateTakesWhatWeTake(t *testing.T) {
	all := samples()
	if len(all) < 10000 {
		t.Fatalf("only %d documents were made", len(all))
	}
	failures := map[string]string{}
	judge := func(one sample) {
		if found := disagreement(one.raw); found != "" {
			failures[one.place+": "+found] = string(one.raw)
		}
	}
	for _, one := range all {
		judge(one)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 2 * len(all) {
		judge(several(random, all))
	}
	for _, found := range slices.Sorted(maps.Keys(failures)) {
		t.Errorf("%s\n\t%s", found, failures[found])
	}
}

// FuzzNmstateTakesWhatWeTake begins with all of them.
func FuzzNmstateTakesWhatWeTake(f *testing.F) {
	for i, one := range samples() {
		if i%50 == 0 { // Or it takes minutes to begin.
			f.Add(one.raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		read, err := ParseDesired(raw)
		if err != nil {
			return
		}
		canonical := Canonical(read)
		if again := Canonical(canonical); !again.Equal(canonical) {
			t.Errorf("the canonical form of %s is %s and then %s", raw, canonical.JSON(), again.JSON())
		}
		if !strings.Contains(string(raw), "{{") {
			if found := disagreement(raw); found != "" {
				t.Error(found)
			}
		}
	})
}

// disagreement is how nmstate judges a document otherwise than we do; empty where it
// does not.
func disagreement(raw []byte) string {
	library := nmstate.New()
	desired, ours := ParseDesired(raw)
	if ours == nil {
		canonical := string(Canonical(desired).JSON())
		read, err := library.FormatNetState(canonical)
		if err != nil {
			return fmt.Sprintf("we take what nmstate refuses: %s: %v", canonical, err)
		}
		if original, err := library.FormatNetState(string(sayingNothing(desired))); err == nil && spelled(original) != spelled(read) {
			return fmt.Sprintf("nmstate reads the canonical form %s as\n%s\nand the document as\n%s", canonical, read, original)
		}
		return ""
	}
	if _, theirs := library.FormatNetState(string(raw)); theirs == nil && !excepted(ours) {
		return fmt.Sprintf("we refuse what nmstate takes: %v", ours)
	}
	return ""
}

// sayingNothing is a document without what is null: to us it says nothing, and to
// nmstate some of it is the text null.
func sayingNothing(desired State) []byte {
	tree := copiedObject(desired.tree)
	dropNulls(tree)
	return FromTree(tree).JSON()
}

var (
	dashes   = regexp.MustCompile(`"[0-9A-Fa-f]{2}(-[0-9A-Fa-f]{2}){5}"`)
	networks = regexp.MustCompile(`"(destination|ip-from|ip-to)":"([^"]*)"`)
)

// spelled is what nmstate read, with one spelling of what it keeps as it is written:
// the rules of by_hand.go that are about spelling.
func spelled(read string) string {
	read = strings.ReplaceAll(read, "group-forward-mask", "group-fwd-mask")
	read = dashes.ReplaceAllStringFunc(read, func(mac string) string { return strings.ReplaceAll(mac, "-", ":") })
	return networks.ReplaceAllStringFunc(read, func(pair string) string {
		parts := networks.FindStringSubmatch(pair)
		return fmt.Sprintf("%q:%q", parts[1], normalPrefix(parts[2]))
	})
}

// several is a document of some of the samples.
func several(random *rand.Rand, all []sample) sample {
	document := map[string]any{}
	places := []string{}
	for i := range 2 + random.IntN(3) {
		one := all[random.IntN(len(all))]
		places = append(places, one.place)
		var tree map[string]any
		decoder := json.NewDecoder(bytes.NewReader(one.raw))
		decoder.UseNumber()
		if err := decoder.Decode(&tree); err != nil {
			panic(err)
		}
		for key, value := range tree {
			interfaces, is := value.([]any)
			if key != "interfaces" || !is {
				document[key] = value
				continue
			}
			for _, entry := range interfaces {
				if tree := object(entry); text(tree["name"]) == "e" {
					tree["name"] = fmt.Sprintf("e%d", i)
				}
			}
			document[key] = append(list(document[key]), interfaces...)
		}
	}
	raw, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	return sample{place: strings.Join(places, ", "), raw: raw}
}

// excepted tells whether we refuse on purpose what nmstate's parser takes.
func excepted(ours error) bool {
	return !slices.ContainsFunc(Mistakes(ours), func(mistake *Mistake) bool {
		for says := range exceptions() {
			if strings.Contains(mistake.Message, says) {
				return false
			}
		}
		return true
	})
}

// exceptions are what a mistake says, and why we make one of it.
func exceptions() map[string]string {
	return map[string]string{
		"expected a whole number from":       "nmstate reads any number that fits its type; beyond these bounds the kernel or NetworkManager refuses it at apply",
		"unknown key":                        "nmstate leaves some structs open, and a misspelt key would do nothing",
		"expected keys and values, found":    "nmstate takes a column of ovs-db that is no map for an empty one, which takes every key away; and serde reads a list as a struct, field by field, which nobody means",
		"expected one value, found":          "nmstate drops such a value of ovs-db in silence",
		"expected a network":                 "nmstate reads it at apply, and refuses it then",
		"unknown interface type":             "nmstate takes a misspelt type for one that it does not know, and looks for the interface",
		"name is missing":                    "nmstate takes an empty name, and finds no such interface",
		"localnet is missing":                "YAML's null is the text null to nmstate",
		"expected yes, no or a whole number": "a number of more than nine digits is the name of no ipsec interface",
		"there is nothing in this entry":     "YAML's null is the text null to nmstate",
	}
}

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

// wrong are values that are right in few places.
func wrong() []any {
	return []any{
		nil, "", "no such word", "yes", "1", "0x10", "0X10", "0b1", " 1", "-1", "1.5", "300", json.Number("0"), json.Number("-1"), json.Number("1.5"),
		json.Number("256"), json.Number("65536"), json.Number("4294967296"), json.Number("99999999999999999999"), true, map[string]any{}, []any{},
		map[string]any{"k": "v"}, []any{"a", nil},
	}
}
