package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	// above are the places around the one that is checked, the top first.
	above []level
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
		c.needed(path, s, value)
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
		c.scalar(path, s, value)
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
		c.add(path, "expected keys and values, found %s", described(MaskedAt(path, value)))
		return
	}
	c.above = append(c.above, level{path, known})
	for _, key := range sortedKeys(tree) {
		if _, ok := known[key]; !ok {
			c.add(path, "unknown key %q%s", key, c.placed(key))
			continue
		}
		c.twice(path, known[key], key, tree)
		c.check(joinPath(path, key), known[key], tree[key])
	}
	c.above = c.above[:len(c.above)-1]
}

func (c *checker) needed(path string, s *schema, value any) {
	tree := object(value)
	if tree == nil {
		return
	}
	for _, name := range s.required {
		if tree[name] == nil {
			c.add(path, "%s is missing", name)
		}
	}
	given := 0
	for _, name := range s.either {
		if tree[name] != nil {
			given++
		}
	}
	if len(s.either) > 0 && given != 1 {
		c.add(path, "expected one of %s, found %d of them", strings.Join(s.either, " and "), given)
	}
}

// twice refuses a key that is here by both of its names, with two values.
func (c *checker) twice(path string, s *schema, key string, tree map[string]any) {
	if s != nil && s.alias != "" && tree[s.alias] != nil && tree[key] != nil && encoded(tree[s.alias]) != encoded(tree[key]) {
		c.add(path, "%q and %q are one key, and they differ: leave one out", key, s.alias)
	}
}

func joinPath(path, key string) string {
	if path == "" || key == "" {
		return path + key
	}
	return path + "." + key
}

func (c *checker) free(path string, item *schema, value any) {
	tree, ok := value.(map[string]any)
	if !ok {
		c.add(path, "expected keys and values, found %s", described(MaskedAt(path, value)))
		return
	}
	for _, key := range sortedKeys(tree) {
		c.check(joinPath(path, key), item, tree[key])
	}
}

func (c *checker) list(path string, item *schema, value any) {
	items, ok := value.([]any)
	if !ok {
		c.add(path, "expected a list, found %s", described(MaskedAt(path, value)))
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
		c.add(path, "expected an interface, found %s", described(MaskedAt(path, value)))
		return
	}
	if name, said := tree["name"]; !said || name == nil || name == "" {
		c.add(path, "name is missing")
	}
	c.check(path+".state", c.base["state"], tree["state"])
	switch tree["state"] {
	case "absent": // nmstate looks at nothing but these.
		for _, key := range []string{"name", "type", "identifier", "mac-address", "pci-address"} {
			c.check(path+"."+key, c.base[key], tree[key])
		}
		return
	}
	kind, said := tree["type"].(string)
	sections, known := c.types[kind]
	if said && !known && !isTemplate(kind) {
		c.add(path+".type", "unknown interface type %q%s", kind, nearest(kind, sortedNames(c.types)))
	} else {
		c.check(path+".type", of(aText), tree["type"])
	}
	sectionsHere := sections
	if sections == nil {
		sectionsHere = c.everySection()
	}
	c.above = append(c.above, level{path, joinKeys(c.base, sectionsHere)})
	for _, key := range sortedKeys(tree) {
		c.twice(path, sectionsHere[key], key, tree)
		c.interfaceKey(path, kind, sections, key, tree[key])
	}
	c.above = c.above[:len(c.above)-1]
	c.beyond(path, kind, tree)
}

// beyond checks what depends on the type: how long a name may be, and how large
// an MTU.
func (c *checker) beyond(path, kind string, tree map[string]any) {
	if mtu, is := integer(tree["mtu"]); is && mtu > mostMTU(kind) {
		c.add(path+".mtu", "expected a whole number from 0 to %d, found %d", mostMTU(kind), mtu)
	}
	name, by := text(tree["name"]), text(tree["identifier"])
	if !hasKernelName(kind) || by != "" && by != "name" || isTemplate(name) {
		return
	}
	switch {
	case len(name) > mostName:
		c.add(path+".name", "%s has %d characters, and an interface's name at most %d", described(name), len(name), mostName)
	case strings.ContainsAny(name, "/: \t\n"):
		c.add(path+".name", "%s cannot be an interface's name: no blank, '/' or ':' is allowed in it", described(name))
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
		c.add(path, "unknown key %q%s", key, c.placed(key))
	case len(owners) > 0:
		c.add(path+"."+kind, "unknown key %q: it belongs to type %s", key, strings.Join(owners, ", "))
	default:
		c.add(path+"."+kind, "unknown key %q%s", key, c.placed(key))
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
		for key, s := range sections {
			if s != nil && s.alias != "" {
				every[key] = &schema{alias: s.alias}
			} else {
				every[key] = nil
			}
		}
	}
	return every
}
