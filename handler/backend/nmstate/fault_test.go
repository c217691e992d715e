//go:build linux && cgo && nmstate

package nmstate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// bridges is a state that takes NetworkManager a good part of a second.
func bridges(t *testing.T, count int) state.State {
	t.Helper()
	var one []string
	for i := range count {
		one = append(one, fmt.Sprintf(`{"name": "br%d", "type": "linux-bridge", "state": "up", "bridge": {"port": []}}`, i))
	}
	return parsed(t, `{"interfaces": [`+strings.Join(one, ",")+`]}`)
}

func TestWithoutNetworkManagerEveryCallIsErrUnavailable(t *testing.T) {
	n := newNode(t)
	n.stopNetworkManager(t)
	const checkpoint = backend.Checkpoint(checkpointPrefix + "1")
	calls := map[string]func(ctx context.Context) error{
		"Show": func(ctx context.Context) error { _, err := n.backend.Show(ctx); return err },
		"Apply": func(ctx context.Context) error {
			_, _, err := n.backend.Apply(ctx, bridges(t, 1), time.Minute, nil)
			return err
		},
		"Commit":   func(ctx context.Context) error { return n.backend.Commit(ctx, checkpoint) },
		"Rollback": func(ctx context.Context) error { return n.backend.Rollback(ctx, checkpoint) },
		"Profiles": func(ctx context.Context) error { _, err := n.backend.Profiles(ctx); return err },
		"Do": func(ctx context.Context) error {
			return n.backend.Do(ctx, profiles.Action{Verb: profiles.Reload})
		},
		"Pending":  func(ctx context.Context) error { _, err := n.backend.Pending(ctx); return err },
		"Instance": func(ctx context.Context) error { _, err := n.backend.Instance(ctx); return err },
	}
	for name, call := range calls {
		err := call(t.Context())
		if !errors.Is(err, backend.ErrUnavailable) {
			t.Errorf("%s: got %v, want ErrUnavailable", name, err)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

func TestRestartIsAnotherInstanceAndItsCheckpointsAreGone(t *testing.T) {
	n := newNode(t)
	first, err := n.backend.Instance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkpoint, _, err := n.backend.Apply(t.Context(), bridges(t, 1), time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	n.stopNetworkManager(t)
	n.startNetworkManager(t)
	second, err := n.backend.Instance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if first == second {
		t.Errorf("the instance is still %s", first)
	}
	if err := n.backend.Commit(t.Context(), checkpoint); !errors.Is(err, backend.ErrGone) {
		t.Errorf("Commit: got %v, want ErrGone", err)
	}
}

func TestNetworkManagerKilledInMidApplyIsNotTakenForNothingChanged(t *testing.T) {
	n := newNode(t)
	armed := false
	_, _, err := n.backend.Apply(t.Context(), bridges(t, 20), time.Minute, func(backend.Checkpoint) {
		armed = true
		n.stopNetworkManager(t)
	})
	t.Logf("Apply: %v", err)
	if err == nil || !armed {
		t.Fatalf("got error %v, armed %t", err, armed)
	}
	for _, nothingChanged := range []error{backend.ErrInvalid, backend.ErrBusy, backend.ErrUnavailable} {
		if errors.Is(err, nothingChanged) {
			t.Errorf("the error wraps %q, though the change may be there", nothingChanged)
		}
	}
}

// TestFailureAfterTheCheckpointIsRolledBack: this kernel or a veth refuses the
// MTU, which nmstate notices when it verifies.
func TestFailureAfterTheCheckpointIsRolledBack(t *testing.T) {
	n := newNode(t)
	before := n.Kernel(t)
	_, _, err := n.backend.Apply(t.Context(), parsed(t, `{"interfaces": [{"name": "eth1", "type": "ethernet", "state": "up",
		"ethernet": {"sr-iov": {"total-vfs": 2}}}]}`), time.Minute, nil)
	t.Logf("Apply: %v", err)
	if err == nil {
		t.Fatal("a veth took SR-IOV")
	}
	eventually(t, "nmstate has rolled back", func() bool {
		pending, err := n.backend.Pending(t.Context())
		return err == nil && len(pending) == 0 && n.Kernel(t) == before
	})
}

// TestWhatNetworkManagerLeavesAlone: nmstate asks for the activation again and again, for
// two minutes; the deadline is shorter. The node's configuration names peer*.
func TestWhatNetworkManagerLeavesAlone(t *testing.T) {
	for sentence, desired := range map[string]string{
		"a NIC":             `{"interfaces": [{"name": "peer0", "type": "ethernet", "state": "up", "mtu": 1400}]}`,
		"a port":            `{"interfaces": [{"name": "br1", "type": "linux-bridge", "state": "up", "bridge": {"port": [{"name": "peer0"}]}}]}`,
		"what is made anew": `{"interfaces": [{"name": "peerbr", "type": "linux-bridge", "state": "up", "bridge": {"port": []}}]}`,
	} {
		t.Run(sentence, func(t *testing.T) {
			n := newNode(t)
			before := n.Kernel(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, _, err := n.backend.Apply(ctx, parsed(t, desired), 5*time.Minute, nil)
			if err == nil || !strings.Contains(err.Error(), "NetworkManager is configured to leave it alone on this node") {
				t.Errorf("Apply: %v", err)
			}
			eventually(t, "nothing is left of it", func() bool {
				pending, err := n.backend.Pending(t.Context())
				return err == nil && len(pending) == 0 && n.Kernel(t) == before
			})
		})
	}
}

// TestChildDiesWithTheHandler: a handler killed in mid-apply leaves nobody who
// goes on changing the network. The handler is this binary once more.
func TestChildDiesWithTheHandler(t *testing.T) {
	n := newNode(t)
	before := n.Kernel(t)
	handler := exec.Command("/proc/self/exe", "-test.run=^TestHandlerThatIsKilled$")
	handler.Env = append(os.Environ(), victim+"=1")
	if err := handler.Start(); err != nil {
		t.Fatal(err)
	}
	var children []int
	eventually(t, "the trial has begun", func() bool {
		pending, err := n.backend.Pending(t.Context())
		children = childrenOf(t, handler.Process.Pid)
		return err == nil && len(pending) == 1 && len(children) == 1
	})
	if err := handler.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = handler.Wait() // It was killed.
	eventually(t, "the child is dead", func() bool { return isDead(children[0]) })
	eventually(t, "NetworkManager has undone it", func() bool {
		pending, err := n.backend.Pending(t.Context())
		return err == nil && len(pending) == 0 && n.Kernel(t) == before
	})
}

// victim in the environment makes TestHandlerThatIsKilled a handler.
const victim = "NMSTATE_TEST_VICTIM"

func TestHandlerThatIsKilled(t *testing.T) {
	if os.Getenv(victim) == "" {
		return // It is a part of TestChildDiesWithTheHandler.
	}
	_, _, err := newBackend(t).Apply(t.Context(), bridges(t, 40), 3*time.Second, nil)
	t.Fatalf("it outlived the apply: %v", err)
}

func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	var found []int
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil // It has ended.
	}
	for _, task := range tasks {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		if err != nil {
			continue
		}
		for _, field := range strings.Fields(string(raw)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, child)
		}
	}
	return found
}

// isDead tells it of a process that is gone or waits to be reaped: we are the
// init of this node, and nobody reaps here.
func isDead(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	return strings.HasPrefix(rest, "Z")
}
