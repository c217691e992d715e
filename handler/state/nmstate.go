package state

import (
	"maps"
	"slices"
)

// The tables in zz_generated.nmstate.go are what nmstate's source says of the
// documents that it reads. rust/schema writes them (make generate).

// record is a struct: an object with known keys.
type record struct {
	// closed: nmstate refuses keys that it does not know. We do so everywhere.
	closed bool
	fields []field
}

// field is a key of a struct. Without a key it stands for the fields of the
// struct that it holds.
type field struct {
	key string
	// others are second names of the key.
	others []string
	must   bool
	of     content
}

// content is what a key holds.
type content struct {
	kind kind
	// named is a struct, the words of a choice, or the code that reads the value.
	named       string
	item        *content
	least, most int64
}

// enum is words.
type enum struct {
	// open: any other text is taken, too.
	open  bool
	words []word
}

type word struct {
	first  string
	others []string
}

// compiler makes the schema of the tables and of what byHand adds to them.
type compiler struct {
	rules map[string]rule
	// yaml: text needs no quotes, since nmstate reads the value from YAML. What is
	// inside of an interface it takes through JSON, in which 10 is a number.
	yaml bool
	// family of the addresses inside.
	family Family
}

func (c compiler) object(name string) *schema {
	made := &schema{kind: aKeyed, keys: keys{}}
	for _, field := range nmstateStructs[name].fields {
		if field.key == "" {
			continue
		}
		one := c.field(name, field)
		made.keys[field.key] = one
		for _, other := range field.others {
			made.keys[other] = alias(field.key, one)
		}
		if field.must {
			made.required = append(made.required, field.key)
		}
	}
	return made
}

func (c compiler) field(owner string, of field) *schema {
	if rule, is := c.rules[owner+"."+of.key]; is {
		return rule.is(c)
	}
	return c.value(of.of)
}

func (c compiler) value(of content) *schema {
	switch of.kind {
	case aText:
		if c.yaml {
			return &schema{kind: aWord}
		}
	case aKeyed:
		return c.object(of.named)
	case aChoice:
		return c.choice(nmstateEnums[of.named])
	case aList, aMap:
		return &schema{kind: of.kind, item: c.value(*of.item)}
	case anIP:
		return &schema{kind: anIP, family: c.family}
	case aWhole, aNumber:
		return &schema{kind: of.kind, within: bounds{of.least, of.most}}
	case byCode:
		return c.rules[of.named].is(c)
	}
	return &schema{kind: of.kind}
}

func (c compiler) choice(of enum) *schema {
	made := &schema{kind: aChoice, first: map[string]string{}}
	if of.open {
		made.kind = aText
	}
	for _, one := range of.words {
		made.values = append(made.values, one.first)
		for _, other := range one.others {
			made.first[other] = one.first
		}
	}
	made.values = append(made.values, slices.Sorted(maps.Keys(made.first))...)
	return made
}

// sections are what an interface of each type has beside the keys that all have;
// nil for a type that nmstate only reports.
func (c compiler) sections() map[string]keys {
	types := map[string]keys{}
	for _, kind := range reportedTypes() {
		types[kind] = nil
	}
	for kind, name := range nmstateInterfaces {
		if name == "" || name == "UnknownInterface" {
			types[kind] = nil
			continue
		}
		types[kind] = c.object(name).keys
	}
	return types
}

// vocabulary is all that nmstate accepts. It is made once: a table of some
// thousand keys, and every document is read by it.
var vocabulary = func() allKeys {
	rules := byHand()
	inside := compiler{rules: rules}
	made := allKeys{
		state: compiler{rules: rules, yaml: true}.object("NetworkState").keys,
		base:  inside.object("BaseInterface").keys,
		types: inside.sections(),
		whole: map[string]keys{},
	}
	every := maps.Clone(made.base)
	for _, name := range sortedNames(made.types) {
		if sections := made.types[name]; sections != nil {
			made.whole[name] = joinKeys(made.base, sections)
		}
		for key, s := range made.types[name] {
			if every[key] == nil {
				every[key] = s
			}
		}
	}
	made.whole[""] = every
	return made
}()

type allKeys struct {
	state keys
	// base and types are those of an interface.
	base  keys
	types map[string]keys
	// whole are both together, by type, and for "" those of every type: what a
	// section of one name holds differs little.
	whole map[string]keys
}
