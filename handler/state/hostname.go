package state

import "maps"

// Hostname that the next boot is to have; empty where the state does not say.
func (s State) Hostname() string { return text(object(s.tree["hostname"])["config"]) }

// WithoutConfiguredHostname is the state without the name for the next boot.
func (s State) WithoutConfiguredHostname() State {
	if s.Hostname() == "" {
		return s
	}
	tree := s.Tree()
	hostname := maps.Clone(object(tree["hostname"]))
	delete(hostname, "config")
	if len(hostname) == 0 {
		delete(tree, "hostname")
	} else {
		tree["hostname"] = hostname
	}
	return FromTree(tree)
}
