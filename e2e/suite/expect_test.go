//go:build linux

package suite

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// table is type, status and reason of every condition, as the api-contract
// lists them.
type table map[v1.ConditionType]string

func tableOf(conditions []v1.Condition) table {
	rows := table{}
	for _, c := range conditions {
		if c.Type == v1.Reconciling || c.Type == v1.Stalled {
			continue // kstatus's words stand beside the table.
		}
		rows[c.Type] = string(c.Status) + " " + string(c.Reason)
	}
	return rows
}

var (
	policySuccess = table{
		v1.PolicyDegraded:    "False SuccessfullyConfigured",
		v1.PolicyAvailable:   "True SuccessfullyConfigured",
		v1.PolicyProgressing: "False SuccessfullyConfigured",
		v1.PolicyIgnored:     "False SuccessfullyConfigured",
	}
	policyFailed = table{
		v1.PolicyDegraded:    "True FailedToConfigure",
		v1.PolicyAvailable:   "False FailedToConfigure",
		v1.PolicyProgressing: "False ConfigurationProgressing",
		v1.PolicyIgnored:     "False FailedToConfigure",
	}
	enactmentSuccess = table{
		v1.EnactmentFailing:     "False SuccessfullyConfigured",
		v1.EnactmentAvailable:   "True SuccessfullyConfigured",
		v1.EnactmentProgressing: "False SuccessfullyConfigured",
		v1.EnactmentPending:     "False SuccessfullyConfigured",
		v1.EnactmentAborted:     "False SuccessfullyConfigured",
	}
	enactmentFailed = table{
		v1.EnactmentFailing:     "True FailedToConfigure",
		v1.EnactmentAvailable:   "False FailedToConfigure",
		v1.EnactmentProgressing: "False FailedToConfigure",
		v1.EnactmentPending:     "False FailedToConfigure",
		v1.EnactmentAborted:     "False SuccessfullyConfigured", // the older project's quirk
	}
	enactmentAborted = table{
		v1.EnactmentFailing:     "False ConfigurationAborted",
		v1.EnactmentAvailable:   "False ConfigurationAborted",
		v1.EnactmentProgressing: "False ConfigurationAborted",
		v1.EnactmentPending:     "False ConfigurationAborted",
		v1.EnactmentAborted:     "True ConfigurationAborted",
	}
)

// said is the message of a condition that is True.
func said(conditions []v1.Condition, kind v1.ConditionType) string {
	for _, c := range conditions {
		if c.Type == kind && c.Status == metav1.ConditionTrue {
			return c.Message
		}
	}
	return ""
}

// awaitPolicy waits for a policy's conditions and returns the message of the
// one that is True.
func (f *fleet) awaitPolicy(ctx context.Context, name string, want table) string {
	GinkgoHelper()
	message := ""
	Eventually(ctx, func(g Gomega) {
		policy, err := f.policy(ctx, name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(tableOf(policy.Status.Conditions)).To(Equal(want))
		g.Expect(policy.Status.ObservedGeneration).To(Equal(policy.Generation))
		message = said(policy.Status.Conditions, v1.PolicyAvailable) + said(policy.Status.Conditions, v1.PolicyDegraded)
	}).Should(Succeed())
	return message
}

// awaitEnactment waits for an enactment of the policy's newest generation with
// these conditions.
func (f *fleet) awaitEnactment(ctx context.Context, node, name string, want table) *v1.NodeNetworkConfigurationEnactment {
	GinkgoHelper()
	var found *v1.NodeNetworkConfigurationEnactment
	Eventually(ctx, func(g Gomega) {
		policy, err := f.policy(ctx, name)
		g.Expect(err).NotTo(HaveOccurred())
		found, err = f.enactment(ctx, node, name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found.Status.PolicyGeneration).To(Equal(policy.Generation))
		g.Expect(tableOf(found.Status.Conditions)).To(Equal(want), said(found.Status.Conditions, v1.EnactmentFailing))
	}).Should(Succeed())
	return found
}

// awaitFailing waits until an enactment says that it fails, whether it is
// tried again or not, and returns why.
func (f *fleet) awaitFailing(ctx context.Context, node, name string) string {
	GinkgoHelper()
	message := ""
	Eventually(ctx, func(g Gomega) {
		found, err := f.enactment(ctx, node, name)
		g.Expect(err).NotTo(HaveOccurred())
		message = said(found.Status.Conditions, v1.EnactmentFailing)
		g.Expect(message).NotTo(BeEmpty())
	}).Should(Succeed())
	Expect(message).NotTo(ContainSubstring("\n"))
	return message
}

// awaitAsBefore waits until no transaction is open on the node and the kernel
// and the profiles are byte for byte as they were.
func (f *fleet) awaitAsBefore(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	f.await(ctx, n, f.pristine[n.Name])
}

func (f *fleet) await(ctx context.Context, n *lab.Node, want snapshot) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		g.Expect(filepath.Join(n.DiskPath(journalDir), "journal.json")).NotTo(BeAnExistingFile())
		g.Expect(cmp.Diff(want, snap(ctx, n))).To(BeEmpty())
	}).Should(Succeed())
}

// expectAsBefore is for what must not have been touched at all.
func (f *fleet) expectAsBefore(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	Expect(cmp.Diff(f.pristine[n.Name], snap(ctx, n))).To(BeEmpty())
}

// awaitKernel waits until the kernel has each of these in one of its lines.
func awaitKernel(ctx context.Context, n *lab.Node, parts ...[]string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		text, err := n.Settled(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(missing(text, parts)).To(BeEmpty())
	}).Should(Succeed())
}

// missing are the parts that no line has all of.
func missing(text string, parts [][]string) [][]string {
	var without [][]string
	for _, part := range parts {
		if !hasLine(text, part) {
			without = append(without, part)
		}
	}
	return without
}

func hasLine(text string, part []string) bool {
	for line := range strings.Lines(text) {
		all := true
		for _, word := range part {
			all = all && strings.Contains(line, word)
		}
		if all {
			return true
		}
	}
	return false
}

// checkpoints are NetworkManager's, whoever made them.
func checkpoints(ctx context.Context, n *lab.Node) []string {
	GinkgoHelper()
	out, err := n.Exec(ctx, "dbus-send", "--system", "--print-reply", "--dest=org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager",
		"org.freedesktop.DBus.Properties.Get", "string:org.freedesktop.NetworkManager", "string:Checkpoints")
	Expect(err).NotTo(HaveOccurred())
	var found []string
	for word := range strings.FieldsSeq(string(out)) {
		if strings.Contains(word, "/Checkpoint/") {
			found = append(found, strings.Trim(word, `"`))
		}
	}
	return found
}

// applies counts the checkpoints that NetworkManager was asked for: every
// apply begins with one.
func applies(n *lab.Node) int {
	GinkgoHelper()
	raw, err := os.ReadFile(n.LogPath("nm"))
	Expect(err).NotTo(HaveOccurred())
	return strings.Count(string(raw), `op="checkpoint-create"`)
}
