package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
)

// ParseDesired reads what a user wrote and refuses what nmstate would not
// understand: keys it does not know, values of the wrong type. The error holds
// every mistake (see Mistakes), the first one first.
//
// A mistake's path is that of the value ("interfaces[0].mtu"); a key that an
// interface of this type does not have is reported at the type
// ("interfaces[0].bond"). Text with a template ("{{ ... }}") may stand for
// anything.
func ParseDesired(raw []byte) (State, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return State{}, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		return State{}, fmt.Errorf("reading the desired state: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return State{}, errors.New("reading the desired state: there is more after its end")
	}
	if document == nil {
		return State{}, nil
	}
	c := &checker{types: vocabulary.types, base: vocabulary.base}
	c.check("", &schema{kind: aKeyed, keys: vocabulary.state}, document)
	if err := joined(c.found); err != nil {
		return State{}, err
	}
	return State{tree: object(document)}, nil
}

// checker collects the mistakes of one document.
type checker struct {
	types map[string]keys
	base  keys
	found []*Mistake
}

func (c *checker) add(path, format string, values ...any) {
	c.found = append(c.found, &Mistake{Path: path, Message: fmt.Sprintf(format, values...)})
}

func (c *checker) check(path string, s *schema, value any) {
	if value == nil || s.kind == anything || isTemplate(value) && s.kind != aRefusal {
		return
	}
	switch s.kind {
	case aRefusal:
		c.add(path, "is refused: %s", s.why)
	case aKeyed:
		c.keyed(path, s.keys, value)
	case aMap:
		c.free(path, s.item, value)
	case aList:
		c.list(path, s.item, value)
	case anInterface:
		c.inter(path, value)
	case aSwitch:
		if object(value) != nil {
			c.keyed(path, s.keys, value)
			return
		}
		c.scalar(path, of(aBool), value)
	default:
		c.scalar(path, s, value)
	}
}

func isTemplate(value any) bool {
	written, ok := value.(string)
	return ok && strings.Contains(written, "{{") && strings.Contains(written, "}}")
}

func (c *checker) keyed(path string, known keys, value any) {
	tree, ok := value.(map[string]any)
	if !ok {
		c.add(path, "expected keys and values, found %s", described(value))
		return
	}
	for _, key := range sortedKeys(tree) {
		if _, ok := known[key]; !ok {
			c.add(path, "unknown key %q%s", key, c.suggest(key, known))
			continue
		}
		c.check(joinPath(path, key), known[key], tree[key])
	}
}

// suggest looks among the keys of this place, then among the sections of
// interfaces: a section written one level too deep.
func (c *checker) suggest(key string, known keys) string {
	if here := suggestion(key, known); here != "" {
		return here
	}
	return suggestion(key, c.everySection())
}

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func (c *checker) free(path string, item *schema, value any) {
	tree, ok := value.(map[string]any)
	if !ok {
		c.add(path, "expected keys and values, found %s", described(value))
		return
	}
	for _, key := range sortedKeys(tree) {
		c.check(joinPath(path, key), item, tree[key])
	}
}

func (c *checker) list(path string, item *schema, value any) {
	items, ok := value.([]any)
	if !ok {
		c.add(path, "expected a list, found %s", described(value))
		return
	}
	for i, one := range items {
		if one == nil {
			c.add(fmt.Sprintf("%s[%d]", path, i), "there is nothing in this entry")
			continue
		}
		c.check(fmt.Sprintf("%s[%d]", path, i), item, one)
	}
}

// inter checks an interface. Which keys it has depends on its type; without
// one, nmstate takes the type of the interface that is there.
func (c *checker) inter(path string, value any) {
	tree, ok := value.(map[string]any)
	if !ok {
		c.add(path, "expected an interface, found %s", described(value))
		return
	}
	if name, said := tree["name"]; !said || name == nil || name == "" {
		c.add(path, "name is missing")
	}
	c.check(path+".state", interfaceStates(), tree["state"])
	switch tree["state"] {
	case "absent", "ignore": // nmstate looks at nothing but the name and type.
		c.check(path+".name", of(aText), tree["name"])
		c.check(path+".type", of(aText), tree["type"])
		return
	}
	kind, said := tree["type"].(string)
	sections, known := c.types[kind]
	if said && !known && !isTemplate(kind) {
		c.add(path+".type", "unknown interface type %q%s", kind, nearest(kind, sortedNames(c.types)))
	} else {
		c.check(path+".type", of(aText), tree["type"])
	}
	for _, key := range sortedKeys(tree) {
		c.interfaceKey(path, kind, sections, key, tree[key])
	}
}

func (c *checker) interfaceKey(path, kind string, sections keys, key string, value any) {
	if key == "state" || key == "type" {
		return
	}
	if schema, ok := c.base[key]; ok {
		c.check(path+"."+key, schema, value)
		return
	}
	if schema, ok := sections[key]; ok {
		c.check(path+"."+key, schema, value)
		return
	}
	owners := c.owners(key)
	switch {
	case sections == nil && len(owners) > 0:
		// Without a type the section itself cannot be told.
		if len(owners) == 1 {
			c.check(path+"."+key, c.types[owners[0]][key], value)
		}
	case sections == nil:
		c.add(path, "unknown key %q%s", key, suggestion(key, c.base, c.everySection()))
	case len(owners) > 0:
		c.add(path+"."+kind, "unknown key %q: it belongs to type %s", key, strings.Join(owners, ", "))
	default:
		c.add(path+"."+kind, "unknown key %q%s", key, suggestion(key, c.base, sections))
	}
}

// owners are the types that have the section.
func (c *checker) owners(section string) []string {
	var found []string
	for _, kind := range sortedNames(c.types) {
		if _, ok := c.types[kind][section]; ok {
			found = append(found, kind)
		}
	}
	return found
}

func (c *checker) everySection() keys {
	every := keys{}
	for _, sections := range c.types {
		for key := range sections {
			every[key] = nil
		}
	}
	return every
}

func (c *checker) scalar(path string, s *schema, value any) {
	expected := ""
	switch s.kind {
	case aText:
		if _, ok := value.(string); !ok {
			if object(value) == nil && list(value) == nil {
				c.add(path, "expected text, found %s: put it in quotes", described(value))
				return
			}
			expected = "text"
		}
	case aScalar:
		if object(value) != nil || list(value) != nil {
			expected = "one value"
		}
	case aWhole, aSigned:
		number, ok := whole(value)
		if !ok || number < 0 && s.kind == aWhole {
			expected = "a whole number"
		}
	case aNumber:
		if number, ok := whole(value); !ok || number < 0 || isText(value) {
			expected = "a whole number"
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
		if _, err := netip.ParseAddr(text(value)); err != nil {
			expected = "an IP address"
		}
	case aChoice:
		c.choice(path, s.values, value)
	}
	if expected != "" {
		c.add(path, "expected %s, found %s", expected, described(value))
	}
}

func (c *checker) choice(path string, values []string, value any) {
	if slices.Contains(values, text(value)) {
		return
	}
	c.add(path, "expected %s, found %s%s", oneOf(values), described(value), nearest(text(value), values))
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
