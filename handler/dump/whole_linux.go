package dump

import (
	"errors"

	"github.com/vishvananda/netlink"
)

// tries bounds how often a list is read again that changed meanwhile: on a node that
// changes all the time every one does.
const tries = 5

// Whole is what read returns, once that is no list that changed while it was read. After
// five of those it is the last one, with netlink.ErrDumpInterrupted.
func Whole[T any](read func() (T, error)) (list T, err error) {
	for range tries {
		if list, err = read(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	return list, err
}
