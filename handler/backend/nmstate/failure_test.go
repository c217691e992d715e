package nmstate

import (
	"errors"
	"strings"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
)

func TestClassified(t *testing.T) {
	cases := map[string]struct {
		failure failure
		want    error // nil: none of the port's
		text    string
	}{
		"an unknown key is an invalid state": {
			failure: failure{"InvalidArgument", "Invalid property : unknown field `mtuu`"},
			want:    backend.ErrInvalid,
			text:    "the desired state is not valid: unknown field `mtuu`",
		},
		"what the parser says loses its steps and its place": {
			failure: failure{"InvalidArgument", "Error on converting string to rust NetworkState: InvalidArgument: " +
				"Invalid YAML string: interfaces: unknown field `mtuu` at line 1 column 15"},
			want: backend.ErrInvalid,
			text: "the desired state is not valid: interfaces: unknown field `mtuu`",
		},
		"a policy that cannot be resolved is an invalid state, on one line": {
			failure: failure{"PolicyError", "broken\n| interfaces.name ==\n| ...^"},
			want:    backend.ErrInvalid,
			text:    "the desired state is not valid: broken | interfaces.name == | ...^",
		},
		"what the node does not support is an invalid state": {
			failure: failure{"NotSupportedError", "SR-IOV is not supported by eth1"},
			want:    backend.ErrInvalid,
			text:    "the desired state is not valid: SR-IOV is not supported by eth1",
		},
		"no D-Bus is no NetworkManager": {
			failure: failure{"Bug", "DbusConnectionError: I/O error: No such file or directory (os error 2)"},
			want:    backend.ErrUnavailable,
			text:    "NetworkManager is not available: I/O error: No such file or directory (os error 2)",
		},
		"a conflict is a checkpoint in the way": {
			failure: failure{"Bug", "CheckpointConflict: Another checkpoint exists, please wait its timeout or destroy it"},
			want:    backend.ErrBusy,
			text:    "another checkpoint is in the way: Another checkpoint exists, please wait its timeout or destroy it",
		},
		"no active checkpoint is one that is gone": {
			failure: failure{"Bug", "NotFound: Not active checkpoints"},
			want:    backend.ErrGone,
			text:    "the checkpoint is gone: Not active checkpoints",
		},
		"name servers that a file sets are named, with what to do": {
			failure: failure{"Bug", `Manager(Failed): Global DNS configuration already set via configuration file`},
			text: "Global DNS configuration already set via configuration file: name servers in a file of this node's /etc/NetworkManager, section [global-dns-domain-*], go before any policy's: " +
				"take them out there, or dns-resolver out of the policy",
		},
		"another thing not found is none of these": {
			failure: failure{"Bug", "NotFound: no such device"},
			text:    "no such device",
		},
		"a link that the kernel cannot make loses Rust's names": {
			failure: failure{"Bug", "Device(CreationFailed): Failed to create link"},
			text:    "Failed to create link",
		},
		"an unknown condition of NetworkManager's too": {
			failure: failure{"Bug", `Manager(Unknown("Odd.Thing")): words`},
			text:    "words",
		},
		"a failed verification keeps its kind": {
			failure: failure{"VerificationError", "Verification failure: eth1.interface.mtu desire '9000', current '1500'"},
			text:    "VerificationError: Verification failure: eth1.interface.mtu desire '9000', current '1500'",
		},
		"a missing plugin is not the state's fault": {
			failure: failure{"DependencyError", "plugin for 'ovs-bridge' not available"},
			text:    "DependencyError: plugin for 'ovs-bridge' not available",
		},
		"an error of ours is as it is": {
			failure: failure{"", "built without libnmstate"},
			text:    "built without libnmstate",
		},
		"silence has words": {
			failure: failure{"Bug", ""},
			text:    "nmstate failed without a word",
		},
	}
	sentinels := []error{backend.ErrInvalid, backend.ErrBusy, backend.ErrUnavailable, backend.ErrGone}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := classified(c.failure)
			for _, sentinel := range sentinels {
				if errors.Is(got, sentinel) != (sentinel == c.want) {
					t.Errorf("wraps %q: %t", sentinel, errors.Is(got, sentinel))
				}
			}
			if got.Error() != c.text {
				t.Errorf("got  %q\nwant %q", got, c.text)
			}
			if strings.Contains(got.Error(), "\n") {
				t.Error("more than one line")
			}
		})
	}
}

func TestCheckpointIn(t *testing.T) {
	cases := map[string]struct{ log, want string }{
		"a log that tells it": {`[{"msg":"Created checkpoint /org/freedesktop/NetworkManager/Checkpoint/7"}]`,
			"/org/freedesktop/NetworkManager/Checkpoint/7"},
		"a log that does not": {`[{"msg":"Another checkpoint exists"}]`, ""},
		"no log":              {"", ""},
	}
	for name, c := range cases {
		if got := checkpointIn([]byte(c.log)); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestFailedTrial(t *testing.T) {
	const ours, theirs = "/org/freedesktop/NetworkManager/Checkpoint/1", "/org/freedesktop/NetworkManager/Checkpoint/2"
	conflict := &failure{"Bug", "CheckpointConflict: Another checkpoint exists"}
	away := &failure{"Bug", "DbusConnectionError: gone"}
	cases := map[string]struct {
		seen backend.Checkpoint
		said report
		want error // nil: none of the port's
	}{
		"refused before a checkpoint": {
			said: report{Error: &failure{"InvalidArgument", "x"}}, want: backend.ErrInvalid},
		"refused after it": {
			seen: ours, said: report{Checkpoint: ours, Error: &failure{"InvalidArgument", "x"}}},
		"no NetworkManager from the outset": {
			said: report{Error: away}, want: backend.ErrUnavailable},
		"NetworkManager died in the middle": {
			seen: ours, said: report{Checkpoint: ours, Error: away}},
		"somebody else's checkpoint was quicker": {
			said: report{Error: conflict}, want: backend.ErrBusy},
		"somebody else's checkpoint was quicker and was taken for ours": {
			seen: theirs, said: report{Error: conflict}, want: backend.ErrBusy},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := (&trial{checkpoint: c.seen}).failed(c.said)
			for _, sentinel := range []error{backend.ErrInvalid, backend.ErrBusy, backend.ErrUnavailable, backend.ErrGone} {
				if errors.Is(got, sentinel) != (sentinel == c.want) {
					t.Errorf("%v wraps %q: %t", got, sentinel, errors.Is(got, sentinel))
				}
			}
		})
	}
}
