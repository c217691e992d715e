package agent

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestAnAddressByWhichTheClusterKnowsTheNodeIsToldWhenAChangeTakesItAway(t *testing.T) {
	t.Parallel()
	const first = `{"interfaces":[{"name":"eth0","type":"ethernet","state":"up","ipv4":{"enabled":true,"address":[{"ip":"192.0.2.10","prefix-length":24}]}}]}`
	const second = `{"interfaces":[{"name":"eth0","type":"ethernet","state":"up","ipv4":{"enabled":true,"address":[{"ip":"192.0.2.11","prefix-length":24}]}}]}`
	const mtu = `{"interfaces":[{"name":"eth0","type":"ethernet","state":"up","mtu":1400,"ipv4":{"enabled":true,"address":[{"ip":"192.0.2.10","prefix-length":24}]}}]}`
	for name, row := range map[string]struct {
		known, change string
		told          bool
	}{
		"it goes":                            {"192.0.2.10", second, true},
		"it stays":                           {"192.0.2.10", mtu, false},
		"the node has not had it before":     {"198.51.100.1", second, false},
		"another one goes, this one is new":  {"192.0.2.11", second, false},
		"the cluster knows the node by none": {"", second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			n.handler(func(o *Options) {
				o.KnownBy = func() []netip.Addr {
					if row.known == "" {
						return nil
					}
					return []netip.Addr{netip.MustParseAddr(row.known)}
				}
			})
			wants := func(generation int64, desired string) {
				n.edit(func(nns *v1.NodeNetworkState) {
					nns.Generation, nns.Spec.DesiredState = generation, v1.NewState([]byte(desired))
				})
			}
			wants(2, first)
			if got := n.outcome(2); got.Result != v1.TransactionCommitted || len(got.NotVerified) != 0 {
				t.Fatalf("outcome of the first address = %+v", got)
			}
			wants(3, row.change)
			got := n.outcome(3)
			told := len(got.NotVerified) == 1 && strings.HasPrefix(got.NotVerified[0], row.known+": the cluster knows the node by this InternalIP")
			if got.Result != v1.TransactionCommitted || told != row.told || len(got.NotVerified) > 1 {
				t.Errorf("outcome = %+v, told: %v", got, row.told)
			}
		})
	}
}

// shows is a backend that is read once more.
type shows struct {
	backend.Backend
	document string
	devices  []profiles.Device
	err      error
}

func (s shows) Show(context.Context) (state.State, error) {
	if s.err != nil {
		return state.State{}, s.err
	}
	return state.Parse([]byte(s.document))
}

func (s shows) Devices(context.Context) ([]profiles.Device, error) { return s.devices, nil }

func TestWhatCameBeforeTheCommitIsNotTold(t *testing.T) {
	t.Parallel()
	entry := journal.Entry{
		Change: []byte(`{"interfaces":[{"name":"br0","type":"linux-bridge","state":"up","ipv4":{"enabled":true,"dhcp":true}}]}`),
		ToCome: []string{"as it was read back"}, KnownBy: []netip.Addr{netip.MustParseAddr("192.0.2.10"), netip.MustParseAddr("2001:db8::10")},
	}
	const both = `{"interfaces":[{"name":"br0","ipv4":{"address":[{"ip":"192.0.2.10","prefix-length":16}]},"ipv6":{"address":[{"ip":"2001:DB8:0::10","prefix-length":64}]}}]}`
	const waits = "interfaces[br0]: it waits for a lease or a router advertisement"
	const gone = "2001:db8::10: the cluster knows the node by this InternalIP, and no interface has it any more. " +
		"Until the kubelet tells another one, logs, exec and pod networks do not reach the node"
	at := func(s profiles.DeviceState) []profiles.Device { return []profiles.Device{{Name: "br0", State: s}} }
	a := &Agent{Options: Options{Backend: shows{err: errors.New("it is read for nothing")}}}
	if got := a.commits(t.Context(), journal.Entry{Change: entry.Change}); got.toCome != nil {
		t.Errorf("with nothing to come: %q", *got.toCome)
	}
	for name, row := range map[string]struct {
		backend backend.Backend
		want    []string
	}{
		"everything is there": {shows{document: both, devices: at(profiles.Active)}, nil},
		"the lease is not":    {shows{document: both, devices: at(profiles.GettingIP)}, []string{waits}},
		"an address is not": {
			shows{document: `{"interfaces":[{"name":"br0","ipv4":{"address":[{"ip":"192.0.2.10","prefix-length":24}]}}]}`, devices: at(profiles.Active)}, []string{gone}},
		"nobody can tell, so it is as it was": {shows{err: errors.New("NetworkManager does not answer")}, entry.ToCome},
	} {
		tr := transaction{entry: entry}
		a := &Agent{Options: Options{Backend: row.backend}}
		tr.hear(a.commits(t.Context(), entry))
		if diff := cmp.Diff(row.want, tr.entry.ToCome); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
