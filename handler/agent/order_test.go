package agent

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// gateways is a kernel with default routes of DHCP servers, by the index of their links.
func gateways(metrics map[int]uint32) foreign.Snapshot {
	found := foreign.Snapshot{Links: []foreign.Link{{Name: "eth0", Index: 2, Carrier: true}, {Name: "eth1", Index: 3, Carrier: true}}}
	for index := 2; index <= 3; index++ {
		metric, has := metrics[index]
		if !has {
			continue
		}
		const unicast, dhcp = 1, 16
		raw := []byte{2, 0, 0, 0, 254, dhcp, 0, unicast, 0, 0, 0, 0}
		for kind, value := range []uint32{4: uint32(index), 6: metric} {
			if value != 0 {
				raw = binary.NativeEndian.AppendUint16(raw, 8)
				raw = binary.NativeEndian.AppendUint16(raw, uint16(kind))
				raw = binary.NativeEndian.AppendUint32(raw, value)
			}
		}
		found.Routes = append(found.Routes, raw)
	}
	return found
}

// noting is a backend that notes what it is to do.
type noting struct {
	backend.Backend
	actions []string
	err     error
}

func (b *noting) Do(_ context.Context, action profiles.Action) error {
	b.actions = append(b.actions, action.String())
	return b.err
}

func TestOfTwoGatewaysTheFirstOneComesFirstAgain(t *testing.T) {
	t.Parallel()
	const before = "route 0.0.0.0/0: eth0 came before eth1, and comes after it now"
	for name, c := range map[string]struct {
		now     foreign.Snapshot
		err     error
		after   time.Duration
		left    [2][]string
		actions []string
	}{
		"it still does": {now: gateways(map[int]uint32{2: 103, 3: 104})},
		"it does not, and is told once": {
			now: gateways(map[int]uint32{2: 102, 3: 101}), left: [2][]string{{before}, {before}},
			actions: []string{"set-metric of eth0 for IPv4 to 100"},
		},
		"it cannot be told, and is told again": {
			now: gateways(map[int]uint32{2: 102, 3: 101}), err: errors.New("no answer"),
			left:    [2][]string{{before + ": set-metric of eth0 for IPv4 to 100: no answer"}, {before + ": set-metric of eth0 for IPv4 to 100: no answer"}},
			actions: []string{"set-metric of eth0 for IPv4 to 100", "set-metric of eth0 for IPv4 to 100"},
		},
		"its lease is awaited": {now: gateways(map[int]uint32{3: 101}), left: [2][]string{{before}, {before}}},
		"its lease comes late, and then with its metric": {
			now: gateways(map[int]uint32{3: 101}), after: managedGrace, left: [2][]string{{before}, nil},
			actions: []string{"set-metric of eth0 for IPv4 to 100"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, began := &noting{err: c.err}, time.Unix(0, 0)
			a := &Agent{Options: Options{Backend: b, Clock: deadline.On(clocktesting.NewFakeClock(began.Add(c.after)))}}
			k := &keeping{agent: a, before: gateways(map[int]uint32{2: 100, 3: 101}), began: began, told: map[foreign.Order]bool{}}
			var left [2][]string
			for i := range left {
				left[i] = k.inOrder(t.Context(), c.now)
			}
			if diff := cmp.Diff(c.left, left); diff != "" {
				t.Errorf("left, in two rounds (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.actions, b.actions); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
}
