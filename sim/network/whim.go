package network

import "time"

// Whim is how a probe deceives; the zero value is an honest one.
type Whim struct {
	// Fail although the target is alive.
	Fail bool
	// Flap: it fails in every other period of this length, whatever is true.
	Flap time.Duration
	// Slow is what each attempt takes beforehand.
	Slow time.Duration
}

type whimKey struct{ station, probe string }

// SetWhim has a station's probe deceive. The probe "" means all of the station's that have
// no whim of their own. The zero whim ends it.
func (n *Network) SetWhim(station, probe string, whim Whim) {
	if whim == (Whim{}) {
		delete(n.whims, whimKey{station, probe})
		return
	}
	n.whims[whimKey{station, probe}] = whim
}

func (n *Network) whim(station, probe string) Whim {
	if len(n.whims) == 0 {
		return Whim{}
	}
	if w, has := n.whims[whimKey{station, probe}]; has {
		return w
	}
	return n.whims[whimKey{station, ""}]
}

// fails tells whether the whim has the probe fail, whatever is true.
func (w Whim) fails(elapsed time.Duration) bool {
	return w.Fail || w.Flap > 0 && elapsed/w.Flap%2 == 1
}
