//go:build linux

package page

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
	"github.com/nmstate/kubernetes-nmstate/e2e/page/chromium"
)

// pictures are for people.
const pictures = "../../artifacts/page"

func TestThePageInABrowser(t *testing.T) {
	browser := chromium.Find(t, os.Getenv)
	plane := controlplanetest.Start(t, os.Getenv, controlplane.Options{CRDs: "../../deploy/crds"})
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	api := controlplanetest.Client(t, plane, client.Options{Scheme: scheme})
	fleet(t, api)
	b := chromium.Open(t, browser, serve(t, plane.Kubeconfig()))
	tests := []struct {
		name, path string
		// holds is what is true of the page's document once it is there.
		holds string
	}{
		{"fleet", "/", `document.querySelectorAll(".tile").length == 1000 && document.querySelectorAll(".tile.drifted").length == 1`},
		{"node", "/nodes/node2", `document.querySelectorAll("svg .node.bad").length == 1 && document.body.innerText.includes("tor-a") && document.body.innerText.includes("RolledBack") && document.querySelector("#interface-br1 + .settings").innerText.includes("9000")`},
		{"reported", "/nodes/node1", `document.querySelectorAll("svg .node").length >= 4 && document.querySelector("#interface-br1") != null`},
		{"policies", "/policies", `document.body.innerText.includes("Progressing")`},
		{"policy", "/policies/storage", `document.querySelectorAll(".bar").length == 3 && document.body.innerText.includes("kubectl nmstate why storage")`},
		{"plans", "/plans", `document.body.innerText.includes("796f18c27b3f5cd9")`},
		{"drift", "/drift", `document.querySelectorAll("tbody tr").length == 1`},
		{"write", "/write?policy=p&kind=bond&mode=active-backup&name=bond7&ports=eth1,eth2", `document.querySelector("#yaml").textContent.includes("active-backup") && document.querySelectorAll(".beside .group").length > 0`},
		{"trouble", "/nodes/nowhere", `document.querySelector("h1").textContent == "Not found"`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			b := b.In(t)
			b.Visit(tc.path)
			b.Await(tc.holds)
			if tc.name == "trouble" { // The browser logs each answer that is an error.
				b.Forgive()
			}
			b.Picture(pictures, tc.name, "light")
			b.Picture(pictures, tc.name, "dark")
			b.Check(tc.path)
		})
	}
	t.Run("the picture leads to the interface", func(t *testing.T) { leads(t, b.In(t)) })
	t.Run("a change is seen without a word", func(t *testing.T) { follows(t, b.In(t), api) })
	t.Run("the button keeps a change", func(t *testing.T) { confirms(t, b.In(t), api) })
	t.Run("the keyboard finds a node", func(t *testing.T) { keys(t, b.In(t)) })
	t.Run("light and dark", func(t *testing.T) { schemes(t, b.In(t)) })
}

// build makes the program.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "kubectl-nmstate")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../plugin")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the plugin: %v\n%s", err, out)
	}
	return program
}

// serve runs the program until the test ends, and returns the address that it prints.
func serve(t *testing.T, kubeconfig string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), build(t), "ui", "--read-only=false", "--kubeconfig", kubeconfig)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := command.Process.Signal(syscall.SIGINT); err != nil {
			t.Error(err)
		}
		_ = command.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "http://127.0.0.1:") {
		t.Fatalf("it prints %q, %v", line, err)
	}
	return strings.TrimSpace(line)
}

func leads(_ *testing.T, b *chromium.Browser) {
	b.Visit("/nodes/node2")
	b.Do("following the link", chromedp.Click(`svg a[href="#interface-br1"]`, chromedp.ByQuery))
	b.Await(`location.hash == "#interface-br1" && document.querySelector("tr:target th").textContent == "br1"`)
	b.Check("the picture")
}

// follows: what is written to the cluster shows up on a page that nobody has loaded again.
func follows(t *testing.T, b *chromium.Browser, api client.Client) {
	b.Visit("/policies")
	b.Do("marking the page", chromedp.Evaluate(`window.same = true`, nil))
	b.Await(`document.getElementById("live").className == ""`)
	var policy v1.NodeNetworkConfigurationPolicy
	if err := api.Get(t.Context(), client.ObjectKey{Name: "storage"}, &policy); err != nil {
		t.Fatal(err)
	}
	policy.Status.Nodes = "3/4"
	if err := api.Status().Update(t.Context(), &policy); err != nil {
		t.Fatal(err)
	}
	b.Await(`window.same && document.body.innerText.includes("3/4")`)
	b.Check("following")
}

// confirms: who is served with the right to write keeps a trial with one click.
func confirms(t *testing.T, b *chromium.Browser, api client.Client) {
	b.Visit("/policies/careful")
	b.Picture(pictures, "confirm", "light")
	b.Do("keeping the change", chromedp.Click(`form.keep button`, chromedp.ByQuery))
	b.Await(`location.pathname == "/policies/careful" && document.querySelector("h1").textContent == "careful"`)
	controlplanetest.Eventually(t, func(ctx context.Context) error {
		var policy v1.NodeNetworkConfigurationPolicy
		if err := api.Get(ctx, client.ObjectKey{Name: "careful"}, &policy); err != nil {
			return err
		}
		if policy.Annotations[v1.ConfirmAnnotation] != "1" {
			return errors.New("it is not confirmed")
		}
		return nil
	})
	b.Check("the button")
}

func keys(_ *testing.T, b *chromium.Browser) {
	b.Visit("/")
	// A real key types nothing where the page's script has used it; KeyEvent does so in any case.
	b.Repeat(input.DispatchKeyEvent(input.KeyRawDown).WithKey("/").WithCode("Slash"), `document.activeElement.id == "find"`)
	b.Do("typing", chromedp.KeyEvent("node77"))
	b.Await(`document.querySelectorAll(".tiles > li:not([hidden])").length == 11`)
	b.Do("leaving the field", chromedp.Blur("#find", chromedp.ByQuery), chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent(kb.Enter))
	b.Await(`location.pathname == "/nodes/node770"`)
	b.Check("the keyboard")
}

func schemes(t *testing.T, b *chromium.Browser) {
	ground := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		b.Picture(pictures, "scheme", scheme)
		ground[scheme] = b.Value(`getComputedStyle(document.body).backgroundColor`)
	}
	if ground["light"] != "rgb(255, 255, 255)" || ground["dark"] == ground["light"] {
		t.Errorf("the ground is %v", ground)
	}
}
