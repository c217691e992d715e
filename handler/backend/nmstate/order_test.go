//go:build linux && cgo && nmstate

package nmstate

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// threeGateways are the profiles of NICs that lead to a gateway each, in both families.
// NetworkManager gives their routes the metrics 100, 101 and 102.
func threeGateways() map[string]string {
	found := map[string]string{}
	for i, network := range []string{"192.0.2", "198.51.100", "203.0.113"} {
		found[fmt.Sprintf("eth%d.nmconnection", i+1)] = fmt.Sprintf("[connection]\nid=eth%[1]d\nuuid=00000000-0000-4000-8000-00000000000%[1]d\ntype=ethernet\ninterface-name=eth%[1]d\n"+
			"[ipv4]\nmethod=manual\naddress1=%[2]s.1/24,%[2]s.254\n[ipv6]\nmethod=manual\naddress1=2001:db8:%[1]d::2/64,2001:db8:%[1]d::1\n", i+1, network)
	}
	return found
}

// defaults are the names of the devices that lead to a gateway, the first one first.
func defaults(t *testing.T, family string) []string {
	t.Helper()
	out, err := exec.Command("ip", family, "route", "show", "default").Output()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		_, rest, _ := strings.Cut(line, " dev ")
		if name := strings.Fields(rest)[0]; !slices.Contains(found, name) { // A restart may leave one beside another.
			found = append(found, name)
		}
	}
	return found
}

// TestTheFirstGatewayStaysTheFirst: what NetworkManager activates anew comes last of
// all. It comes first again, without a file that says so.
func TestTheFirstGatewayStaysTheFirst(t *testing.T) {
	n := newNodeWith(t, []string{"eth2", "eth3"}, threeGateways())
	order := func() string { return fmt.Sprint(defaults(t, "-4"), defaults(t, "-6")) }
	note := func() foreign.Snapshot {
		t.Helper()
		found, err := foreign.Kernel{}.Note(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	complete := func() bool {
		active := 0
		for _, d := range n.picture(t).Devices {
			if d.State == profiles.Active && d.Profile != "" && !d.External {
				active++
			}
		}
		return active == 3 && len(defaults(t, "-4"))+len(defaults(t, "-6")) == 6
	}
	eventually(t, "all NICs lead to their gateways", complete)
	first, before, asBefore := defaults(t, "-4")[0], note(), order()
	for _, desired := range []string{
		`{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"` + first + `"}]}}]}`,
		`{"interfaces":[{"name":"` + first + `","type":"ethernet","state":"down"}]}`,
	} {
		checkpoint, _, err := n.backend.Apply(t.Context(), parsed(t, desired), time.Minute, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.backend.Rollback(t.Context(), checkpoint); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the gateways are back", complete)
		lost := foreign.Outranked(before, note())
		t.Logf("before %s, rolled back %s: %v", asBefore, order(), lost)
		files := onDisk(n.picture(t).Files)
		for _, o := range lost {
			n.doAll(t, profiles.Action{Verb: profiles.SetMetric, Device: o.Device, IPv6: o.IPv6, Metric: o.Metric})
		}
		eventually(t, "the order is as before", func() bool { return order() == asBefore })
		if diff := cmp.Diff(files, onDisk(n.picture(t).Files)); diff != "" {
			t.Errorf("the profiles on disk (-before +now):\n%s", diff)
		}
		n.RestartNetworkManager(t)
		eventually(t, "the order is as before, with NetworkManager restarted", func() bool { return complete() && order() == asBefore })
	}
}
