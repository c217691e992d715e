package state

// withMetricsOf is a state whose interfaces name metrics of their routes only where they did
// before. Otherwise NetworkManager chooses them, as their profiles still say.
func withMetricsOf(before, after State) State {
	var tree map[string]any
	for i, one := range objects(after.tree["interfaces"]) {
		for _, family := range []Family{IPv4, IPv6} {
			for _, key := range []string{"auto-route-metric", "prefix-route-metric"} {
				if choosesMetric(one, family, key) {
					continue
				}
				was, known := before.Interface(text(one["name"]))
				if !known || !choosesMetric(was.tree, family, key) {
					continue
				}
				if tree == nil {
					tree = after.Tree()
				}
				ip := object(objects(tree["interfaces"])[i][string(family)])
				delete(ip, key)
				if value, said := object(was.tree[string(family)])[key]; said {
					ip[key] = value
				}
			}
		}
	}
	if tree == nil {
		return after
	}
	return State{tree: tree}
}

// choosesMetric tells whether NetworkManager chooses the metric of the key.
func choosesMetric(one map[string]any, family Family, key string) bool {
	fixed, said := integer(object(one[string(family)])[key])
	return !said || fixed < 0
}
