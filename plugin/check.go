package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	clientappsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	clientauthorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	clientcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

func (p *plugin) checkCommand() *cobra.Command {
	output, before := "", false
	cmd := &cobra.Command{
		Use:   "check --pre",
		Short: "Tell whether a cluster and its nodes have what an install needs",
		Long: `check --pre looks at a cluster before anything is installed: its version, your
rights, handlers and kinds that are there already, the nodes' systems, and where the
controllers can run. It changes nothing. Exit code 1 if something fails; what is
only to be known is a note.`,
		Example: "  kubectl nmstate check --pre",
		Args:    usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case checkOutput(output) != nil:
				return checkOutput(output)
			case !before:
				return fmt.Errorf("%w: check what? there is --pre, before an install; afterwards kubectl nmstate status tells", errUsage)
			}
			return p.check(cmd.Context(), output)
		},
	}
	cmd.Flags().BoolVar(&before, "pre", false, "what an install needs")
	addOutput(cmd, &output)
	return cmd
}

func (p *plugin) check(ctx context.Context, output string) error {
	cluster, err := p.before(ctx)
	if err != nil {
		return err
	}
	checks := view.PreChecks(cluster)
	if output != "" {
		if err := p.printValue(checks, output); err != nil {
			return err
		}
	} else {
		p.print(view.CheckTable(checks, p.paint()))
	}
	if slices.ContainsFunc(checks, func(c view.Check) bool { return c.Result == view.CheckFails }) {
		return errSaid
	}
	return nil
}

// before is what the cluster has before an install.
func (p *plugin) before(ctx context.Context) (view.Cluster, error) {
	var c view.Cluster
	config, err := p.config()
	if err != nil {
		return c, err
	}
	servers, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return c, fmt.Errorf("connecting to the cluster: %w", err)
	}
	found, err := servers.ServerVersion()
	if err != nil {
		return c, fmt.Errorf("connecting to the cluster: %w", err)
	}
	c.Version = found.GitVersion
	rights, err := clientauthorizationv1.NewForConfig(config)
	if err != nil {
		return c, fmt.Errorf("connecting to the cluster: %w", err)
	}
	if c.Refused, err = refused(ctx, rights); err != nil {
		return c, err
	}
	core, err := clientcorev1.NewForConfig(config)
	if err != nil {
		return c, fmt.Errorf("connecting to the cluster: %w", err)
	}
	nodes, err := core.Nodes().List(ctx, metav1.ListOptions{})
	if err != nil && !apierrors.IsForbidden(err) {
		return c, fmt.Errorf("reading the nodes: %w", err)
	}
	if err == nil {
		c.Nodes = nodes.Items
	}
	apps, err := clientappsv1.NewForConfig(config)
	if err != nil {
		return c, fmt.Errorf("connecting to the cluster: %w", err)
	}
	sets, err := apps.DaemonSets("").List(ctx, metav1.ListOptions{LabelSelector: ourPods})
	if err != nil && !apierrors.IsForbidden(err) {
		return c, fmt.Errorf("reading the DaemonSets: %w", err)
	}
	if err == nil {
		for i := range sets.Items {
			set := &sets.Items[i]
			for _, container := range set.Spec.Template.Spec.Containers {
				c.Handlers = append(c.Handlers, set.Namespace+"/"+set.Name+" "+container.Image)
			}
		}
	}
	return c, p.kindsOf(ctx, &c)
}

// kindsOf tells whether our kinds are there, and with how many policies.
func (p *plugin) kindsOf(ctx context.Context, c *view.Cluster) error {
	api, err := p.connect()
	if err != nil {
		return err
	}
	var policies v1.NodeNetworkConfigurationPolicyList
	err = api.List(ctx, &policies)
	switch {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err):
		c.Kinds = true
		return nil
	case err != nil:
		return explained("reading the policies", err)
	}
	c.Kinds, c.Policies = true, len(policies.Items)
	return nil
}

// refused are the things of an install that you may not create.
func refused(ctx context.Context, rights clientauthorizationv1.AuthorizationV1Interface) ([]string, error) {
	var all []string
	for _, one := range [][2]string{
		{"", "namespaces"}, {"", "serviceaccounts"}, {"apps", "daemonsets"}, {"apps", "deployments"}, {"rbac.authorization.k8s.io", "clusterroles"},
		{"rbac.authorization.k8s.io", "clusterrolebindings"}, {"apiextensions.k8s.io", "customresourcedefinitions"}, {"admissionregistration.k8s.io", "validatingadmissionpolicies"},
	} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Group: one[0], Resource: one[1]},
		}}
		answer, err := rights.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return nil, fmt.Errorf("asking what you may do: %w", err)
		}
		if !answer.Status.Allowed {
			name := one[1]
			if one[0] != "" {
				name += "." + one[0]
			}
			all = append(all, name)
		}
	}
	return all, nil
}
