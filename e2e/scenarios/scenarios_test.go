//go:build linux

package scenarios

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/sim/scenario"
)

func TestMain(m *testing.M) {
	if code, ok := lab.Child(context.Background(), os.Args); ok {
		os.Exit(code)
	}
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// skipOrFail: a skip that hides something missing is a failure in strict mode.
func skipOrFail(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("NMSTATE_STRICT") == "1" {
		t.Fatal(why)
	}
	t.Skip("skipped: " + why)
}

func available() error {
	if os.Geteuid() != 0 {
		return errors.New("a lab needs root")
	}
	if err := lab.Available(""); err != nil {
		return err
	}
	if os.Getenv("NMSTATE_BIN") == "" {
		if out, err := exec.CommandContext(context.Background(), "../../hack/need.sh", "gcc").CombinedOutput(); err != nil {
			return fmt.Errorf("the handler cannot be built: %s", out)
		}
	}
	return nil
}

// programs are the handler and the others, built unless NMSTATE_BIN says where
// they are.
func programs(t *testing.T) string {
	t.Helper()
	bin := os.Getenv("NMSTATE_BIN")
	if bin == "" {
		bin = "../../bin"
		out, err := exec.CommandContext(t.Context(), "../../hack/build.sh", "handler", "controllers").CombinedOutput()
		if err != nil {
			t.Fatalf("building the programs: %v\n%s", err, out)
		}
	}
	bin, err := filepath.Abs(bin)
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

const (
	// allOfThem has those run too that are left to the simulator otherwise, for
	// want of time.
	allOfThem = "NMSTATE_ALL_SCENARIOS"
	// inVM has the lab's nodes run in a virtual machine. Without allOfThem these are
	// the scenarios for which a small kernel lacks something.
	inVM = "NMSTATE_VM"
)

// TestOnTheLab runs what a lab can do in a few minutes, those with the same
// topology one after the other.
func TestOnTheLab(t *testing.T) {
	if err := available(); err != nil {
		skipOrFail(t, err.Error())
	}
	all, err := scenario.All()
	if err != nil {
		t.Fatal(err)
	}
	vm, every := os.Getenv(inVM) != "", os.Getenv(allOfThem) != ""
	f := &fleet{bin: programs(t), name: "scenarios", vm: vm}
	t.Cleanup(func() {
		if err := f.drop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	slices.SortStableFunc(all, func(a, b *scenario.Scenario) int {
		return strings.Compare(fmt.Sprint(a.Topology), fmt.Sprint(b.Topology))
	})
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			if why := leftOut(s, vm, every); why != "" {
				t.Skip("skipped: " + why)
			}
			runOn(t, f, s)
		})
	}
}

// leftOut says why a scenario is not run here. The simulator runs all of them.
func leftOut(s *scenario.Scenario, vm, every bool) string {
	// A disk that can be filled has the lab without a VM only.
	full := slices.DeleteFunc(slices.Clone(s.Needs), func(feature string) bool { return feature == needsImage })
	switch {
	case s.OnlySim != "":
		return "only the simulator runs it: " + s.OnlySim
	case every || vm && len(full) > 0:
		return ""
	case s.Seldom && len(full) > 0:
		return "it takes long, and a kernel that has " + strings.Join(full, ", ") + ": make e2e-vm runs it"
	case s.Seldom:
		return "it takes long: " + allOfThem + "=1 runs it, without a VM"
	case vm:
		return "the lab runs it without a VM"
	}
	return ""
}

func TestWhatIsLeftOutSaysWhy(t *testing.T) {
	long, seldom, needs := &scenario.Scenario{OnlySim: "an hour is long"}, &scenario.Scenario{Seldom: true}, &scenario.Scenario{Needs: []string{"bond"}}
	both := &scenario.Scenario{Seldom: true, Needs: []string{"bond", "vlan"}}
	for _, tt := range []struct {
		s         *scenario.Scenario
		vm, every bool
		want      string
	}{
		{long, false, true, "an hour is long"},
		{seldom, false, false, allOfThem}, {seldom, false, true, ""}, {seldom, true, false, allOfThem}, {seldom, true, true, ""},
		{both, false, false, "bond, vlan: make e2e-vm"}, {both, false, true, ""}, {both, true, false, ""},
		{&scenario.Scenario{Seldom: true, Needs: []string{needsImage}}, false, false, "without a VM"},
		{&scenario.Scenario{Needs: []string{needsImage}}, false, false, ""}, {&scenario.Scenario{Needs: []string{needsImage}}, true, false, "without a VM"},
		{needs, false, false, ""}, {needs, true, false, ""},
		{&scenario.Scenario{}, true, false, "without a VM"}, {&scenario.Scenario{}, false, false, ""},
	} {
		if got := leftOut(tt.s, tt.vm, tt.every); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%+v: %q, want %q", tt, got, tt.want)
		}
	}
}

func runOn(t *testing.T, f *fleet, s *scenario.Scenario) {
	started := time.Now()
	l, err := f.take(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(started)
	for _, feature := range s.Needs {
		if err := l.lacks(t.Context(), feature); err != nil {
			where := "make e2e-vm runs it"
			if f.vm {
				where = "the lab runs it without a VM"
			}
			// All that a test prints is its reason, and those with the same one are told together.
			t.Skipf("skipped: the nodes here lack %s (%s): %s", feature, lastWords(err), where)
		}
	}
	t.Logf("a lab in %.1f s", took.Seconds())
	picture, err := scenario.Run(t.Context(), patient(s, l.slow), l, func(line string) { t.Log(line) })
	if err != nil {
		if folder := os.Getenv("NMSTATE_ARTIFACTS"); folder != "" {
			keepLogs(t, f, filepath.Join(folder, s.Name))
		}
		if err := f.drop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		t.Fatal(err)
	}
	t.Log("\n" + picture)
	compare(t, s, picture)
}

// lastWords are a program's own, without what was called and how it ended.
func lastWords(err error) string {
	text := strings.TrimSpace(err.Error())
	if _, after, failed := strings.Cut(text, ": exit status "); failed {
		_, text, _ = strings.Cut(after, ": ")
	}
	return strings.TrimSuffix(text, ".")
}

// patient is the scenario with more time for what is told in seconds of a host:
// reading a node's network alone takes seconds where the processor is emulated.
func patient(s *scenario.Scenario, slow int) *scenario.Scenario {
	if slow == 1 {
		return s
	}
	other := *s
	other.Files = map[string]string{}
	for name, text := range s.Files {
		other.Files[name] = probeTimeout.ReplaceAllStringFunc(text, func(said string) string {
			key, seconds, _ := strings.Cut(said, ": ")
			n, err := strconv.Atoi(seconds)
			if err != nil {
				return said
			}
			return fmt.Sprintf("%s: %d", key, n*slow)
		})
	}
	return &other
}

var probeTimeout = regexp.MustCompile(`probeTimeoutSeconds: \d+`)

func TestOnlyWhatIsToldInSecondsIsLongerWhereANodeIsSlow(t *testing.T) {
	s := &scenario.Scenario{Name: "a", Files: map[string]string{"x.yaml": "spec:\n  probeTimeoutSeconds: 6\n  priority: 6\n"}}
	if diff := cmp.Diff("spec:\n  probeTimeoutSeconds: 90\n  priority: 6\n", patient(s, emulated).Files["x.yaml"]); diff != "" {
		t.Error(diff)
	}
	if patient(s, 1) != s {
		t.Error("it is another one on the machine itself")
	}
}

// compare holds the end against the simulator's: a difference is a bug of one
// of them.
func compare(t *testing.T, s *scenario.Scenario, onTheLab string) {
	t.Helper()
	played, err := scenario.Play(t.Context(), s, scenario.Playing{Seed: 1})
	if err != nil {
		t.Fatalf("in the simulator: %v", err)
	}
	if diff := cmp.Diff(strings.Split(s.Comparable(played.Picture), "\n"), strings.Split(s.Comparable(onTheLab), "\n")); diff != "" {
		t.Errorf("it ends in another way than in the simulator (-):\n%s", diff)
	}
}

func keepLogs(t *testing.T, f *fleet, folder string) {
	t.Helper()
	if err := cluster.SaveLogs(f.root, f.name, folder); err != nil {
		t.Error(err)
	}
}

// needsImage is the feature of a disk that can be filled.
const needsImage = "disk-image"

// lacks tries whether a node's kernel has a feature, in a network namespace that
// goes with the try. nil means that it has it.
func (l *Lab) lacks(ctx context.Context, feature string) error {
	const pair = "ip link add v0 type veth peer name v1 && "
	tries := map[string]string{
		"bond":                  "ip link add t0 type bond",
		"bridge-vlan-filtering": "ip link add t0 type bridge && ip link set t0 type bridge vlan_filtering 1",
		"ipvlan":                pair + "ip link add link v0 name t0 type ipvlan mode l2",
		"dummy":                 "ip link add t0 type dummy",
		"vlan":                  pair + "ip link add link v0 name t0 type vlan id 5",
		"vrf":                   "ip link add t0 type vrf table 5",
	}
	switch feature {
	case needsImage:
		if l.slow > 1 {
			return errors.New("a disk in a virtual machine is a folder")
		}
		return nil
	case "own-clock":
		if l.slow == 1 {
			return errors.New("the lab's nodes have this machine's clock")
		}
		return nil
	case "ovs":
		_, err := l.cluster.Nodes()[0].Exec(ctx, "ovs-vsctl", "--timeout=5", "show")
		return err
	}
	try, ok := tries[feature]
	if !ok {
		return fmt.Errorf("nobody has told how to try it: add it here")
	}
	_, err := l.cluster.Nodes()[0].Exec(ctx, "unshare", "-n", "sh", "-c", try)
	return err
}
