package network

import "time"

// Deceit is how a probe deceives; the zero value is an honest one.
type Deceit struct {
	// Fail although the target is alive.
	Fail bool
	// Flap: it fails in every other period of this length, whatever is true.
	Flap time.Duration
	// Slow is what each attempt takes beforehand.
	Slow time.Duration
}

type deceitKey struct{ station, probe string }

// SetDeceit has a station's probe deceive. The probe "" means all of the station's that have
// no deceit of their own. The zero deceit ends it.
func (n *Network) SetDeceit(station, probe string, deceit Deceit) {
	if deceit == (Deceit{}) {
		delete(n.deceits, deceitKey{station, probe})
		return
	}
	n.deceits[deceitKey{station, probe}] = deceit
}

func (n *Network) deceit(station, probe string) Deceit {
	if len(n.deceits) == 0 {
		return Deceit{}
	}
	if w, has := n.deceits[deceitKey{station, probe}]; has {
		return w
	}
	return n.deceits[deceitKey{station, ""}]
}

// fails tells whether the deceit has the probe fail, whatever is true.
func (w Deceit) fails(elapsed time.Duration) bool {
	return w.Fail || w.Flap > 0 && elapsed/w.Flap%2 == 1
}
