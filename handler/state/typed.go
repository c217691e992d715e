package state

// Typed gives numbers, true and false that are written as text their own
// types, wherever nmstate wants such a value: what a template is replaced by
// is text at first. Text that is no such value stays, for ParseDesired to
// refuse.
func Typed(s State) State {
	tree := copiedObject(s.tree)
	t := typer{types: vocabulary.types, base: vocabulary.base}
	t.keyed(vocabulary.state, tree)
	return State{tree: tree}
}

type typer struct {
	types map[string]keys
	base  keys
}

// value is the value as it is to stand; objects and lists are changed in place.
func (t typer) value(s *schema, value any) any {
	if s == nil {
		return value
	}
	switch s.kind {
	case aKeyed:
		t.keyed(s.keys, object(value))
	case aMap:
		for key, item := range object(value) {
			object(value)[key] = t.value(s.item, item)
		}
	case aList:
		for i, item := range list(value) {
			list(value)[i] = t.value(s.item, item)
		}
	case anInterface:
		t.inter(object(value))
	case aSwitch:
		t.keyed(s.keys, object(value))
	case aWhole, aNumber, aSigned:
		if number, ok := whole(value); ok && isText(value) {
			return copied(number)
		}
	case aBool, aFlag:
		if is, ok := truth(value); ok && isText(value) {
			return is
		}
	}
	return value
}

func (t typer) keyed(known keys, tree map[string]any) {
	for key, item := range tree {
		tree[key] = t.value(known[key], item)
	}
}

// inter takes the sections of every type where the type is not said: what a
// section of one name holds differs little.
func (t typer) inter(tree map[string]any) {
	sections, typed := t.types[text(tree["type"])]
	for key, item := range tree {
		known := t.base[key]
		if known == nil {
			known = sections[key]
		}
		if known == nil && !typed {
			known = t.anySection(key)
		}
		tree[key] = t.value(known, item)
	}
}

func (t typer) anySection(key string) *schema {
	for _, name := range sortedNames(t.types) {
		if known := t.types[name][key]; known != nil {
			return known
		}
	}
	return nil
}
