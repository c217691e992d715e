package probe

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
)

// startBus starts a private D-Bus and returns its address.
func startBus(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("dbus-daemon"); err != nil {
		if os.Getenv("NMSTATE_STRICT") == "1" {
			t.Fatal("not skipped in strict mode: there is no dbus-daemon")
		}
		t.Skip("there is no dbus-daemon (Debian: dbus-daemon)")
	}
	dir, err := os.MkdirTemp("", "bus") // A socket's path must be short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	address, config := "unix:path="+filepath.Join(dir, "bus"), filepath.Join(dir, "bus.conf")
	text := fmt.Sprintf(`<busconfig><type>session</type><listen>%s</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>`, address)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon := exec.Command("dbus-daemon", "--config-file="+config, "--nofork", "--nopidfile", "--nosyslog")
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = daemon.Process.Kill(); _ = daemon.Wait() })
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		conn, err := dbus.Connect(address)
		if err == nil {
			_ = conn.Close()
			return address
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// becomeNetworkManager connects something that owns NetworkManager's name.
func becomeNetworkManager(t *testing.T, address string) *dbus.Conn {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := conn.RequestName("org.freedesktop.NetworkManager", dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestNameServersComeFromNetworkManagerFirst(t *testing.T) {
	const dnsManager = "org.freedesktop.NetworkManager.DnsManager"
	entry := map[string]dbus.Variant{"nameservers": dbus.MakeVariant([]string{"192.0.2.1"})}
	file := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(file, []byte("nameserver 192.0.2.53\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hangs := func(conn *dbus.Conn) error {
		wait := func(string, string) (dbus.Variant, *dbus.Error) { <-t.Context().Done(); return dbus.Variant{}, nil }
		return conn.ExportMethodTable(map[string]any{"Get": wait}, "/org/freedesktop/NetworkManager/DnsManager", "org.freedesktop.DBus.Properties")
	}
	answers := func(entries ...map[string]dbus.Variant) func(conn *dbus.Conn) error {
		return func(conn *dbus.Conn) error {
			_, err := prop.Export(conn, "/org/freedesktop/NetworkManager/DnsManager", prop.Map{dnsManager: {"Configuration": {Value: entries}}})
			return err
		}
	}
	tests := map[string]struct {
		networkManager func(conn *dbus.Conn) error
		want           string
	}{
		"those of NetworkManager are taken":                     {answers(entry), "192.0.2.1"},
		"without any of NetworkManager, the file's are taken":   {answers(), "192.0.2.53"},
		"without NetworkManager, the file's are taken":          {nil, "192.0.2.53"},
		"of a NetworkManager that hangs, the file's are taken":  {hangs, "192.0.2.53"},
		"of one that knows no DNS at all, the file's are taken": {func(*dbus.Conn) error { return nil }, "192.0.2.53"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			address := startBus(t)
			if test.networkManager != nil {
				if err := test.networkManager(becomeNetworkManager(t, address)); err != nil {
					t.Fatal(err)
				}
			}
			got, err := New(Options{Clock: clock.RealClock{}, BusAddress: address, ResolvConf: file}).nameServers(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := []netip.Addr{netip.MustParseAddr(test.want)}
			if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheGlobalNameServersAreTheOnlyOnes(t *testing.T) {
	entry := func(server string, more map[string]any) map[string]dbus.Variant {
		tree := map[string]dbus.Variant{"nameservers": dbus.MakeVariant([]string{server})}
		for key, value := range more {
			tree[key] = dbus.MakeVariant(value)
		}
		return tree
	}
	global, ofEth0 := entry("192.0.2.99", nil), entry("192.0.2.1", map[string]any{"interface": "eth0"})
	ofDomain := entry("192.0.2.7", map[string]any{"domains": []string{"example.com"}})
	for sentence, c := range map[string]struct {
		entries []map[string]dbus.Variant
		want    []string
	}{
		"each interface's are asked":                        {[]map[string]dbus.Variant{ofEth0, ofDomain}, []string{"192.0.2.1", "192.0.2.7"}},
		"with global ones an interface's are not used":      {[]map[string]dbus.Variant{global, ofEth0}, []string{"192.0.2.99"}},
		"whatever comes first":                              {[]map[string]dbus.Variant{ofEth0, global}, []string{"192.0.2.99"}},
		"a global search list without servers says nothing": {[]map[string]dbus.Variant{{}, ofEth0}, []string{"192.0.2.1"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, entryServers(c.entries)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
