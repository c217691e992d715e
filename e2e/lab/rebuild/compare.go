package rebuild

import (
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Compare tells in what the report of a rebuilt node is not the one that it is made
// of, apart from what Node.Left says. What the first report does not speak of,
// as one of an older nmstate, counts for nothing.
func Compare(before, after state.State) []state.Difference {
	was := reduce(before, nil)
	is := reduce(after, was)
	tree := is.state.Tree()
	for _, one := range objects(tree["interfaces"]) {
		if known, there := was.state.Interface(text(one["name"])); there {
			unsaid(one, known.Tree())
		}
	}
	return state.Diff(was.state, state.FromTree(tree))
}

// unsaid takes out of a tree what the other does not speak of. Of lists it takes
// nothing: an entry more is a difference.
func unsaid(tree, said map[string]any) {
	for key, value := range tree {
		known, there := said[key]
		if !there {
			delete(tree, key)
			continue
		}
		if below := object(value); below != nil {
			unsaid(below, object(known))
			continue
		}
		for _, item := range objects(value) {
			for _, other := range objects(known) {
				if same(item, other) {
					unsaid(item, other)
				}
			}
		}
	}
}

// same tells whether two entries of lists are about the same.
func same(a, b map[string]any) bool {
	for _, key := range []string{"name", "ip"} {
		if text(a[key]) != "" && strings.EqualFold(text(a[key]), text(b[key])) {
			return true
		}
	}
	return false
}
