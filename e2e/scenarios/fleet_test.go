//go:build linux

package scenarios

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/sim/scenario"
)

// fleet lends labs: that of the last scenario made anew where the topology is
// the same, since a control plane takes long to start.
type fleet struct {
	bin, name string
	vm        bool
	root      string
	last      *Lab
	topology  string
	disk      string
	// asMade are the nodes as they were at first, and their Node objects.
	asMade  map[string]string
	objects map[string]corev1.Node
}

// take returns a lab for the scenario, in its mode.
func (f *fleet) take(ctx context.Context, s *scenario.Scenario) (*Lab, error) {
	topology, err := topologyText(s.Topology.Grown(), f.vm && slices.Contains(s.Needs, "ovs"))
	if err != nil {
		return nil, err
	}
	disk := lab.DiskFolder
	if slices.Contains(s.Needs, needsImage) && !f.vm {
		disk = lab.DiskImage
	}
	if f.last != nil && f.topology == topology && f.disk == disk && len(s.Topology.Later) == 0 && len(f.last.out) == 0 && !f.last.grown {
		if err := f.renew(ctx); err != nil {
			err = errors.Join(fmt.Errorf("the lab could not be made anew, so there is another: %w", err), f.drop(ctx))
			fmt.Fprintln(os.Stderr, err)
		}
	} else if err := f.drop(ctx); err != nil {
		return nil, err
	}
	if f.last == nil {
		f.disk = disk
		if err := f.make(ctx, topology); err != nil {
			return nil, errors.Join(err, f.drop(ctx))
		}
	}
	l := f.last
	l.grown = len(s.Topology.Later) > 0
	if err := l.keepOut(ctx, s.Topology.Later); err != nil {
		return nil, errors.Join(err, f.drop(ctx))
	}
	if err := l.Mode(ctx, s.Centralized); err != nil {
		return nil, err
	}
	l.began, l.phases = time.Now(), map[string]*lab.Phases{}
	return l, nil
}

func (f *fleet) make(ctx context.Context, topology string) error {
	parsed, err := lab.ParseTopology([]byte(topology))
	if err != nil {
		return fmt.Errorf("the scenario's topology: %w", err)
	}
	if f.root, err = os.MkdirTemp("/run", "nmstate-scenarios-"); err != nil { // short, since sockets lie in it
		return err
	}
	deploy, err := filepath.Abs("../../deploy")
	if err != nil {
		return err
	}
	l := &Lab{
		bin: f.bin, audit: filepath.Join(f.root, "audit.log"), mode: cluster.Distributed, slow: 1,
		away: map[string]bool{}, broken: map[string]string{}, out: map[string]*corev1.Node{}, pristine: map[string]map[string]string{},
	}
	if f.vm {
		l.slow = emulated
	}
	f.last, f.topology, f.asMade, f.objects = l, topology, map[string]string{}, map[string]corev1.Node{}
	l.cluster, err = cluster.Up(ctx, cluster.Options{
		Lab: lab.Options{
			Root: f.root, Name: f.name, VM: f.vm, Disk: f.disk, Topology: parsed, Deploy: deploy, AuditLog: l.audit,
			Handler:           filepath.Join(f.bin, "handler"),
			HandlerArgs:       []string{"--revert-helper", filepath.Join(f.bin, "nmstate-revert")},
			KubebuilderAssets: os.Getenv("KUBEBUILDER_ASSETS"),
		},
		Controllers:    filepath.Join(f.bin, "controllers"),
		ControllersLog: filepath.Join(f.root, "controllers.log"),
	})
	if err != nil {
		f.last = nil
		return errors.Join(err, os.RemoveAll(f.root))
	}
	if err := l.cluster.AwaitReported(ctx); err != nil {
		return err
	}
	for _, n := range l.cluster.Nodes() {
		if l.pristine[n.Name], err = n.Profiles(); err != nil {
			return err
		}
		if f.asMade[n.Name], err = l.Snapshot(ctx, n.Name); err != nil {
			return err
		}
		var object corev1.Node
		if err := l.Client().Get(ctx, client.ObjectKey{Name: n.Name}, &object); err != nil {
			return err
		}
		f.objects[n.Name] = object
	}
	return nil
}

// renew makes the nodes anew: nothing of the last scenario is in the API, and
// they boot from empty disks.
func (f *fleet) renew(ctx context.Context) error {
	l := f.last
	if err := l.putBack(ctx); err != nil {
		return err
	}
	for _, n := range l.cluster.Nodes() {
		if err := n.Handler(ctx, "stop"); err != nil {
			return err
		}
	}
	for _, kind := range []client.Object{
		&v1.NodeNetworkConfigurationPolicy{}, &v1.NodeNetworkConfigurationEnactment{}, &v1.NodeNetworkState{},
	} {
		if err := l.Client().DeleteAllOf(ctx, kind); err != nil {
			return err
		}
	}
	for _, n := range l.cluster.Nodes() {
		if err := f.renewNode(ctx, n); err != nil {
			return err
		}
	}
	if err := l.cluster.AwaitReported(ctx); err != nil {
		return err
	}
	for node, was := range f.asMade {
		now, err := l.Snapshot(ctx, node)
		if err != nil {
			return err
		}
		if now != was {
			return fmt.Errorf("%s is not what it was: %s", node, cmp.Diff(strings.Split(was, "\n"), strings.Split(now, "\n")))
		}
	}
	return nil
}

// putBack starts what was stopped and heals what was cut.
func (l *Lab) putBack(ctx context.Context) error {
	errs := []error{l.mend(ctx)}
	if l.cut {
		errs = append(errs, l.Heal(ctx))
	}
	for _, part := range []string{"apiserver", "controllers"} {
		if l.away[part] {
			errs = append(errs, l.Process(ctx, "start", part, ""))
		}
	}
	return errors.Join(append(errs, l.Mode(ctx, false))...)
}

func (f *fleet) renewNode(ctx context.Context, n *lab.Node) error {
	if err := empty(n); err != nil {
		return err
	}
	var now corev1.Node
	if err := f.last.Client().Get(ctx, client.ObjectKey{Name: n.Name}, &now); err != nil {
		return err
	}
	was := f.objects[n.Name]
	if !maps.Equal(now.Labels, was.Labels) || !maps.Equal(now.Annotations, was.Annotations) || !cmp.Equal(now.Spec, was.Spec) {
		now.Labels, now.Annotations, now.Spec = was.Labels, was.Annotations, was.Spec
		if err := f.last.Client().Update(ctx, &now); err != nil {
			return err
		}
	}
	now.Status.Conditions = was.Status.Conditions
	if err := f.last.Client().Status().Update(ctx, &now); err != nil {
		return err
	}
	return n.Reboot(ctx)
}

// drop takes the lab down, if there is one.
func (f *fleet) drop(ctx context.Context) error {
	if f.last == nil {
		return nil
	}
	l := f.last
	f.last = nil
	return errors.Join(l.cluster.Down(ctx), os.RemoveAll(f.root))
}

// topologyText is the topology as a lab's file, with Open vSwitch on its nodes or without.
func topologyText(t scenario.Topology, ovs bool) (string, error) {
	var out lab.Topology
	for _, n := range t.Nodes {
		spec := lab.NodeSpec{Name: n.Name, OpenVSwitch: ovs}
		for _, nic := range n.NICs {
			spec.NICs = append(spec.NICs, lab.NICSpec{Name: nic.Name, Switch: nic.Switch, Address: nic.Address, Address6: nic.Address6})
		}
		out.Nodes = append(out.Nodes, spec)
	}
	for _, s := range t.Switches {
		spec := lab.SwitchSpec{Name: s.Name, Gateway: s.Gateway, Gateway6: s.Gateway6, DNS: s.DNS, RA: s.RA, LACP: s.LACP}
		if s.DHCPFrom != "" {
			spec.DHCP = &lab.DHCPSpec{From: s.DHCPFrom, To: s.DHCPTo}
		}
		if s.ChassisID != "" {
			vlans, err := numbers(s.VLANs)
			if err != nil {
				return "", err
			}
			spec.LLDP = &lab.LLDPSpec{ChassisID: s.ChassisID, SystemName: s.SystemName, VLANs: vlans}
		}
		out.Switches = append(out.Switches, spec)
	}
	out.Services = []lab.ServiceSpec{
		{Name: "web", Switch: "lan", Type: "http", Port: 80}, {Name: "echo", Switch: "lan", Type: "echo", Port: 7},
	}
	text, err := yaml.Marshal(out)
	return string(text), err
}

func numbers(words []string) ([]int, error) {
	var all []int
	for _, word := range words {
		var n int
		if _, err := fmt.Sscanf(word, "%d", &n); err != nil {
			return nil, fmt.Errorf("VLAN %q: %w", word, err)
		}
		all = append(all, n)
	}
	return all, nil
}
