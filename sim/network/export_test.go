package network

// Forget drops every answer that was remembered.
func Forget(n *Network) {
	for _, m := range n.members {
		clear(m.answers)
	}
}
