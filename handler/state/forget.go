package state

import (
	"maps"
	"slices"
)

// forget takes out of the originals what the paths touch. Of an interface that
// they touch at all it is no longer known that it was not there, or was down.
func forget(originals map[string]any, paths []Path) {
	if len(paths) == 0 {
		return
	}
	canonical := canonicalPaths(paths)
	touched := func(path Path) bool { return slices.ContainsFunc(canonical, path.touches) }
	for key, tree := range object(originals["interfaces"]) {
		path := pathOfKey(key)
		if touched(path) {
			delete(object(tree), "state")
			forgetTree(object(tree), path, touched)
		}
	}
	for _, section := range []string{"routes", "route-rules"} {
		maps.DeleteFunc(object(originals[section]), func(key string, _ any) bool { return touched(ParsePath(key)) })
	}
	for _, section := range nodeSections() {
		forgetTree(object(originals[section]), Path{Section: section}, touched)
	}
}

func forgetTree(tree map[string]any, path Path, touched func(Path) bool) {
	for key, value := range tree {
		leaf := path.At(key)
		inner, nested := value.(map[string]any)
		switch {
		case !touched(leaf):
		case nested && key != string(IPv4) && key != string(IPv6):
			forgetTree(inner, leaf, touched)
		default:
			delete(tree, key)
		}
	}
}
