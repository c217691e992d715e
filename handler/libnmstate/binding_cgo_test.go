//go:build linux && cgo && nmstate

package nmstate

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const (
	oneNIC   = `{"interfaces": [{"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1500}]}`
	otherMTU = `{"interfaces": [{"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1400}]}`
)

// contains checks an answer by what it must have in it.
func contains(t *testing.T, got string, err error, want ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range want {
		if !strings.Contains(got, text) {
			t.Errorf("%s does not have %s", got, text)
		}
	}
}

// refused checks nmstate's kind and a piece of its message.
func refused(t *testing.T, err error, kind, message string) {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) {
		t.Fatalf("got %v, want an *Error", err)
	}
	if failure.Kind != kind || !strings.Contains(failure.Message, message) {
		t.Errorf("got kind %q, message %q; want %q and %q in it", failure.Kind, failure.Message, kind, message)
	}
}

func TestDifferencesAreOnlyWhatDiffers(t *testing.T) {
	got, err := New().GenerateDifferences(otherMTU, oneNIC)
	contains(t, got, err, `"mtu":1400`)
	if strings.Contains(got, "1500") {
		t.Errorf("the old value is in it: %s", got)
	}
}

func TestConfigurationIsAKeyfile(t *testing.T) {
	got, err := New().GenerateConfiguration(otherMTU)
	contains(t, got, err, "NetworkManager", "eth1.nmconnection", "mtu=1400")
}

func TestPolicyIsResolvedAgainstTheCurrentState(t *testing.T) {
	policy := `{"capture": {"nic": "interfaces.mtu == \"1500\""},
		"desiredState": {"interfaces": [{"name": "{{ capture.nic.interfaces.0.name }}", "type": "ethernet", "mtu": 1400}]}}`
	got, err := New().NetStateFromPolicy(policy, oneNIC)
	contains(t, got, err, `"eth1"`, `1400`)
}

func TestFormatPutsTheNameFirst(t *testing.T) {
	got, err := New().FormatNetState(`{"interfaces": [{"mtu": 1500, "type": "ethernet", "name": "eth1"}]}`)
	contains(t, got, err)
	if strings.Index(got, `"name"`) > strings.Index(got, `"mtu"`) {
		t.Errorf("not in nmstate's order: %s", got)
	}
}

func TestValidate(t *testing.T) {
	n := New()
	if err := n.ValidateNetState(oneNIC, ""); err != nil {
		t.Errorf("a good state: %v", err)
	}
	if err := n.ValidateNetState(otherMTU, oneNIC); err != nil {
		t.Errorf("a good state with a current one: %v", err)
	}
	refused(t, n.ValidateNetState(`{"interfaces": [{"name": "eth1", "type": "ethernet", "mtuu": 1}]}`, ""), "InvalidArgument", "mtuu")
}

func TestErrorsKeepTheKind(t *testing.T) {
	n := New()
	bad := `{"interfaces": 1}`
	_, err := n.ApplyNetState(bad)
	refused(t, err, "InvalidArgument", "")
	_, err = n.GenerateConfiguration(bad)
	refused(t, err, "InvalidArgument", "")
	_, err = n.GenerateDifferences(bad, oneNIC)
	refused(t, err, "InvalidArgument", "")
	_, err = n.FormatNetState(bad)
	refused(t, err, "InvalidArgument", "")
	_, err = n.NetStateFromPolicy(`{"capture": {"x": "interfaces.name =="}, "desiredState": {}}`, oneNIC)
	// The library's parser says so; the kind PolicyError is the resolver's.
	refused(t, err, "InvalidArgument", "PolicyError")
}

func TestCallsMayRunAtOnce(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := New().GenerateConfiguration(oneNIC); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestRetrieveFromTheKernel runs in a network namespace of its own, in which
// there is nothing but lo: as a process, since a thread that has been in
// another namespace is none for other goroutines.
func TestRetrieveFromTheKernel(t *testing.T) {
	const inside = "NMSTATE_TEST_NETNS"
	if os.Getenv(inside) != "" {
		got, err := New(WithKernelOnly()).RetrieveNetState()
		contains(t, got, err)
		var state struct{ Interfaces []struct{ Name string } }
		if err := json.Unmarshal([]byte(got), &state); err != nil {
			t.Fatal(err)
		}
		if len(state.Interfaces) != 1 || state.Interfaces[0].Name != "lo" {
			t.Errorf("want lo alone, got %s", got)
		}
		return
	}
	if os.Geteuid() != 0 {
		if os.Getenv("NMSTATE_STRICT") == "1" {
			t.Fatal("a network namespace needs root")
		}
		t.Skip("a network namespace needs root")
	}
	again := exec.Command("/proc/self/exe", "-test.run=^TestRetrieveFromTheKernel$", "-test.v")
	again.Env = append(os.Environ(), inside+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}
