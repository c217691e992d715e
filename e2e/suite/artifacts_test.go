//go:build linux

package suite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"

	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
)

// After each spec its fleet is kept for the next one; that of a failed spec is
// copied and taken down.
var _ = AfterEach(func(ctx SpecContext) {
	f := current
	current = nil
	switch {
	case f == nil:
	case CurrentSpecReport().Failed():
		folder := filepath.Join("..", "..", "artifacts", folderName(CurrentSpecReport().FullText()))
		f.save(ctx, folder)
		AddReportEntry("artifacts", folder)
		f.drop(ctx)
	default:
		kept = f
	}
})

func folderName(text string) string {
	name := regexp.MustCompile(`[^a-zA-Z0-9]+`).ReplaceAllString(text, "-")
	const most = 120
	return name[max(0, len(name)-most):]
}

// save copies what explains a failure. What cannot be had is left out.
func (f *fleet) save(ctx context.Context, folder string) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		GinkgoWriter.Println("no artifacts:", err)
		return
	}
	write := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			GinkgoWriter.Println("artifact", name, err)
		}
	}
	if err := cluster.SaveLogs(f.root, labName, folder); err != nil {
		GinkgoWriter.Println("artifacts:", err)
	}
	for name, path := range map[string]string{"controllers.log": filepath.Join(f.root, "controllers.log"), "audit.log": f.audit} {
		if raw, err := os.ReadFile(path); err == nil {
			write(name, raw)
		}
	}
	for _, kind := range []string{"nncp", "nnce", "nns", "nodes", "events"} {
		out, err := kubectl(ctx, f, "get", kind, "-A", "-o", "yaml").CombinedOutput()
		if err != nil {
			out = fmt.Appendf(out, "\n%v\n", err)
		}
		write(kind+".yaml", out)
	}
	for _, n := range f.Nodes() {
		text, err := n.Kernel(ctx)
		if err != nil {
			text = err.Error()
		}
		write(n.Name+"-kernel.txt", []byte(text))
		write(n.Name+"-kernel-before.txt", []byte(strings.Join(f.pristine[n.Name].Kernel, "\n")))
		for _, file := range []string{"journal.json", "record.json"} {
			if raw, err := os.ReadFile(filepath.Join(n.DiskPath(journalDir), file)); err == nil {
				write(n.Name+"-"+file, raw)
			}
		}
		for name, text := range profiles(n) {
			write(n.Name+"-profile-"+name, []byte(text))
		}
	}
}

func kubectl(ctx context.Context, f *fleet, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "kubectl", append([]string{"--kubeconfig", f.Kubeconfig()}, args...)...)
}
