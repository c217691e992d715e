package observe

// Kind says what an event is about.
type Kind int

const (
	// Network: the node's network may have changed.
	Network Kind = iota + 1
	// NetworkManagerGone: NetworkManager left the system bus.
	NetworkManagerGone
	// NetworkManagerBack: NetworkManager, which was not there, is.
	NetworkManagerBack
	// NetworkManagerRestarted: another instance than before, without a moment
	// seen in which there was none.
	NetworkManagerRestarted
)

// String implements fmt.Stringer.
func (k Kind) String() string {
	switch k {
	case Network:
		return "network changed"
	case NetworkManagerGone:
		return "NetworkManager gone"
	case NetworkManagerBack:
		return "NetworkManager back"
	case NetworkManagerRestarted:
		return "NetworkManager restarted"
	}
	return "unknown"
}

// Event is one thing that happened.
type Event struct {
	Kind Kind
}
