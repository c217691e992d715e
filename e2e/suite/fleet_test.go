//go:build linux

package suite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/e2e/trial"
)

const (
	labName    = "suite"
	journalDir = "/var/lib/kubernetes-nmstate"
)

// oneNode has NICs beside the one that carries the API server.
const oneNode = `
nodes:
- name: node1
  nics:
  - {name: eth0, switch: lan, address: 192.0.2.11/24, address6: "2001:db8::11/64"}
  - {name: eth1, switch: lan}
  - {name: eth2, switch: lan}
switches:
- {name: lan, gateway: 192.0.2.1/24, gateway6: "2001:db8::1/64", dns: true}
services:
- {name: web, switch: lan, type: http, port: 80}
- {name: echo, switch: lan, type: echo, port: 7}
`

// threeNodes have eth1 on a segment of their own, so that all may have the
// same address there.
const threeNodes = `
nodes:
- name: node1
  nics:
  - {name: eth0, switch: lan, address: 192.0.2.11/24}
  - {name: eth1, switch: side1}
- name: node2
  nics:
  - {name: eth0, switch: lan, address: 192.0.2.12/24}
  - {name: eth1, switch: side2}
- name: node3
  nics:
  - {name: eth0, switch: lan, address: 192.0.2.13/24}
  - {name: eth1, switch: side3}
switches:
- {name: lan, gateway: 192.0.2.1/24, dns: true}
- {name: side1, gateway: 10.0.1.1/24}
- {name: side2, gateway: 10.0.2.1/24}
- {name: side3, gateway: 10.0.3.1/24}
`

// fleet is a cluster of lab nodes whose state from before is known.
type fleet struct {
	*cluster.Cluster
	topology string
	root     string
	audit    string
	pristine map[string]snapshot
	// pictures are those of nodes with an administrator's profiles.
	pictures map[string]lab.Picture
	// centralized: the cluster was switched to that mode.
	centralized bool
}

// snapshot is what must come back byte for byte.
type snapshot struct {
	Kernel   []string
	Profiles map[string]string
}

// kept is the fleet of the last spec, and current that of the running one.
var kept, current *fleet

// take returns a fleet of nodes that are as they were made: that of the last
// spec made anew, since a control plane takes long to start, or another one.
func take(ctx context.Context, topology string) *fleet {
	GinkgoHelper()
	current, kept = kept, nil
	if current != nil && (current.topology != topology || !current.renewed(ctx)) {
		current.drop(ctx)
		current = nil
	}
	if current == nil {
		newFleet(ctx, topology)
	}
	return current
}

// newFleet makes the current fleet, so that it is taken down whatever happens.
func newFleet(ctx context.Context, topology string) {
	GinkgoHelper()
	started := time.Now()
	parsed, err := lab.ParseTopology([]byte(topology))
	Expect(err).NotTo(HaveOccurred())
	root, err := os.MkdirTemp("/run", "nmstate-suite-") // short, since sockets lie in it
	Expect(err).NotTo(HaveOccurred())
	f := &fleet{topology: topology, root: root, audit: filepath.Join(root, "audit.log"), pristine: map[string]snapshot{}, pictures: map[string]lab.Picture{}}
	deploy, err := filepath.Abs("../../deploy")
	Expect(err).NotTo(HaveOccurred())
	disk, args := lab.DiskFolder, []string{"--revert-helper", filepath.Join(bin, "nmstate-revert")}
	if f.forTrials() {
		disk, args = lab.DiskImage, append(args, trial.HandlerArgs()...)
	}
	f.Cluster, err = cluster.Up(ctx, cluster.Options{
		Lab: lab.Options{
			Root: root, Name: labName, Topology: parsed, Deploy: deploy, AuditLog: f.audit, Disk: disk,
			Handler:           filepath.Join(bin, "handler"),
			HandlerArgs:       args,
			KubebuilderAssets: os.Getenv("KUBEBUILDER_ASSETS"),
		},
		Controllers:    filepath.Join(bin, "controllers"),
		ControllersLog: filepath.Join(root, "controllers.log"),
	})
	if err != nil {
		_ = os.RemoveAll(root)
	}
	if missing := (*lab.UnavailableError)(nil); errors.As(err, &missing) && os.Getenv("NMSTATE_STRICT") != "1" {
		Skip("skipped: " + err.Error())
	}
	Expect(err).NotTo(HaveOccurred())
	current = f
	Expect(f.AwaitReported(ctx)).To(Succeed())
	if f.forTrials() {
		f.administered(ctx)
	}
	for _, n := range f.Nodes() {
		f.pristine[n.Name] = snap(ctx, n)
	}
	GinkgoWriter.Printf("a new lab of %d nodes in %.1f s\n", len(f.Nodes()), time.Since(started).Seconds())
}

// forTrials: the nodes are an administrator's, one with each NetworkManager, and
// a power cut takes from their disks what was not synced.
func (f *fleet) forTrials() bool { return f.topology == string(trial.Topology) }

func snap(ctx context.Context, n *lab.Node) snapshot {
	GinkgoHelper()
	text, err := n.Settled(ctx)
	Expect(err).NotTo(HaveOccurred())
	return snapshot{Kernel: strings.Split(text, "\n"), Profiles: profiles(n)}
}

// profiles are NetworkManager's keyfiles on the node's disk, by file.
func profiles(n *lab.Node) map[string]string {
	GinkgoHelper()
	found, err := n.Profiles()
	Expect(err).NotTo(HaveOccurred())
	return found
}

// renewed makes the nodes anew: nothing of the last spec is in the API, and
// they boot from empty disks. It tells whether they are as they were then.
func (f *fleet) renewed(ctx context.Context) bool {
	GinkgoHelper()
	if f.forTrials() {
		return f.retried(ctx)
	}
	started := time.Now()
	if f.centralized {
		f.switchTo(ctx, cluster.Distributed)
	}
	for _, n := range f.Nodes() {
		Expect(n.Handler(ctx, "stop")).To(Succeed())
	}
	for _, kind := range []client.Object{
		&v1.NodeNetworkConfigurationPolicy{}, &v1.NodeNetworkConfigurationEnactment{}, &v1.NodeNetworkState{},
	} {
		Expect(f.Client.DeleteAllOf(ctx, kind)).To(Succeed())
	}
	for _, n := range f.Nodes() {
		for _, folder := range []string{"/etc", "/var"} {
			files, err := filepath.Glob(filepath.Join(n.DiskPath(folder), "*"))
			Expect(err).NotTo(HaveOccurred())
			for _, path := range files {
				// NetworkManager runs, and may just write a file of its own.
				Eventually(func() error { return os.RemoveAll(path) }).WithContext(ctx).WithTimeout(10 * time.Second).Should(Succeed())
			}
		}
		Expect(n.Reboot(ctx)).To(Succeed())
	}
	Expect(f.AwaitReported(ctx)).To(Succeed())
	for _, n := range f.Nodes() {
		if diff := cmp.Diff(f.pristine[n.Name], snap(ctx, n)); diff != "" {
			GinkgoWriter.Println("the nodes are not what they were, so there is a new lab:", diff)
			return false
		}
	}
	GinkgoWriter.Printf("%d nodes made anew in %.1f s\n", len(f.Nodes()), time.Since(started).Seconds())
	return true
}

// retried takes a spec's policies away and makes nodes anew that are not as
// they were.
func (f *fleet) retried(ctx context.Context) bool {
	GinkgoHelper()
	Expect(f.ConnectAPI(ctx)).To(Succeed())
	Expect(f.Client.DeleteAllOf(ctx, &v1.NodeNetworkConfigurationPolicy{})).To(Succeed())
	for _, n := range f.Nodes() {
		Expect(n.Power(ctx, "on")).To(Succeed())
		Expect(n.Handler(ctx, "start")).To(Succeed())
	}
	f.readministered(ctx)
	Expect(f.AwaitReported(ctx)).To(Succeed())
	return true
}

func (f *fleet) drop(ctx context.Context) {
	GinkgoHelper()
	Expect(f.Down(ctx)).To(Succeed())
	// A child of a process just killed may still write its last file.
	Eventually(func() error { return os.RemoveAll(f.root) }).WithContext(ctx).WithTimeout(10 * time.Second).Should(Succeed())
}

// node is the only node, or the first.
func (f *fleet) node() *lab.Node { return f.Nodes()[0] }

// create makes the policy of a manifest.
func (f *fleet) create(ctx context.Context, manifest string) {
	GinkgoHelper()
	var policy v1.NodeNetworkConfigurationPolicy
	Expect(yaml.UnmarshalStrict([]byte(manifest), &policy)).To(Succeed())
	Expect(f.Client.Create(ctx, &policy)).To(Succeed())
}

// edit gives the policy of the manifest's name its spec.
func (f *fleet) edit(ctx context.Context, manifest string) {
	GinkgoHelper()
	var policy, now v1.NodeNetworkConfigurationPolicy
	Expect(yaml.UnmarshalStrict([]byte(manifest), &policy)).To(Succeed())
	Eventually(ctx, func(g Gomega) {
		g.Expect(f.Client.Get(ctx, client.ObjectKey{Name: policy.Name}, &now)).To(Succeed())
		now.Spec = policy.Spec
		g.Expect(f.Client.Update(ctx, &now)).To(Succeed())
	}).Should(Succeed())
}

func (f *fleet) delete(ctx context.Context, name string) {
	GinkgoHelper()
	policy := &v1.NodeNetworkConfigurationPolicy{}
	policy.Name = name
	Expect(f.Client.Delete(ctx, policy)).To(Succeed())
}

func (f *fleet) policy(ctx context.Context, name string) (*v1.NodeNetworkConfigurationPolicy, error) {
	var policy v1.NodeNetworkConfigurationPolicy
	err := f.Client.Get(ctx, client.ObjectKey{Name: name}, &policy)
	return &policy, err
}

func (f *fleet) enactment(ctx context.Context, node, policy string) (*v1.NodeNetworkConfigurationEnactment, error) {
	var enactment v1.NodeNetworkConfigurationEnactment
	err := f.Client.Get(ctx, client.ObjectKey{Name: v1.EnactmentName(node, policy)}, &enactment)
	return &enactment, err
}

func (f *fleet) nodeState(ctx context.Context, node string) (*v1.NodeNetworkState, error) {
	var nns v1.NodeNetworkState
	err := f.Client.Get(ctx, client.ObjectKey{Name: node}, &nns)
	return &nns, err
}

func (f *fleet) mustState(ctx context.Context, n *lab.Node) *v1.NodeNetworkState {
	GinkgoHelper()
	nns, err := f.nodeState(ctx, n.Name)
	Expect(err).NotTo(HaveOccurred())
	return nns
}
