package dump

import (
	"errors"
	"fmt"
	"testing"

	"github.com/vishvananda/netlink"
)

func TestAListThatChangedWhileItWasReadIsReadAgain(t *testing.T) {
	interrupted := fmt.Errorf("listing: %w", netlink.ErrDumpInterrupted)
	other := errors.New("no memory")
	for name, c := range map[string]struct {
		answers []error // The last one is that of all further reads.
		reads   int
		err     error
	}{
		"whole at once":            {answers: []error{nil}, reads: 1},
		"whole at the third read":  {answers: []error{interrupted, interrupted, nil}, reads: 3},
		"another error":            {answers: []error{other}, reads: 1, err: other},
		"another error, later":     {answers: []error{interrupted, other}, reads: 2, err: other},
		"it changes all the time":  {answers: []error{interrupted}, reads: 5, err: netlink.ErrDumpInterrupted},
		"whole at the last chance": {answers: []error{interrupted, interrupted, interrupted, interrupted, nil}, reads: 5},
	} {
		t.Run(name, func(t *testing.T) {
			reads := 0
			list, err := Whole(func() (int, error) {
				reads++
				return reads, c.answers[min(reads, len(c.answers))-1]
			})
			if list != c.reads || reads != c.reads || !errors.Is(err, c.err) {
				t.Errorf("list %d of %d reads, %v; want %d, %v", list, reads, err, c.reads, c.err)
			}
		})
	}
}
