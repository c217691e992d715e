//go:build linux

package suite

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/nmstate/kubernetes-nmstate/docs"
	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
)

const (
	// vmWanted has what needs a virtual machine run, and nothing else.
	vmWanted = "NMSTATE_VM"
	vmReader = "A reader in a virtual machine"
	// vmPage is far more than a page takes where the processor is emulated.
	vmPage = 25 * time.Minute
)

// inVM tells a page that starts a lab of its own.
func inVM(actions []docs.Action) bool {
	return slices.ContainsFunc(actions, func(a docs.Action) bool { return a.InVM })
}

// A page that needs a kernel that has everything is played from top to bottom in a new
// shell. It starts its own lab, and takes it away.
var _ = Describe(vmReader, func() {
	readme, err := os.ReadFile("../../README.md")
	if os.Getenv(vmWanted) == "" || err != nil {
		return // The walk lists the pages that nobody played.
	}
	for _, page := range docs.Pages(string(readme)) {
		raw, err := os.ReadFile(filepath.Join("../..", page))
		if err != nil {
			continue // A test of the documentation says so.
		}
		actions, err := docs.Actions(string(raw), nil)
		if err != nil || !inVM(actions) {
			continue
		}
		It("plays "+page, func(ctx SpecContext) { playInVM(ctx, page) }, SpecTimeout(vmPage))
	}
})

func playInVM(ctx context.Context, page string) {
	GinkgoHelper()
	root, err := os.MkdirTemp("/run", "nmstate-page-") // short, since sockets lie in it
	Expect(err).NotTo(HaveOccurred())
	w := &walk{reader: newReader(root)}
	w.read([]string{page})
	DeferCleanup(func(ctx SpecContext) {
		w.reader.leaves()
		for _, name := range labsIn(root) {
			if CurrentSpecReport().Failed() {
				AddReportEntry("logs", cluster.SaveLogs(root, name, filepath.Join("..", "..", "artifacts", folderName(page))))
			}
			Expect(cluster.Down(ctx, root, name)).To(Succeed())
		}
		Expect(os.RemoveAll(root)).To(Succeed())
	}, NodeTimeout(time.Minute))
	for _, action := range w.actions[page] {
		w.do(ctx, page, action)
	}
	By(page + " left nothing behind")
	Expect(labsIn(root)).To(BeEmpty(), "labs that the page has not taken away")
}

// labsIn are the labs that have a folder.
func labsIn(root string) []string {
	var names []string
	entries, err := os.ReadDir(root)
	Expect(err).NotTo(HaveOccurred())
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names
}
