package network

import "fmt"

// Everybody stands for all names in a block.
const Everybody = "*"

// Pings, before the name of a station or machine, is what answers pings there.
const Pings = "pings of "

// pair of names, in the direction of packets.
type pair struct{ from, to string }

// Block loses what a station, machine or service sends to another, and nothing
// that comes back: a partition one way. Both ways are two blocks. Names are those of
// stations, machines and services, or Everybody. It is lifted by on = false.
func (n *Network) Block(from, to string, on bool) {
	if n.blocked[pair{from, to}] == on {
		return
	}
	if on {
		n.blocked[pair{from, to}] = true
	} else {
		delete(n.blocked, pair{from, to})
	}
	n.revision++
}

func (n *Network) lost(from, to string) *Cut {
	if len(n.blocked) == 0 || from == to {
		return nil
	}
	if n.blocked[pair{from, to}] || n.blocked[pair{from, Everybody}] || n.blocked[pair{Everybody, to}] {
		return &Cut{Why: fmt.Sprintf("what %s sends to %s is lost on the way", from, to)}
	}
	return nil
}
