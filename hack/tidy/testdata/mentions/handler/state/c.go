package state

// State is what a.go hides.
type State struct{}
