package kind

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/nmstate/kubernetes-nmstate/e2e/skipped"
)

const (
	// patience is far beyond what is normal: a spec that hangs shall say what it
	// waits for, a slow machine shall pass.
	patience = 3 * time.Minute
	poll     = 250 * time.Millisecond
	// specTimeout bounds a spec with everything that it waits for.
	specTimeout = 6 * time.Minute

	artifacts = "../../artifacts/e2e"
	deploy    = "../../deploy"
)

// settings may name another file with the cluster's settings than kind/ writes.
const settings = "NMSTATE_KIND_ENV"

func TestKind(t *testing.T) {
	if err := enter(cmp.Or(os.Getenv(settings), "../../out/kind/env")); err != nil {
		if os.Getenv("NMSTATE_STRICT") == "1" {
			t.Fatal(err)
		}
		t.Skip("skipped: " + err.Error())
	}
	RegisterFailHandler(Fail)
	ctrl.SetLogger(GinkgoLogr)
	SetDefaultEventuallyTimeout(patience)
	SetDefaultEventuallyPollingInterval(poll)
	EnforceDefaultTimeoutsWhenUsingContexts()
	suite, reporter := GinkgoConfiguration()
	if reporter.JUnitReport == "" {
		reporter.JUnitReport = filepath.Join(artifacts, "junit.xml")
	}
	if err := os.MkdirAll(artifacts, 0o755); err != nil {
		t.Fatal(err)
	}
	RunSpecs(t, "kubernetes-nmstate on kind", suite, reporter)
}

// enter takes the cluster's settings into the environment, for docker and for
// the client. KUBECONFIG alone is nobody's word that a cluster may be tested
// on: either all settings are in the environment, as make e2e exports them, or
// all are the file's.
func enter(path string) error {
	if os.Getenv("KIND_CLUSTER") != "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("there is no kind cluster to test on (make e2e makes one): %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if name, value, is := strings.Cut(strings.TrimSpace(line), "="); is && !strings.HasPrefix(name, "#") {
			if err := os.Setenv(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// The order is that of the text: who restarts nodes comes late, and uninstalling
// is the end.
var _ = Describe("kubernetes-nmstate", func() {
	BeforeEach(func(ctx SpecContext) {
		if !slices.Contains(CurrentSpecReport().Labels(), bare) {
			k.beInstalled(ctx)
		}
	}, NodeTimeout(specTimeout))
	AfterEach(func(ctx SpecContext) {
		if CurrentSpecReport().Failed() {
			k.save(ctx, filepath.Join(artifacts, folderName(CurrentSpecReport().LeafNodeText)))
		}
	}, NodeTimeout(2*time.Minute))
	AfterEach(func(ctx SpecContext) { k.tidyUp(ctx) }, NodeTimeout(bootTimeout))

	Describe("installed", Label("install"), installed)
	Describe("reports", Label("reporting"), reporting)
	Describe("a policy for each type of interface", Label("interfaces"), interfaces)
	Describe("policies", Label("policies"), policies)
	Describe("a rollout", Label("rollout"), rollouts)
	Describe("drift", Label("drift"), drift)
	Describe("connectivity", Label("connectivity"), connectivity)
	Describe("somebody with a handler's token", Label("redteam"), stolen)
	Describe("metrics", Label("metrics"), metrics)
	Describe("the handler", Label("handler"), handlers)
	Describe("NetworkManager", Label("networkmanager"), networkManager)
	Describe("the API server", Label("apiserver"), apiServer)
	Describe("the modes", Label("modes"), modes)
	Describe("kubectl nmstate", Label("plugin"), atHand)
	Describe("a node", Label("node"), nodes)
	Describe("updated", Label("update"), updates)
	Describe("taken over", Label("update"), takenOver)
	Describe("a power cut", Label("power"), powerCuts)
	Describe("the operator", Label("operator"), operator)
	Describe("uninstalled", Label("uninstall"), uninstalled)
})

// k is the cluster, once BeforeSuite has run.
var k *cluster

var _ = BeforeSuite(func(ctx SpecContext) {
	k = connect(ctx)
	k.beRemoved(ctx) // What an earlier run left behind, be it of other images.
}, NodeTimeout(specTimeout))

var _ = AfterSuite(func(ctx SpecContext) {
	if k != nil {
		k.leave(ctx)
	}
}, NodeTimeout(time.Minute))

var _ = ReportAfterSuite("skipped specs and figures", func(report Report) {
	fmt.Print(skipped.Lines(report))
	if table := told.table(); table != "" {
		fmt.Printf("\n\nFigures\n%s\n", table)
		if err := os.WriteFile(filepath.Join(artifacts, "figures.txt"), []byte(table), 0o644); err != nil {
			fmt.Println("figures:", err)
		}
	}
})

// background is for what must be done although the spec's time is over.
func background() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Minute)
}
