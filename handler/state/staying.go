package state

import "slices"

// Staying are the interfaces that have more on the node than is desired, as policies could
// not be taken off it: each as it was desired before. known are those of before the commit
// that brings from to desired, or that failed to.
//
// An interface whose desired state changes is given its lists anew, so nothing stays there.
func Staying(known, from, desired State, failed bool) State {
	var stays []any
	for _, one := range desired.Interfaces() {
		before, wasDesired := from.alike(one)
		kept, isKnown := known.alike(one)
		unchanged := wasDesired && sameObject(before.tree, one.tree)
		switch {
		case isKnown && (unchanged || failed):
			stays = append(stays, kept.Tree())
		case failed && wasDesired && !unchanged:
			stays = append(stays, before.Tree())
		}
	}
	if stays == nil {
		return State{}
	}
	return State{tree: map[string]any{"interfaces": stays}}
}

// WithStaying is the state with what stays on its interfaces.
func (s State) WithStaying(stays State) State {
	if stays.IsEmpty() {
		return s
	}
	var list []any
	for _, one := range s.Interfaces() {
		if kept, is := stays.alike(one); is {
			one = kept
		}
		list = append(list, one.Tree())
	}
	tree := s.Tree()
	tree["interfaces"] = list
	return State{tree: tree}
}

// alike is the interface of the same name and type.
func (s State) alike(one Interface) (Interface, bool) {
	all := s.Interfaces()
	i := slices.IndexFunc(all, func(other Interface) bool { return other.Name == one.Name && other.Type == one.Type })
	if i < 0 {
		return Interface{}, false
	}
	return all[i], true
}
