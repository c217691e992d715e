package state

import (
	"reflect"
	"slices"
	"testing"
)

// TestWhatIsByHandHasAPlaceAndAReason: a rule about a key that nmstate does not have any
// more, and one that says what its source says by now, are to go.
func TestWhatIsByHandHasAPlaceAndAReason(t *testing.T) {
	code := readWithCode()
	generated := map[string]*schema{}
	for name, record := range nmstateStructs {
		for _, field := range record.fields {
			if field.of.kind != byCode {
				generated[name+"."+field.key] = compiler{rules: byHand()}.value(field.of)
			}
		}
	}
	for place, rule := range byHand() {
		if rule.why == "" {
			t.Errorf("%s is by hand without a reason", place)
		}
		made, is := generated[place]
		switch {
		case !is && !slices.Contains(code, place):
			t.Errorf("%s is by hand, and nmstate has neither such a key nor such code", place)
		case is && reflect.DeepEqual(made, rule.is(compiler{rules: byHand()})):
			t.Errorf("%s is by hand, and nmstate's source says the same", place)
		}
	}
}

// TestWhatNmstateReadsWithCodeHasARule: of such a value the source says nothing else.
func TestWhatNmstateReadsWithCodeHasARule(t *testing.T) {
	for _, name := range readWithCode() {
		if _, is := byHand()[name]; !is {
			t.Errorf("nmstate reads a value with %s, and by_hand.go does not say what that takes", name)
		}
	}
}

// readWithCode are the names of code that reads values, but for the struct in which
// nmstate keeps what it does not know.
func readWithCode() []string {
	var found []string
	var look func(content)
	look = func(of content) {
		switch {
		case of.item != nil:
			look(*of.item)
		case of.kind == byCode:
			found = append(found, of.named)
		}
	}
	for _, record := range nmstateStructs {
		for _, field := range record.fields {
			if field.key != "" {
				look(field.of)
			}
		}
	}
	return found
}
