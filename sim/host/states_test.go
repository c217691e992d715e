package host_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
)

// labNode is like a node of the lab's suite.
func labNode() host.Options {
	return host.Options{NICs: []host.NIC{
		{
			Name: "eth0", Profile: true, Addresses: prefixes("192.0.2.11/24", "2001:db8::11/64"),
			Gateways: []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")}, DNS: []string{"192.0.2.1"},
		},
		{Name: "eth1"}, {Name: "eth2"}, {Name: "eth3"},
	}}
}

// parsed is a YAML document as a state.
func parsed(t *testing.T, document []byte) state.State {
	t.Helper()
	raw, err := yaml.YAMLToJSON(document)
	if err != nil {
		t.Fatal(err)
	}
	s, err := state.ParseDesired(raw)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// apply applies, makes permanent, commits and tidies, as the handler does.
func (n *node) apply(t *testing.T, desired state.State) error {
	t.Helper()
	b := blocking{n, t, n.host.Backend(n.process)}
	change := profiles.Change{Hostname: desired.Hostname(), OpenVSwitch: desired.OpenVSwitch(), Scripts: profiles.ScriptsOf(desired, nil, false)}
	for _, one := range desired.Interfaces() {
		if one.IsAbsent() {
			change.Absent = append(change.Absent, profiles.Interface{Name: one.Name, Type: one.Type})
		}
	}
	before := n.host.Profiles()
	made, held, err := b.Apply(t.Context(), desired, time.Minute, nil)
	if err != nil {
		return err
	}
	trial := &profiles.Trial{Snapshot: n.host.Profiles(), Held: held}
	if err := b.all(profiles.Permanent(before, trial, trial.Snapshot, change)); err != nil {
		return err
	}
	if err := b.Commit(t.Context(), made); err != nil {
		return err
	}
	return b.all(profiles.Tidy(before, trial, n.host.Profiles(), change))
}

func (b blocking) all(actions []profiles.Action) error {
	for _, action := range actions {
		if err := b.Do(b.t.Context(), action); err != nil {
			return err
		}
	}
	return nil
}

// shows asserts that the host shows all of desired, and the same thing again.
func (n *node) shows(t *testing.T, desired state.State) {
	t.Helper()
	shown := n.host.Show()
	if missing := state.Missing(desired, shown); len(missing) > 0 {
		t.Errorf("missing: %v\n%s", missing, shown.JSON())
	}
	again, err := state.Parse(shown.JSON())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(shown.JSON()), string(again.JSON())); diff != "" {
		t.Error(diff)
	}
	if _, err := state.ParseDesired(shown.JSON()); err != nil {
		t.Errorf("what is shown is not in nmstate's words: %v", err)
	}
}

func TestStatesOfTheSuiteAreShownAfterTheirApply(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("../../e2e/suite/testdata/states.txtar")
	if err != nil {
		t.Fatal(err)
	}
	n := newNode(t, labNode())
	for _, file := range archive.Files {
		t.Run(file.Name, func(t *testing.T) {
			desired := parsed(t, file.Data)
			if err := n.apply(t, desired); err != nil {
				t.Fatal(err)
			}
			n.shows(t, desired)
			revision := n.host.Revision()
			if err := n.apply(t, desired); err != nil {
				t.Fatal(err)
			}
			n.shows(t, desired)
			if now := n.host.Revision(); now > revision+1 {
				t.Errorf("the same state once more has changed something: revision %d became %d", revision, now)
			}
		})
	}
}

// unmodelled are the types of interfaces in the examples that the model refuses.
var unmodelled = []string{"hsr", "infiniband", "ip-tunnel", "ipsec", "mac-vtap", "macsec", "sr-iov"}

func TestExamplesOfTheDocumentationAreShownAfterTheirApply(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/examples/103-*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "103-"), ".yaml")
		t.Run(name, func(t *testing.T) { example(t, name, path) })
	}
}

func example(t *testing.T, name, path string) {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(raw), "\n---\n") {
		var policy struct {
			Spec struct {
				Capture      map[string]string `json:"capture"`
				DesiredState map[string]any    `json:"desiredState"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal([]byte(part), &policy); err != nil {
			t.Fatal(err)
		}
		if policy.Spec.DesiredState == nil || len(policy.Spec.Capture) > 0 {
			continue
		}
		n := newNode(t, labNode())
		desired := state.FromTree(policy.Spec.DesiredState)
		err := n.apply(t, desired)
		if slices.Contains(unmodelled, name) {
			if err == nil {
				t.Error("the model takes what it does not know")
			}
			t.Logf("refused: %v", err)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		n.shows(t, desired)
	}
}

var _ backend.Backend = blocking{}
