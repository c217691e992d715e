//go:build linux

package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// wrong is a policy that cannot be, or that comes to nothing.
type wrong struct {
	// Sentence names it.
	Sentence string `json:"-"`
	// Told is where: admission, warning, enactment, change or policy.
	Told string `json:"told"`
	// Says is a part of the message, with cause and remedy.
	Says string `json:"says"`
	// Lacks is a type of link that the kernel must lack, for the policy to be wrong.
	Lacks string `json:"lacks"`
	// Name of the policy, where that is what is wrong.
	Name string          `json:"name"`
	Spec json.RawMessage `json:"spec"`
}

func (w wrong) policy() *unstructured.Unstructured {
	GinkgoHelper()
	var spec map[string]any
	Expect(json.Unmarshal(w.Spec, &spec)).To(Succeed())
	policy := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "nmstate.io/v1", "kind": "NodeNetworkConfigurationPolicy", "metadata": map[string]any{"name": w.Name}, "spec": spec,
	}}
	return policy
}

func wrongPolicies() []wrong {
	GinkgoHelper()
	archive, err := txtar.ParseFile("testdata/wrong.txtar")
	Expect(err).NotTo(HaveOccurred())
	var all []wrong
	for i, file := range archive.Files {
		one := wrong{Sentence: file.Name, Name: fmt.Sprintf("wrong%d", i)}
		Expect(yaml.UnmarshalStrict(file.Data, &one)).To(Succeed(), file.Name)
		all = append(all, one)
	}
	return all
}

// places are what the table calls them.
var places = map[string]string{
	"admission": "admission: refused", "warning": "admission: a warning; enactment, before anything is tried",
	"enactment": "enactment, before anything is tried",
	"attempt":   "enactment, before anything is changed; it is tried again", "policy": "policy: nothing is wrong by itself",
}

var _ = Describe("A wrong policy", func() {
	It("is refused as early as somebody can tell, in words that say what to do", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		dry := f.dryRun(ctx)
		page, err := os.ReadFile("../../docs/troubleshooting.md")
		Expect(err).NotTo(HaveOccurred())
		var rows []string
		for _, w := range wrongPolicies() {
			message := "left out: the kernel of this machine has links of type " + w.Lacks
			if w.Lacks == "" || slices.Contains(f.mustState(ctx, n).Status.Capabilities.MissingLinkTypes, w.Lacks) {
				message = f.told(ctx, n, w, dry)
				Expect(message).To(ContainSubstring(w.Says), w.Sentence)
			}
			row := fmt.Sprintf("| %s | %s | %s |", w.Sentence, places[w.Told], w.Says)
			Expect(string(page)).To(ContainSubstring(row), "docs/troubleshooting.md has the row")
			rows = append(rows, row)
			GinkgoWriter.Printf("%s: %s\n", w.Sentence, message)
		}
		fmt.Printf("\n| mistake | where it is told | words |\n| --- | --- | --- |\n%s\n", strings.Join(rows, "\n"))
		f.awaitAsBefore(ctx, n)
	}, SpecTimeout(specTimeout))
})

// told is what a person reads of the policy, at the place where that is to be.
func (f *fleet) told(ctx context.Context, n *lab.Node, w wrong, dry dryRun) string {
	GinkgoHelper()
	warned, err := dry(w)
	if w.Told == "admission" {
		Expect(err).To(HaveOccurred(), w.Sentence)
		return err.Error()
	}
	Expect(err).NotTo(HaveOccurred(), w.Sentence)
	Expect(warned).To(Equal(w.Told == "warning"), w.Sentence)
	before := applies(n)
	Expect(f.Client.Create(ctx, w.policy())).To(Succeed(), w.Sentence)
	defer f.delete(ctx, w.Name)
	if w.Told == "policy" {
		return f.saidOfPolicy(ctx, w.Name)
	}
	message := f.awaitFailing(ctx, n.Name, w.Name)
	if w.Told != "attempt" {
		Expect(applies(n)).To(Equal(before), "nothing was tried: "+w.Sentence)
		Expect(message).NotTo(ContainSubstring("Retrying"), w.Sentence)
	}
	return message
}

// dryRun is kubectl apply --dry-run=server: whether the API server warned, and its
// refusal.
type dryRun func(w wrong) (warned bool, err error)

// warned takes warnings.
type warned struct{ times int }

func (w *warned) HandleWarningHeader(int, string, string) { w.times++ }

// dryRun is one that knows that the policy for admission is in effect, which takes a
// moment on a new API server.
func (f *fleet) dryRun(ctx context.Context) dryRun {
	GinkgoHelper()
	config, err := f.RESTConfig()
	Expect(err).NotTo(HaveOccurred())
	heard := &warned{}
	config.WarningHandler = heard
	c, err := client.New(config, client.Options{})
	Expect(err).NotTo(HaveOccurred())
	dry := func(w wrong) (bool, error) {
		heard.times = 0
		err := c.Create(ctx, w.policy(), client.DryRunAll, client.FieldValidation("Strict"))
		return heard.times > 0, err
	}
	Eventually(ctx, func(g Gomega) {
		is, err := dry(wrong{Name: "first", Spec: json.RawMessage(`{"desiredState":{"interface":[]}}`)})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(is).To(BeTrue(), "a warning")
	}).Should(Succeed())
	return dry
}

// saidOfPolicy is where nothing is wrong on any node.
func (f *fleet) saidOfPolicy(ctx context.Context, name string) (message string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		policy, err := f.policy(ctx, name)
		g.Expect(err).NotTo(HaveOccurred())
		message = said(policy.Status.Conditions, v1.PolicyIgnored) + said(policy.Status.Conditions, v1.PolicyAvailable)
		g.Expect(message).NotTo(BeEmpty())
	}).Should(Succeed())
	return message
}
