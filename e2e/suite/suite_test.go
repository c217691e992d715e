//go:build linux

package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/e2e/skipped"
)

const (
	// patience is far beyond what is normal: a test that hangs shall say what
	// it waits for, a slow machine shall pass.
	patience = 90 * time.Second
	poll     = 50 * time.Millisecond
	// specTimeout bounds a spec with everything that it waits for.
	specTimeout = 3 * time.Minute
)

// bin has the programs, once BeforeSuite has run.
var bin string

func TestMain(m *testing.M) {
	ctx := context.Background()
	if code, ok := lab.Child(ctx, os.Args); ok {
		os.Exit(code)
	}
	if len(os.Args) == 3 && os.Args[1] == nmCommand {
		os.Exit(nmMain(ctx, os.Args[2]))
	}
	os.Exit(m.Run())
}

func TestSuite(t *testing.T) {
	if err := available(); err != nil {
		if os.Getenv("NMSTATE_STRICT") == "1" {
			t.Fatal(err)
		}
		t.Skip("skipped: " + err.Error())
	}
	RegisterFailHandler(Fail)
	ctrl.SetLogger(GinkgoLogr)
	SetDefaultEventuallyTimeout(patience)
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyPollingInterval(poll)
	config, reporter := GinkgoConfiguration()
	if os.Getenv(vmWanted) != "" && len(config.FocusStrings) == 0 {
		config.FocusStrings = []string{vmReader}
	}
	RunSpecs(t, "Crash and loss cases on the lab", config, reporter)
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

var _ = BeforeSuite(func(ctx SpecContext) {
	if bin = os.Getenv("NMSTATE_BIN"); bin == "" {
		build := exec.CommandContext(ctx, "../../hack/build.sh", "handler", "controllers", "kubectl-nmstate", "lab")
		build.Stdout, build.Stderr = GinkgoWriter, GinkgoWriter
		Expect(build.Run()).To(Succeed(), "building the programs")
		bin = "../../bin"
	}
	var err error
	bin, err = filepath.Abs(bin)
	Expect(err).NotTo(HaveOccurred())
	for _, program := range []string{"handler", "controllers", "nmstate-revert", "kubectl-nmstate", "lab"} {
		Expect(filepath.Join(bin, program)).To(BeAnExistingFile())
	}
}, NodeTimeout(15*time.Minute))

var _ = AfterSuite(func(ctx SpecContext) {
	if kept != nil {
		kept.drop(ctx)
	}
}, NodeTimeout(time.Minute))

var _ = ReportAfterSuite("skipped specs", func(report Report) {
	fmt.Print(skipped.Lines(report))
})
