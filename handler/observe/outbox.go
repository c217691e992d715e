package observe

// outboxLimit bounds what waits for a reader that does not read. NetworkManager
// would have to restart that often before the oldest is dropped.
const outboxLimit = 256

// outbox is what waits to be read: NetworkManager's comings and goings, each
// one, and behind them at most one Network.
type outbox struct {
	urgent  []Event
	network bool
}

func (o *outbox) put(event Event) {
	if event.Kind == Network {
		o.network = true
		return
	}
	if len(o.urgent) == outboxLimit {
		o.urgent = o.urgent[1:]
	}
	o.urgent = append(o.urgent, event)
}

// next is the event to deliver next; false when there is none.
func (o *outbox) next() (Event, bool) {
	if len(o.urgent) > 0 {
		return o.urgent[0], true
	}
	return Event{Kind: Network}, o.network
}

// delivered takes off what next returned.
func (o *outbox) delivered() {
	if len(o.urgent) > 0 {
		o.urgent = o.urgent[1:]
		return
	}
	o.network = false
}
