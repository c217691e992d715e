package observe

// owner follows which NetworkManager owns its name on the bus.
type owner struct {
	known bool
	// instance is unique over restarts of NetworkManager and of the bus; empty
	// when there is no NetworkManager.
	instance string
}

// now notes the present instance and returns what that means. The first look
// means nothing: nobody can have missed anything before it.
func (o *owner) now(instance string) (Event, bool) {
	before, known := o.instance, o.known
	o.instance, o.known = instance, true
	switch {
	case !known || before == instance:
		return Event{}, false
	case instance == "":
		return Event{Kind: NetworkManagerGone}, true
	case before == "":
		return Event{Kind: NetworkManagerBack}, true
	}
	return Event{Kind: NetworkManagerRestarted}, true
}
