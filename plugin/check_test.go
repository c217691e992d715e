//go:build linux

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

// TestCheckOnARealAPIServer asks one on which nothing is installed yet.
func TestCheckOnARealAPIServer(t *testing.T) {
	plane := controlplanetest.Start(t, os.Getenv, controlplane.Options{})
	check := func(args ...string) (string, int) {
		var out bytes.Buffer
		p := newPlugin(genericiooptions.IOStreams{Out: &out, ErrOut: &out}, clock.RealClock{})
		cmd := p.command()
		cmd.SetArgs(append([]string{"check", "--pre", "--kubeconfig", plane.Kubeconfig()}, args...))
		code := p.code(cmd.ExecuteContext(t.Context()))
		return out.String(), code
	}
	if text, code := check(); code != exitFailed || !strings.Contains(text, "there are none, or you may not list them") || !strings.Contains(text, "they are not there yet") {
		t.Errorf("without nodes: exit code %d\n%s", code, text)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}
	node.Status.NodeInfo = corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: "amd64", OSImage: "Debian GNU/Linux 13"}
	api := controlplanetest.Client(t, plane, client.Options{})
	status := node.DeepCopy()
	if err := api.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	status.ResourceVersion = node.ResourceVersion
	if err := api.Status().Update(t.Context(), status); err != nil {
		t.Fatal(err)
	}
	if text, code := check(); code != 0 || !strings.Contains(text, "1 linux/amd64") || !strings.Contains(text, "deploy/components/any-node") {
		t.Errorf("with a node: exit code %d\n%s", code, text)
	}
	if text, code := check("--as", "nobody", "-o", "json"); code != exitFailed || !strings.Contains(text, "you may not create namespaces") {
		t.Errorf("as nobody: exit code %d\n%s", code, text)
	}
}

func TestCheckOfWhat(t *testing.T) {
	if got, _ := run(t, nil, "", "check"); got.code != exitUsage || !strings.Contains(got.err, "--pre") {
		t.Errorf("exit code %d: %s", got.code, got.err)
	}
}
