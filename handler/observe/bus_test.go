package observe

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
)

// bus is a private D-Bus in a folder of the test.
type bus struct {
	dir     string
	address string
	daemon  *exec.Cmd
	// said is shown only with a failure: it complains wherever it may not
	// raise its limits.
	said bytes.Buffer
}

func startBus(t *testing.T) *bus {
	t.Helper()
	if _, err := exec.LookPath("dbus-daemon"); err != nil {
		skip(t, "there is no dbus-daemon (Debian: dbus-daemon)")
	}
	dir, err := os.MkdirTemp("", "bus") // A socket's path must be short.
	if err != nil {
		t.Fatal(err)
	}
	b := &bus{dir: dir, address: "unix:path=" + filepath.Join(dir, "bus")}
	t.Cleanup(func() {
		b.kill()
		if t.Failed() {
			t.Log(b.said.String())
		}
		_ = os.RemoveAll(dir)
	})
	config := fmt.Sprintf(`<busconfig>
  <type>session</type>
  <listen>%s</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/> <allow own="*"/> <allow send_type="method_call"/> <allow send_type="signal"/>
    <allow send_type="method_return"/> <allow send_type="error"/> <allow receive_type="method_call"/>
    <allow receive_type="method_return"/> <allow receive_type="error"/> <allow receive_type="signal"/>
  </policy>
</busconfig>`, b.address)
	if err := os.WriteFile(filepath.Join(dir, "bus.conf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	b.start(t)
	return b
}

func (b *bus) start(t *testing.T) {
	t.Helper()
	_ = os.Remove(filepath.Join(b.dir, "bus"))
	b.daemon = exec.Command("dbus-daemon", "--config-file="+filepath.Join(b.dir, "bus.conf"), "--nofork", "--nopidfile", "--nosyslog")
	b.daemon.Stderr = &b.said
	if err := b.daemon.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the bus answers", func() bool {
		conn, err := dbus.Connect(b.address)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
}

func (b *bus) kill() {
	_ = b.daemon.Process.Kill()
	_ = b.daemon.Wait()
}

// become connects something that owns NetworkManager's name.
func (b *bus) become(t *testing.T) *dbus.Conn {
	t.Helper()
	conn, err := dbus.Connect(b.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	reply, err := conn.RequestName(nmName, dbus.NameFlagAllowReplacement|dbus.NameFlagReplaceExisting)
	if err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("taking NetworkManager's name: %v %v", reply, err)
	}
	return conn
}

// receiveNames passes over Network events, whose number is not fixed.
func receiveNames(t *testing.T, w *Watcher, count int) []Kind {
	t.Helper()
	var got []Kind
	for len(got) < count {
		if kind := receive(t, w); kind != Network {
			got = append(got, kind)
		}
	}
	return got
}

// follow runs a watcher that only follows the bus. Each connection that it has
// made is told on the channel.
func follow(t *testing.T, b *bus) (*Watcher, <-chan struct{}) {
	t.Helper()
	w := New(Options{Clock: clock.RealClock{}, Log: logr.Discard(), BusAddress: b.address, Interval: time.Nanosecond})
	ctx, cancel := context.WithCancel(context.Background())
	connected := make(chan struct{}, 100)
	var group sync.WaitGroup
	group.Go(func() { w.deliver(ctx) })
	seen := &owner{}
	group.Go(func() {
		w.keep(ctx, "the test's bus", func(ctx context.Context, up func()) error {
			return w.watchBus(ctx, seen, func() { up(); connected <- struct{}{} })
		})
	})
	t.Cleanup(func() { cancel(); group.Wait() })
	return w, connected
}

func await(t *testing.T, what string, channel <-chan struct{}) {
	t.Helper()
	select {
	case <-channel:
	case <-time.After(patience):
		t.Fatalf("still not: %s", what)
	}
}

func TestNetworkManagerComesAndGoes(t *testing.T) {
	b := startBus(t)
	w, connected := follow(t, b)
	await(t, "connected", connected)

	first := b.become(t)
	released, err := first.ReleaseName(nmName)
	if err != nil || released != dbus.ReleaseNameReplyReleased {
		t.Fatal(released, err)
	}
	b.become(t)
	last := b.become(t) // Takes the name over from the one before.
	if err := last.Close(); err != nil {
		t.Fatal(err)
	}
	want := []Kind{NetworkManagerBack, NetworkManagerGone, NetworkManagerBack, NetworkManagerRestarted}
	got := receiveNames(t, w, len(want)+1)
	if diff := cmp.Diff(want, got[:len(want)]); diff != "" {
		t.Error(diff)
	}
	// The name falls back to the one that waits in the bus's queue.
	if last := got[len(want)]; last != NetworkManagerRestarted {
		t.Error(last)
	}
}

func TestBusThatRestartsIsARestartOfNetworkManager(t *testing.T) {
	b := startBus(t)
	b.become(t)
	w, connected := follow(t, b)
	await(t, "connected", connected)
	b.kill()
	b.start(t)
	b.become(t)
	await(t, "connected again", connected)
	// Gone and back when the watcher was faster than the new NetworkManager.
	got := receiveNames(t, w, 1)[0]
	if got == NetworkManagerGone {
		got = receiveNames(t, w, 1)[0]
		if got != NetworkManagerBack {
			t.Error(got)
		}
		return
	}
	if got != NetworkManagerRestarted {
		t.Error(got)
	}
}

func TestBusThatIsNotThereYetIsFound(t *testing.T) {
	b := startBus(t)
	b.kill()
	w, connected := follow(t, b)
	b.start(t)
	await(t, "connected", connected)
	if got := receive(t, w); got != Network {
		t.Error(got)
	}
}

func TestSignalsThatMatter(t *testing.T) {
	values := func(names ...string) map[string]dbus.Variant {
		changed := map[string]dbus.Variant{}
		for _, name := range names {
			changed[name] = dbus.MakeVariant("x")
		}
		return changed
	}
	b := startBus(t)
	networkManager := b.become(t)
	w, connected := follow(t, b)
	await(t, "connected", connected)
	if got := receive(t, w); got != Network { // The subscription.
		t.Fatal(got)
	}
	const changed = properties + ".PropertiesChanged"
	tests := []struct {
		name, path, signal string
		body               []any
	}{
		{"DNS", nmPath + "/DnsManager", changed, []any{nmName + ".DnsManager", values("Configuration"), []string{}}},
		{"host name", nmPath + "/Settings", changed, []any{nmName + ".Settings", values("Hostname"), []string{}}},
		{"a device that is disconnected", nmPath + "/Devices/3", changed, []any{nmName + ".Device", values("State"), []string{}}},
		{"LLDP neighbours", nmPath + "/Devices/3", changed, []any{nmName + ".Device", values("LldpNeighbors"), []string{}}},
		{"a profile is changed", nmPath + "/Settings/1", nmName + ".Settings.Connection.Updated", nil},
		{"a profile is made", nmPath + "/Settings", nmName + ".Settings.NewConnection", []any{dbus.ObjectPath(nmPath + "/Settings/2")}},
		{"a profile is deleted", nmPath + "/Settings", nmName + ".Settings.ConnectionRemoved", []any{dbus.ObjectPath(nmPath + "/Settings/2")}},
	}
	for _, test := range tests {
		if err := networkManager.Emit(dbus.ObjectPath(test.path), test.signal, test.body...); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, w); got != Network {
			t.Fatalf("%s: %s", test.name, got)
		}
	}
}

func TestSignalsThatDoNotMatter(t *testing.T) {
	values := map[string]dbus.Variant{"Strength": dbus.MakeVariant(byte(3))}
	tests := map[string]*dbus.Signal{
		"the strength of a wireless network": {
			Path: nmPath + "/AccessPoint/1", Name: properties + ".PropertiesChanged",
			Body: []any{nmName + ".AccessPoint", values, []string{}},
		},
		"another property of a device": {
			Path: nmPath + "/Devices/1", Name: properties + ".PropertiesChanged", Body: []any{nmName + ".Device", values, []string{}},
		},
		"a body of another shape": {Path: nmPath + "/Devices/1", Name: properties + ".PropertiesChanged", Body: []any{1}},
		"a signal unheard of":     {Path: nmPath, Name: nmName + ".CheckPermissions"},
	}
	for name, signal := range tests {
		t.Run(name, func(t *testing.T) {
			if matters(signal) {
				t.Error("it matters")
			}
		})
	}
}

func TestWhatNetworkManagerTellsOfItself(t *testing.T) {
	b := startBus(t)
	if told, err := AskNetworkManager(t.Context(), b.address); err == nil {
		t.Errorf("there is no NetworkManager, but it tells %+v", told)
	}
	networkManager := b.become(t)
	if _, err := prop.Export(networkManager, nmPath, prop.Map{nmName: {"Version": {Value: "1.52.1"}}}); err != nil {
		t.Fatal(err)
	}
	if told, err := AskNetworkManager(t.Context(), b.address); err == nil || told.Version != "1.52.1" {
		t.Errorf("what it tells is kept, and what it does not tell is an error: %+v, %v", told, err)
	}
	if _, err := prop.Export(networkManager, nmPath+"/DnsManager", prop.Map{nmName + ".DnsManager": {"RcManager": {Value: "unmanaged"}}}); err != nil {
		t.Fatal(err)
	}
	if told, err := AskNetworkManager(t.Context(), b.address); err != nil || told != (Daemon{Version: "1.52.1", ResolvConf: "unmanaged"}) {
		t.Errorf("%+v, %v", told, err)
	}
}
