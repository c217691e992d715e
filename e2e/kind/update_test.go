package kind

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// before is what kind/before.sh lays out: images and deploy/ of an earlier commit.
const before = "../../out/before"

// bare is the label of a spec that installs the product itself.
const bare = "bare"

func updates() {
	It("from the commit before: policies stay and no node is touched", Label(bare), func(ctx SpecContext) {
		if k.isInstalled {
			k.beRemoved(ctx)
		}
		commit := k.bringBefore(ctx)
		k.kubectl(ctx, "apply", "-k", "/tmp/e2e/deploy/before/distributed")
		k.awaitRolledOut(ctx)
		k.awaitReported(ctx)
		k.isInstalled = true

		for _, n := range k.all() {
			n.pristine = n.snap(ctx)
		}

		w := k.workers[0]
		k.become(ctx, manifest("taken-back", on(w), bridge("e2e-back", "10.38.1.1"), reverting), "taken-back", []*node{w}, bridged("e2e-back", "10.38.1.1")...)
		k.become(ctx, manifest("kept", onWorkers, bridge("e2e-br", "10.38.0."+last, "eth1")), "kept", k.workers, bridged("e2e-br", "10.38.0."+last, "eth1")...)

		was := k.look(ctx)
		started := time.Now()
		k.apply(ctx, "deploy")
		told.say("update from "+commit+", all pods new", seconds(time.Since(started)))
		k.awaitNewHandlers(ctx)
		k.sameAs(ctx, was)

		// The new handlers know what the old ones wrote down.
		k.become(ctx, manifest("new", on(w), bridge("e2e-new", "10.38.2.1")), "new", []*node{w}, bridged("e2e-new", "10.38.2.1")...)
		Expect(w.checkpoints(ctx)).To(Equal(was.nodes[w.name].checkpoints+1), "applies: one for the new policy")
		k.delete(ctx, "taken-back")
		k.kubectl(ctx, "wait", "nnce", v1.EnactmentName(w.name, "taken-back"), "--for=delete", "--timeout=3m")
		w.awaitWithout(ctx, "e2e-back")
		w.sameBut(ctx, w.pristine, "e2e-br", "e2e-new", `"ifname":"eth1"`, `"dev":"eth1"`)
	}, SpecTimeout(specTimeout))
}

// seen is what an update has to leave as it is.
type seen struct {
	objects []string
	nodes   map[string]looked
}

// looked is a node's network as the kernel and NetworkManager have it, and how often
// anybody asked NetworkManager for anything.
type looked struct {
	kernel                  []string
	profiles                string
	operations, checkpoints int
}

func (c *cluster) look(ctx context.Context) seen {
	GinkgoHelper()
	s := seen{objects: c.objects(ctx), nodes: map[string]looked{}}
	for _, n := range c.all() {
		s.nodes[n.name] = looked{n.snap(ctx), n.profiles(ctx), n.operations(ctx), n.checkpoints(ctx)}
	}
	return s
}

// sameAs expects that nobody lost a policy, that no node's turn was taken again, and that
// NetworkManager was asked for nothing.
func (c *cluster) sameAs(ctx context.Context, was seen) {
	GinkgoHelper()
	Eventually(ctx, func() string { return cmp.Diff(was.objects, c.objects(ctx)) }).Should(BeEmpty())
	for _, n := range c.all() {
		node := was.nodes[n.name]
		n.awaitSame(ctx, node.kernel)
		Expect(cmp.Diff(node.profiles, n.profiles(ctx))).To(BeEmpty(), n.name)
		Expect(n.operations(ctx)).To(Equal(node.operations), "what NetworkManager of %s was asked for", n.name)
	}
}

// objects tells who they are, what they want, and when they last came to another verdict.
func (c *cluster) objects(ctx context.Context) (lines []string) {
	GinkgoHelper()
	verdict := func(kind string, object client.Object, conditions []v1.Condition, more ...any) {
		line := fmt.Sprintf("%s %s %s %v", kind, object.GetName(), object.GetUID(), more)
		for _, c := range conditions {
			line += fmt.Sprintf(" %s=%s since %s", c.Type, c.Status, c.LastTransitionTime.UTC().Format(time.TimeOnly))
		}
		lines = append(lines, line)
	}
	var policies v1.NodeNetworkConfigurationPolicyList
	Expect(c.List(ctx, &policies)).To(Succeed())
	for _, p := range policies.Items {
		verdict("policy", &p, p.Status.Conditions, p.Generation, string(p.Spec.DesiredState.Raw))
	}
	var enactments v1.NodeNetworkConfigurationEnactmentList
	Expect(c.List(ctx, &enactments)).To(Succeed())
	for _, e := range enactments.Items {
		verdict("enactment", &e, e.Status.Conditions, e.Status.PolicyGeneration)
	}
	var states v1.NodeNetworkStateList
	Expect(c.List(ctx, &states)).To(Succeed())
	for _, s := range states.Items {
		verdict("state", &s, nil, s.Status.AppliedSources)
	}
	slices.Sort(lines)
	return lines
}

// profiles are NetworkManager's, and their files to the bit and to the moment.
func (n *node) profiles(ctx context.Context) string {
	GinkgoHelper()
	return n.script(ctx, `nmcli -t -f UUID,NAME,DEVICE,ACTIVE,FILENAME connection show | grep -v ':veth[0-9a-f]*:' | sort
find /etc/NetworkManager/system-connections /run/NetworkManager/system-connections -type f -printf '%p %T+ ' -exec sha256sum {} \; 2>/dev/null | sort`)
}

// asked is everything that the NetworkManager that runs was ever asked to do.
func (n *node) asked(ctx context.Context) []string {
	GinkgoHelper()
	return strings.Fields(n.script(ctx, `run=$(systemctl show NetworkManager --property InvocationID --value)
journalctl _SYSTEMD_INVOCATION_ID="$run" --no-pager -o cat | sed -n 's/.*audit: op="\([^"]*\)".*/\1/p'`))
}

func (n *node) operations(ctx context.Context) int {
	GinkgoHelper()
	return len(n.asked(ctx))
}

// awaitNewHandlers waits until handlers of these images have reported.
func (c *cluster) awaitNewHandlers(ctx context.Context) {
	GinkgoHelper()
	asked := time.Now().Truncate(time.Second)
	for _, n := range c.all() {
		pod := c.awaitHandler(ctx, n, "")
		Expect(pod.Spec.Containers[0].Image).To(Equal(os.Getenv("HANDLER_IMAGE")), n.name)
		c.kubectl(ctx, "label", "nns", n.name, fmt.Sprintf("nmstate.io/force-nns-refresh=%d", asked.UnixNano()), "--overwrite")
		Eventually(ctx, func(g Gomega) {
			nns, err := c.state(ctx, n)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(nns.Status.LastSuccessfulUpdateTime.Time).NotTo(BeTemporally("<", asked), n.name)
		}).Should(Succeed())
	}
}

// bringBefore imports the images of before into all nodes, copies its deploy/ to where
// kubectl runs, and tells which commit it is of.
func (c *cluster) bringBefore(ctx context.Context) (commit string) {
	GinkgoHelper()
	said, err := os.ReadFile(filepath.Join(before, "commit"))
	Expect(err).NotTo(HaveOccurred(), "kind/before.sh makes it")
	nodes := c.all()
	failed := make([]error, len(nodes))
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() {
			for _, name := range []string{"handler", "controllers"} {
				failed[i] = errors.Join(failed[i], n.load(ctx, filepath.Join(before, name+".tar")))
			}
		})
	}
	all.Wait()
	Expect(errors.Join(failed...)).To(Succeed())
	c.bringFrom(ctx, filepath.Join(before, "deploy"))
	return string(said[:7])
}

func (n *node) load(ctx context.Context, archive string) error {
	file, err := os.Open(archive)
	if err != nil {
		return fmt.Errorf("opening an image: %w", err)
	}
	defer file.Close()
	load := exec.CommandContext(ctx, "docker", "exec", "-i", n.name, "ctr", "-n", "k8s.io", "images", "import", "--digests=false", "-")
	load.Stdin = file
	if out, err := load.CombinedOutput(); err != nil {
		return fmt.Errorf("loading %s into %s: %w: %s", archive, n.name, err, out)
	}
	return nil
}

// older are objects as the older project leaves them: a policy that a node has, its
// enactment, and the node's report. It knows no other fields.
const older = `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: older}
spec:
  nodeSelector: {kubernetes.io/hostname: %[1]s}
  maxUnavailable: 50%%
  desiredState: %[3]s
status:
  conditions:
  - {type: Available, status: "True", reason: SuccessfullyConfigured, message: 1/1 nodes successfully configured, lastHeartbeatTime: "2026-01-02T03:04:05Z", lastTransitionTime: "2026-01-02T03:04:05Z"}
  - {type: Degraded, status: "False", reason: SuccessfullyConfigured, lastHeartbeatTime: "2026-01-02T03:04:05Z", lastTransitionTime: "2026-01-02T03:04:05Z"}
  - {type: Progressing, status: "False", reason: ConfigurationProgressing, lastHeartbeatTime: "2026-01-02T03:04:05Z", lastTransitionTime: "2026-01-02T03:04:05Z"}
  - {type: Ignored, status: "False", reason: SuccessfullyConfigured, lastHeartbeatTime: "2026-01-02T03:04:05Z", lastTransitionTime: "2026-01-02T03:04:05Z"}
  lastUnavailableNodeCountUpdate: "2026-01-02T03:04:05Z"
---
apiVersion: nmstate.io/v1beta1
kind: NodeNetworkConfigurationEnactment
metadata:
  name: %[1]s.older
  labels: {nmstate.io/policy: older, nmstate.io/node: %[1]s}
  ownerReferences: [{apiVersion: v1, kind: Node, name: %[1]s, uid: %[2]s}]
status:
  policyGeneration: 1
  desiredState: %[3]s
  desiredStateMetaInfo: {version: "1", time: "2026-01-02T03:04:05Z"}
  conditions:
  - {type: Failing, status: "False", reason: SuccessfullyConfigured, lastHeartbeatTime: "2026-01-02T03:04:05Z", lastTransitionTime: "2026-01-02T03:04:05Z"}
  - {type: Available, status: "True", reason: SuccessfullyConfigured, message: successfully reconciled, lastHeartbeatTime: "2026-01-02T03:04:05Z", lastTransitionTime: "2026-01-02T03:04:05Z"}
  - {type: Progressing, status: "False", reason: SuccessfullyConfigured, lastHeartbeatTime: "2026-01-02T03:04:05Z", lastTransitionTime: "2026-01-02T03:04:05Z"}
  - {type: Pending, status: "False", reason: SuccessfullyConfigured, lastHeartbeatTime: "2026-01-02T03:04:05Z", lastTransitionTime: "2026-01-02T03:04:05Z"}
  - {type: Aborted, status: "False", reason: SuccessfullyConfigured, lastHeartbeatTime: "2026-01-02T03:04:05Z", lastTransitionTime: "2026-01-02T03:04:05Z"}
---
apiVersion: nmstate.io/v1beta1
kind: NodeNetworkState
metadata:
  name: %[1]s
  ownerReferences: [{apiVersion: v1, kind: Node, name: %[1]s, uid: %[2]s}]
status:
  currentState: %[3]s
  handlerNmstateVersion: 2.2.45
  lastSuccessfulUpdateTime: "2026-01-02T03:04:05Z"
`

func takenOver() {
	It("from the older project: its policies and enactments are taken over, and nothing is applied", func(ctx SpecContext) {
		w := k.workers[0]
		// The older project would have had nmstate apply it, as ours does.
		state := bridge("e2e-older", "10.39.0.1", "eth1")
		k.become(ctx, manifest("older", on(w), state), "older", []*node{w}, bridged("e2e-older", "10.39.0.1", "eth1")...)
		k.bring(ctx)
		k.isInstalled = false
		k.kubectl(ctx, "delete", "-k", "/tmp/e2e/deploy", "--timeout=5m")
		for _, n := range k.all() {
			Eventually(ctx, n.handlerPID).WithArguments(context.Context(ctx)).Should(BeZero())
			n.mustRun(ctx, "rm", "-rf", journalDir)
		}

		crds, err := os.ReadFile("../install/testdata/older/crds.yaml")
		Expect(err).NotTo(HaveOccurred())
		k.applyText(ctx, string(crds))
		k.kubectl(ctx, "wait", "crd", "--all", "--for=condition=Established", "--timeout=1m")
		var object corev1.Node
		Expect(k.Get(ctx, client.ObjectKey{Name: w.name}, &object)).To(Succeed())
		objects := fmt.Sprintf(older, w.name, object.UID, indented(state))
		k.applyText(ctx, objects)
		k.applyText(ctx, objects, "--server-side", "--force-conflicts", "--subresource=status")
		policy := k.kubectl(ctx, "get", "nncp", "older", "-o", "jsonpath={.metadata.uid} {.metadata.generation} {.spec}")
		was := map[string]looked{}
		for _, n := range k.all() {
			was[n.name] = looked{n.snap(ctx), n.profiles(ctx), n.operations(ctx), n.checkpoints(ctx)}
		}

		started := time.Now()
		k.apply(ctx, "deploy")
		k.isInstalled = true
		k.awaitReported(ctx)
		Expect(k.awaitPolicy(ctx, "older", v1.PolicyAvailable)).To(Equal("1/1 nodes successfully configured"))
		k.awaitEnactment(ctx, w, "older", v1.EnactmentAvailable)
		told.say("taken over from the older project", seconds(time.Since(started)))
		Expect(k.kubectl(ctx, "get", "nncp", "older", "-o", "jsonpath={.metadata.uid} {.metadata.generation} {.spec}")).To(Equal(policy))
		// Nothing is applied: nobody asked NetworkManager for anything, no checkpoint was made, and
		// the profiles' files are the same to the bit and to the moment.
		for _, n := range k.all() {
			n.awaitSame(ctx, was[n.name].kernel)
			Expect(cmp.Diff(was[n.name].profiles, n.profiles(ctx))).To(BeEmpty(), n.name)
			Expect(n.operations(ctx)).To(Equal(was[n.name].operations), "what NetworkManager of %s was asked for", n.name)
			Expect(n.checkpoints(ctx)).To(Equal(was[n.name].checkpoints), n.name)
		}
		nns := k.mustState(ctx, w)
		Expect(nns.Status.AppliedSources).To(HaveLen(1))
		Expect(nns.Status.Drift).To(BeEmpty())
		Expect(nns.Status.Transaction.Result).To(Equal(v1.TransactionCommitted))
		Expect(nns.Status.Transaction.Message).To(HavePrefix("taken over from the older project"))

		// From now on it is a policy as any other.
		k.delete(ctx, "older")
		k.kubectl(ctx, "wait", "nnce", v1.EnactmentName(w.name, "older"), "--for=delete", "--timeout=3m")
		w.awaitSame(ctx, was[w.name].kernel)
	}, SpecTimeout(specTimeout))
}

// indented is a state as the value of a key two blanks deep.
func indented(state string) string {
	return "\n    " + strings.ReplaceAll(strings.TrimSpace(state), "\n", "\n    ")
}

// applyText has kubectl apply what is not in a file.
func (c *cluster) applyText(ctx context.Context, text string, flags ...string) {
	GinkgoHelper()
	args := append([]string{"exec", "-i", c.control.name, "kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf", "apply", "-f", "-"}, flags...)
	apply := exec.CommandContext(ctx, "docker", args...)
	apply.Stdin = strings.NewReader(text)
	var said bytes.Buffer
	apply.Stdout, apply.Stderr = &said, &said
	Expect(apply.Run()).To(Succeed(), said.String)
}
