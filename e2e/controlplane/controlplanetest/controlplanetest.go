package controlplanetest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
)

const (
	pollInterval = 50 * time.Millisecond
	// pollDeadline is generous: a test that hangs shall say what it waits for,
	// a slow machine shall pass.
	pollDeadline = 90 * time.Second
)

// Assets finds the control plane's programs, or skips the test: only with
// NMSTATE_STRICT=1 are they built, which may take ten minutes once. Tests pass
// os.Getenv.
func Assets(t testing.TB, getenv func(string) string) controlplane.Assets {
	t.Helper()
	assets, err := controlplane.Locate(t.Context(), controlplane.Search{
		KubebuilderAssets: getenv("KUBEBUILDER_ASSETS"),
		NoBuild:           getenv("NMSTATE_STRICT") != "1",
		Log:               Log(t),
	})
	if errors.Is(err, controlplane.ErrNotBuilt) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return assets
}

// Start starts a control plane that ends with the test, in a folder of its own
// unless the options name one. Tests pass os.Getenv.
func Start(t testing.TB, getenv func(string) string, options controlplane.Options) *controlplane.ControlPlane {
	t.Helper()
	if !options.Assets.Has("kube-apiserver") {
		options.Assets = Assets(t, getenv)
	}
	if options.Dir == "" {
		options.Dir = t.TempDir()
	}
	options.Log = Log(t)
	plane, err := controlplane.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Stop)
	return plane
}

// Client returns the administrator's client.
func Client(t testing.TB, plane *controlplane.ControlPlane, options client.Options) client.Client {
	t.Helper()
	config, err := plane.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	api, err := client.New(config, options)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// Eventually polls until the condition holds, and fails the test with the
// condition's last error when it has not after a generous time.
func Eventually(t testing.TB, condition func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), pollInterval, pollDeadline, true, func(ctx context.Context) (bool, error) {
		last = condition(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("not after %s: %v", pollDeadline, last)
	}
}

// Log writes lines to the log of a test.
func Log(t testing.TB) io.Writer { return lines{t} }

type lines struct{ t testing.TB }

func (w lines) Write(line []byte) (int, error) {
	w.t.Helper()
	w.t.Log(strings.TrimRight(string(line), "\n"))
	return len(line), nil
}
