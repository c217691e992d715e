package state

// Canonical is a desired state in the one form in which policies are merged,
// kept, applied and compared. Two documents that ask for the same have the same
// canonical form, as far as nmstate's spellings go.
//
// A key with null says nothing and is left out. In a column of Open vSwitch's
// database null says a lot: it takes the key away, and stays.
func Canonical(s State) State {
	tree := copiedObject(s.tree)
	if tree == nil {
		return State{}
	}
	if columns := object(tree["ovs-db"]); columns != nil {
		for column, values := range columns {
			if values == nil { // As if it were not named.
				delete(columns, column)
			}
		}
	}
	withoutNulls(tree)
	return State{tree: tree}
}

// withoutNulls knows of ovs-db that nmstate reads a column that is null as an
// empty one: that of an interface or a bond, since the node's are gone by now.
func withoutNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			switch columns := object(item); {
			case item == nil:
				delete(value, key)
			case key == "ovs-db" && columns != nil:
				for column, values := range columns {
					if values == nil {
						columns[column] = map[string]any{}
					}
				}
			default:
				withoutNulls(item)
			}
		}
	case []any:
		for _, item := range value {
			withoutNulls(item)
		}
	}
}
