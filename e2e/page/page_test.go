//go:build linux

package page

import (
	"bufio"
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
)

func TestThePageInABrowser(t *testing.T) {
	findBrowser(t)
	plane := controlplanetest.Start(t, os.Getenv, controlplane.Options{CRDs: "../../deploy/crds"})
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	api := controlplanetest.Client(t, plane, client.Options{Scheme: scheme})
	fleet(t, api)
	b := open(t, serve(t, plane.Kubeconfig()))
	tests := []struct {
		name, path string
		// holds is what is true of the page's document once it is there.
		holds string
	}{
		{"fleet", "/", `document.querySelectorAll(".tile").length == 1000 && document.querySelectorAll(".tile.drifted").length == 1`},
		{"node", "/nodes/node2", `document.querySelectorAll("svg .node.bad").length == 1 && document.body.innerText.includes("tor-a") && document.body.innerText.includes("RolledBack")`},
		{"reported", "/nodes/node1", `document.querySelectorAll("svg .node").length >= 4 && document.querySelector("#interface-br1") != null`},
		{"policies", "/policies", `document.body.innerText.includes("Progressing")`},
		{"policy", "/policies/storage", `document.querySelectorAll(".bar").length == 3 && document.body.innerText.includes("kubectl nmstate why storage")`},
		{"plans", "/plans", `document.body.innerText.includes("796f18c27b3f5cd9")`},
		{"drift", "/drift", `document.querySelectorAll("tbody tr").length == 1`},
		{"write", "/write?policy=p&kind=bond&mode=active-backup&name=bond7&ports=eth1,eth2", `document.querySelector("#yaml").textContent.includes("active-backup")`},
		{"trouble", "/nodes/nowhere", `document.querySelector("h1").textContent == "Not found"`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			b := b.in(t)
			b.visit(tc.path)
			b.await(tc.holds)
			if tc.name == "trouble" { // The browser logs each answer that is an error.
				b.wrong = nil
			}
			b.picture(tc.name, "light")
			b.picture(tc.name, "dark")
			b.check(tc.path)
		})
	}
	t.Run("the picture leads to the interface", func(t *testing.T) { leads(b.in(t)) })
	t.Run("a change is seen without a word", func(t *testing.T) { follows(b.in(t), api) })
	t.Run("the keyboard finds a node", func(t *testing.T) { keys(b.in(t)) })
	t.Run("light and dark", func(t *testing.T) { schemes(b.in(t)) })
}

// in is the browser in a part of the test.
func (b *browser) in(t *testing.T) *browser {
	return &browser{t: t, ctx: b.ctx, at: b.at, notes: b.notes}
}

// serve runs the program until the test ends, and returns the address that it prints.
func serve(t *testing.T, kubeconfig string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "kubectl-nmstate")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../plugin")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the plugin: %v\n%s", err, out)
	}
	command := exec.CommandContext(t.Context(), program, "ui", "--kubeconfig", kubeconfig)
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

func leads(b *browser) {
	b.visit("/nodes/node2")
	b.do("following the link", chromedp.Click(`svg a[href="#interface-br1"]`, chromedp.ByQuery))
	b.await(`location.hash == "#interface-br1" && document.querySelector("tr:target th").textContent == "br1"`)
	b.check("the picture")
}

// follows: what is written to the cluster shows up on a page that nobody has loaded again.
func follows(b *browser, api client.Client) {
	b.visit("/policies")
	b.do("marking the page", chromedp.Evaluate(`window.same = true`, nil))
	b.await(`document.getElementById("live").className == ""`)
	var policy v1.NodeNetworkConfigurationPolicy
	if err := api.Get(b.t.Context(), client.ObjectKey{Name: "storage"}, &policy); err != nil {
		b.t.Fatal(err)
	}
	policy.Status.Nodes = "3/4"
	if err := api.Status().Update(b.t.Context(), &policy); err != nil {
		b.t.Fatal(err)
	}
	b.await(`window.same && document.body.innerText.includes("3/4")`)
	b.check("following")
}

func keys(b *browser) {
	b.visit("/")
	// A real key types nothing where the page's script has used it; KeyEvent does so in any case.
	b.do("typing", input.DispatchKeyEvent(input.KeyRawDown).WithKey("/").WithCode("Slash"))
	b.await(`document.activeElement.id == "find"`)
	b.do("typing", chromedp.KeyEvent("node77"))
	b.await(`document.querySelectorAll(".tiles > li:not([hidden])").length == 11`)
	b.do("leaving the field", chromedp.Blur("#find", chromedp.ByQuery), chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent(kb.Enter))
	b.await(`location.pathname == "/nodes/node770"`)
	b.check("the keyboard")
}

func schemes(b *browser) {
	ground := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		b.picture("scheme", scheme)
		ground[scheme] = b.value(`getComputedStyle(document.body).backgroundColor`)
	}
	if ground["light"] != "rgb(255, 255, 255)" || ground["dark"] == ground["light"] {
		b.t.Errorf("the ground is %v", ground)
	}
}
