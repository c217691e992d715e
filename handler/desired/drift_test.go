package desired

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestDriftEvents(t *testing.T) {
	mtu := v1.Drift{Path: "interfaces[eth1].mtu", Expected: "1400", Found: "1500", Policy: "a", Action: "Correcting"}
	damped, reported := mtu, mtu
	damped.Action, reported.Action = "Damped", "Reported"
	address := v1.Drift{Path: "interfaces[eth1].ipv4.address", Expected: "192.0.2.1/24", Policy: "a", Action: "Correcting"}
	byHand := v1.Drift{Path: "interfaces[eth2].mtu", Expected: "1400", Found: "1500"}
	status := func(hash string, drift ...v1.Drift) v1.NodeNetworkStateStatus {
		return v1.NodeNetworkStateStatus{Drift: drift, AppliedSources: []v1.Source{{Policy: "a", Hash: hash}}}
	}
	for name, test := range map[string]struct {
		before, after v1.NodeNetworkStateStatus
		want          []string
	}{
		"what is found is told with both values": {
			status("h"), status("h", mtu),
			[]string{"a DriftFound: node n1: interfaces[eth1].mtu: expected 1400, found 1500; it is corrected"},
		},
		"several leaves of a policy are one event": {
			status("h"), status("h", mtu, address),
			[]string{"a DriftFound: node n1: interfaces[eth1].mtu: expected 1400, found 1500; it is corrected (and 1 more)"},
		},
		"what was told is not told again": {status("h", mtu), status("h", mtu), nil},
		"that it does not stay corrected is news": {
			status("h", mtu), status("h", damped),
			[]string{"a DriftFound: node n1: interfaces[eth1].mtu: expected 1400, found 1500; it keeps coming back, so it is left alone for a while"},
		},
		"what is only reported says so": {
			status("h"), status("h", reported),
			[]string{"a DriftFound: node n1: interfaces[eth1].mtu: expected 1400, found 1500; it is only reported"},
		},
		"what is as it should be again is told": {
			status("h", mtu, address), status("h", mtu),
			[]string{"a DriftCorrected: node n1: interfaces[eth1].ipv4.address is as it should be again"},
		},
		"a policy that asks for something else corrected nothing": {status("h", mtu), status("other"), nil},
		"a policy that is gone corrected nothing":                 {status("h", mtu), v1.NodeNetworkStateStatus{}, nil},
		"a state written by hand has no policy to tell it on":     {status("h"), status("h", byHand), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range DriftEvents("n1", test.before, test.after) {
				got = append(got, fmt.Sprintf("%s %s: %s", e.Policy, e.Reason, e.Message))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	long := mtu
	long.Found = strings.Repeat("x\n", 5000)
	if e := DriftEvents("n1", status("h"), status("h", long, address)); len(e[0].Message) > 1024 || strings.Contains(e[0].Message, "\n") {
		t.Errorf("%d bytes", len(e[0].Message))
	}
}
