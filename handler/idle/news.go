package idle

import "time"

const (
	// newsRipe is how old news has to be before it is told. Much of it is over by then: the
	// veth of a pod that ends is one that nobody knows for a moment, and an interface that
	// somebody makes has its addresses a moment later.
	newsRipe = time.Second
	// newsRate is how many bytes of reports a node writes a second, in the long run, while
	// its network changes again and again. kube-proxy gives an interface of every node an
	// address for each Service: 1,000 nodes then write 5 MB a second at most.
	newsRate = 5000
	// newsAhead is how much of that a node may write ahead, after a quiet time.
	newsAhead = 30 * time.Second
	// newsPause is the longest time that a report has to be paid for before the next one.
	newsPause = time.Minute
)

// News is how the node's network differs from what the API server was told of it, where
// somebody else has changed it: what our own changes make is told at once.
type News struct {
	// Since is when the difference was seen first; zero for none.
	Since time.Time
	// Paid is when a node that writes newsRate has written what was told; zero if nothing
	// was.
	Paid time.Time
}

// Seen are the news once the network was read.
func (n News) Seen(differs bool, now time.Time) News {
	switch {
	case !differs:
		n.Since = time.Time{}
	case n.Since.IsZero():
		n.Since = now
	}
	return n
}

// Told are the news once the network was told, in so many bytes. What would put the next
// news off by more than newsPause is forgiven.
func (n News) Told(bytes int, now time.Time) News {
	paid := later(n.Paid, now).Add(time.Duration(bytes) * time.Second / newsRate)
	if most := now.Add(newsAhead + newsPause); paid.After(most) {
		paid = most
	}
	return News{Paid: paid}
}

// Wait is how long until the news are to be told: not at all where they are due, and for
// no news there is none. A wait that is too long is by a clock that was set back since:
// it is over.
func (n News) Wait(now time.Time) (wait time.Duration, news bool) {
	if n.Since.IsZero() {
		return 0, false
	}
	ripe, paid := n.Since.Add(newsRipe).Sub(now), n.Paid.Add(-newsAhead).Sub(now)
	if ripe > newsRipe {
		ripe = 0
	}
	if paid > newsPause {
		paid = 0
	}
	return max(ripe, paid, 0), true
}
