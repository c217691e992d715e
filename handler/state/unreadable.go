package state

// Unreadable are the paths of what a document says of an interface's function and
// no node reports: it can be applied, and not be compared.
func Unreadable(desired State) []Path {
	var paths []Path
	for _, one := range desired.Interfaces() {
		if one.isUp() {
			unreadable(pathOf(one), one.tree, &paths)
		}
	}
	return paths
}

func unreadable(path Path, tree map[string]any, paths *[]Path) {
	for _, key := range sortedKeys(tree) {
		at := path.At(key)
		if isUnreported(key) {
			*paths = append(*paths, at)
			continue
		}
		unreadable(at, object(tree[key]), paths)
	}
}

// isUnreported tells those of the write-only keys that are no hint, bound or name.
func isUnreported(key string) bool {
	switch key {
	case "802.1x", "libreswan", "mka-cak", "mka-ckn", "psk":
		return isWriteOnly(key)
	}
	return false
}
