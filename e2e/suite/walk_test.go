//go:build linux

package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/docs"
	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// walkTimeout bounds a page with everything on it.
const walkTimeout = 8 * time.Minute

// walkedLab is the lab that the README starts, without a name.
const walkedLab = "default"

// walk is one reader who plays all pages, one after the other, on one lab.
type walk struct {
	*fleet
	reader   *reader
	examples map[string]docs.Example
	byText   map[string]string
	actions  map[string][]docs.Action
	// applied are the examples that a command has applied, by their policies.
	applied map[string]string
	// spoilt tells that a page failed half-way, so that the next one is
	// played on a new lab.
	spoilt bool
}

// Every page of the documentation is played from top to bottom, in the README's
// order, on the lab that the README starts; each leaves it as it found it.
var _ = Describe("A reader of the documentation", Ordered, ContinueOnFailure, func() {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		It("finds the README", func() { Expect(err).NotTo(HaveOccurred()) })
		return
	}
	w := &walk{}
	BeforeAll(func(ctx SpecContext) {
		if kept != nil {
			kept.drop(ctx)
			kept = nil
		}
		w.begin(ctx, docs.Pages(string(readme)))
	}, NodeTimeout(walkTimeout))
	AfterAll(func(ctx SpecContext) { w.end(ctx) }, NodeTimeout(walkTimeout))
	AfterEach(func(ctx SpecContext) {
		if CurrentSpecReport().Failed() && w.fleet != nil {
			folder := filepath.Join("..", "..", "artifacts", folderName(CurrentSpecReport().FullText()))
			w.save(ctx, folder)
			AddReportEntry("logs", cluster.SaveLogs(w.root, walkedLab, folder))
			w.spoilt = true
		}
	}, NodeTimeout(walkTimeout))
	for _, page := range docs.Pages(string(readme))[1:] {
		It("plays "+page, func(ctx SpecContext) {
			if w.spoilt {
				By("a new lab, since the last page failed half-way")
				w.drop(ctx)
				w.begin(ctx, docs.Pages(string(readme)))
			}
			w.play(ctx, page)
		}, SpecTimeout(walkTimeout))
	}
})

// read reads the examples and the pages.
func (w *walk) read(pages []string) {
	GinkgoHelper()
	all, err := docs.Examples(os.DirFS("../../docs/examples"))
	Expect(err).NotTo(HaveOccurred())
	w.spoilt = false
	w.examples, w.byText = map[string]docs.Example{}, map[string]string{}
	w.actions, w.applied = map[string][]docs.Action{}, map[string]string{}
	for _, example := range all {
		w.examples[example.Name], w.byText[example.Text] = example, example.Name
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join("../..", page))
		Expect(err).NotTo(HaveOccurred())
		w.actions[page], err = docs.Actions(string(text), w.byText)
		Expect(err).NotTo(HaveOccurred(), page)
	}
}

// begin reads the pages and plays the README, which starts the lab.
func (w *walk) begin(ctx context.Context, pages []string) {
	GinkgoHelper()
	w.read(pages)
	root, err := os.MkdirTemp("/run", "nmstate-walk-") // short, since sockets lie in it
	Expect(err).NotTo(HaveOccurred())
	w.reader = newReader(root)
	for _, action := range w.actions[pages[0]] {
		if !action.PlayedLast {
			w.do(ctx, pages[0], action)
		}
	}
	opened, err := cluster.Open(root, walkedLab)
	Expect(err).NotTo(HaveOccurred())
	w.fleet = &fleet{Cluster: opened, root: root, pristine: map[string]snapshot{}}
	Expect(w.AwaitReported(ctx)).To(Succeed())
}

// end plays what the README tells for the end, and leaves nothing behind
// whatever happened before.
func (w *walk) end(ctx context.Context) {
	GinkgoHelper()
	if w.reader == nil {
		return
	}
	defer w.drop(ctx)
	for _, action := range w.actions["README.md"] {
		if action.PlayedLast {
			w.do(ctx, "README.md", action)
		}
	}
}

// drop ends the reader's session, and takes the lab away if it is still up.
func (w *walk) drop(ctx context.Context) {
	GinkgoHelper()
	w.reader.leaves()
	Expect(cluster.Down(ctx, w.reader.root, walkedLab)).To(Succeed())
	Expect(os.RemoveAll(w.reader.root)).To(Succeed())
}

// play does what a reader of the page does, and finds the lab afterwards as it
// was before.
func (w *walk) play(ctx context.Context, page string) {
	GinkgoHelper()
	if inVM(w.actions[page]) {
		AddReportEntry("not played", "not played: it needs a virtual machine; make e2e-vm plays it (spec: "+page+")")
		return
	}
	for _, n := range w.Nodes() {
		w.pristine[n.Name] = snap(ctx, n)
	}
	defer w.withdraw(ctx)
	for _, action := range w.actions[page] {
		w.do(ctx, page, action)
	}
	By(page + " left nothing behind")
	var policies v1.NodeNetworkConfigurationPolicyList
	Expect(w.Client.List(ctx, &policies)).To(Succeed())
	Expect(policies.Items).To(BeEmpty(), "policies that the page has not deleted")
	var enactments v1.NodeNetworkConfigurationEnactmentList
	Expect(w.Client.List(ctx, &enactments)).To(Succeed())
	Expect(enactments.Items).To(BeEmpty(), "enactments that the page has not waited for")
	for _, n := range w.Nodes() {
		w.awaitAsFound(ctx, n)
		spec := w.mustState(ctx, n).Spec
		Expect(spec.Managed).To(Or(BeNil(), HaveValue(BeTrue())))
	}
}

// awaitAsFound waits until the links, addresses, routes and rules of a node are
// those that the page found.
func (w *walk) awaitAsFound(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		g.Expect(cmp.Diff(asFound(w.pristine[n.Name].Kernel), asFound(snap(ctx, n).Kernel))).To(BeEmpty())
	}).Should(Succeed())
}

// asFound leaves out what NetworkManager keeps of a link that it has once
// configured, be it that it gives it up: whether IPv6 runs on it without an
// address, and routes of its own beside the kernel's on the loopback.
func asFound(lines []string) []string {
	generated := regexp.MustCompile(`"inet6_addr_gen_mode":"[a-z0-9]+"`)
	var kept []string
	for _, line := range lines {
		loopback := strings.Contains(line, `"dev":"lo"`) && strings.Contains(line, `"metric":30`)
		if !loopback && !strings.Contains(line, `"dst":"ff00::/8"`) {
			kept = append(kept, generated.ReplaceAllString(line, ""))
		}
	}
	return kept
}

func (w *walk) do(ctx context.Context, page string, a docs.Action) {
	GinkgoHelper()
	place := fmt.Sprintf("%s:%d: ", page, a.Line)
	switch {
	case a.NotPlayed != "":
		AddReportEntry("not played", fmt.Sprintf("not played: %s (spec: %s%s%s)", a.NotPlayed, place, a.Command, a.Example))
	case a.Example != "":
		By(place + "docs/examples/" + a.Example + ".yaml")
		w.tries(ctx, place, w.examples[a.Example])
	default:
		By(place + a.Command)
		w.types(ctx, place, a)
	}
}

// types compares what a command prints with what the page shows. A reader looks
// again at what may take a moment; what a command does is done once.
func (w *walk) types(ctx context.Context, place string, a docs.Action) {
	GinkgoHelper()
	try := func() string {
		printed, status := w.reader.types(ctx, a.Command)
		GinkgoWriter.Print(printed)
		shown := strings.Join(a.Shows, "\n")
		if status != 0 && !strings.Contains(shown, "rror") {
			return fmt.Sprintf("exit status %d:\n%s", status, printed)
		}
		if a.Compared && !docs.Prints(a.Shows, printed) {
			return fmt.Sprintf("the page shows\n%s\nand this is printed:\n%s", shown, printed)
		}
		return ""
	}
	explain := place + "$ " + a.Command
	if strings.HasPrefix(a.Command, "kubectl get ") {
		Eventually(ctx, try).WithTimeout(30*time.Second).WithPolling(500*time.Millisecond).Should(BeEmpty(), explain)
	} else {
		Expect(try()).To(BeEmpty(), explain)
	}
	for _, found := range exampleApplied.FindAllStringSubmatch(a.Command, -1) {
		for _, policy := range policyNamed.FindAllStringSubmatch(w.examples[found[1]].Text, -1) {
			w.applied[policy[1]] = found[1]
		}
	}
	if awaited := policiesAwaited.FindStringSubmatch(a.Command); awaited != nil && w.fleet != nil {
		for policy := range strings.FieldsSeq(awaited[1]) {
			awaitKernel(ctx, w.node(), exampleMarks[w.applied[policy]]...)
		}
	}
}

var (
	exampleApplied  = regexp.MustCompile(`apply -f docs/examples/(\S+)\.yaml`)
	policyNamed     = regexp.MustCompile(`(?m)^  name: (\S+)$`)
	policiesAwaited = regexp.MustCompile(`^kubectl wait nncp ([^-].*?) --for condition=Available`)
)

// tries applies an example, waits for what its first line says, and takes
// it away.
func (w *walk) tries(ctx context.Context, place string, example docs.Example) {
	GinkgoHelper()
	if feature := example.Outcome.Needs; feature != "" {
		// Not a hole in this run that strict mode should fail: the machine
		// cannot hold it, whatever is installed. It is listed.
		if err := lacks(ctx, feature); err != nil {
			AddReportEntry("not played", fmt.Sprintf("needs %s, which this machine lacks: %v (spec: %s%s)", feature, err, place, example.Name))
			return
		}
		example.Outcome = docs.Outcome{Status: "Available"}
	}
	started := time.Now()
	var names []string
	for _, manifest := range example.Manifests {
		names = append(names, w.apply(ctx, manifest))
	}
	w.comesTo(ctx, example, names)
	GinkgoWriter.Printf("%s after %.1f s\n", example.Name, time.Since(started).Seconds())
	w.withdraw(ctx)
	for _, n := range w.Nodes() {
		w.awaitAsFound(ctx, n)
	}
}

// comesTo waits for an example's outcome. What a person does beside applying it
// stands on the page, which then applies it too.
func (w *walk) comesTo(ctx context.Context, example docs.Example, names []string) {
	GinkgoHelper()
	switch outcome := example.Outcome; {
	case outcome.Status == "Failing":
		w.awaitExampleFailing(ctx, names, outcome.Message)
		if len(names) == 1 {
			for _, n := range w.Nodes() {
				w.awaitAsFound(ctx, n)
			}
		}
	case outcome.Status == "Available" && (outcome.Then == docs.NoStep || outcome.Then == docs.Delete):
		for _, name := range names {
			w.awaitAvailable(ctx, name)
		}
		marks, known := exampleMarks[example.Name]
		Expect(known).To(BeTrue(), "exampleMarks has no line for %s", example.Name)
		awaitKernel(ctx, w.node(), marks...)
	default:
		Fail("the page does not show how " + example.Name + " comes to what its first line says: give it the commands")
	}
}

// What the walk left out stands at the end, in the form of a skipped spec.
var _ = ReportAfterSuite("what the walk left out", func(report Report) {
	for _, spec := range report.SpecReports {
		for _, entry := range spec.ReportEntries {
			if entry.Name == "not played" {
				fmt.Print("\n[SKIPPED] " + strings.Join(strings.Fields(entry.StringRepresentation()), " "))
			}
		}
	}
})
