package desired

import (
	"strings"
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestNameServersThatNoProgramMayAskAreWarnedOf(t *testing.T) {
	const servers = `dns-resolver: {config: {server: [192.0.2.53]}}`
	for sentence, c := range map[string]struct {
		keeps, desired string
		warned         bool
	}{
		"NetworkManager writes /etc/resolv.conf itself": {"symlink", servers, false},
		"it hands name servers to systemd-resolved":     {"file", servers, false},
		"it leaves the file alone":                      {"unmanaged", servers, true},
		"search domains get no further either":          {"unmanaged", `dns-resolver: {config: {search: [example.org]}}`, true},
		"a handler before this one did not tell":        {"", servers, false},
		"the policy says no name servers":               {"unmanaged", `interfaces: [{name: eth1, mtu: 1400}]`, false},
		"the policy takes them all away":                {"unmanaged", `dns-resolver: {config: {server: []}}`, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := nameServerWarnings(stateOf(t, c.desired), v1.NodeNetworkStateStatus{ResolvConfManager: c.keeps})
			if len(got) > 0 != c.warned {
				t.Errorf("warned of %q", got)
			}
		})
	}
}

func TestAPolicyIsAvailableWithItsWarningUntilTheNodeIsPutRight(t *testing.T) {
	w := newWorld(t)
	w.state.Status.ResolvConfManager = "unmanaged"
	w.policy("dns", `dns-resolver: {config: {server: [192.0.2.53]}}`, 0)
	w.turns()
	w.approve("dns")
	w.turns()
	w.handle("Idle", v1.TransactionCommitted, false, "")
	w.turns()
	if got := standing(w.enactment("dns").Status); !strings.Contains(got, "Available") || !strings.Contains(got, "warning: NetworkManager leaves /etc/resolv.conf") {
		t.Error(got)
	}
	w.state.Status.ResolvConfManager = "symlink"
	w.turns()
	if got := standing(w.enactment("dns").Status); !strings.Contains(got, "Available") || strings.Contains(got, "warning") {
		t.Error(got)
	}
}
