package state

import "maps"

// Hostname that the next boot is to have; empty where the state does not say.
func (s State) Hostname() string { return text(object(s.tree["hostname"])["config"]) }

// ForTrial is the state without what nmstate cannot keep in memory: the hostname
// of the next boot, what Open vSwitch's database holds for the node as a
// whole, and scripts. Only what is permanent has these.
func (s State) ForTrial() State {
	s = s.WithoutScripts()
	if s.Hostname() == "" && s.OpenVSwitch().IsEmpty() {
		return s
	}
	tree := s.Tree()
	delete(tree, "ovs-db")
	delete(tree, "ovn")
	hostname := maps.Clone(object(tree["hostname"]))
	delete(hostname, "config")
	if len(hostname) == 0 {
		delete(tree, "hostname")
	} else {
		tree["hostname"] = hostname
	}
	return FromTree(tree)
}
