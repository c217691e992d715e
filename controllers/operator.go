package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/controllers/install"
	"github.com/nmstate/kubernetes-nmstate/handler/access"
	"github.com/nmstate/kubernetes-nmstate/handler/logs"
	"github.com/nmstate/kubernetes-nmstate/handler/watch"
)

// operatorLease is the Lease that the operator's instances elect their leader by.
const operatorLease = "nmstate-operator"

// operatorOptions are the flags of the operator.
type operatorOptions struct {
	kubeconfig  string
	mode        string
	namespace   string
	pod         string
	handler     string
	controllers string
	secrets     bool
	commands    bool
	elect       bool
	healthAddr  string
	log         logs.Options
}

func operatorCommand() *cobra.Command {
	o := operatorOptions{}
	cmd := &cobra.Command{
		Use:   "operator",
		Short: "Installs the handler and the controllers as the NMState object says",
		Long: `operator installs the handler and the controllers in its own namespace, as the
cluster's NMState object says, and keeps them so. Deleting that object removes
what was installed and leaves the nodes' networks, the policies and the nodes'
reports as they are.`,
		Example: `  # In a pod: the images are those beside its own
  controllers operator

  # On a laptop
  controllers operator --kubeconfig kubeconfig --leader-elect=false \
    --handler-image registry.example/net/handler:1 --controllers-image registry.example/net/controllers:1`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return operate(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "file to reach the API server with (default: environment KUBECONFIG, then the pod's service account)")
	flags.StringVar(&o.mode, "mode", distributed, "who does the nodes' policies: each node's handler (distributed) or the controllers (centralized)")
	flags.StringVar(&o.namespace, "namespace", "nmstate", "namespace to install in, and of the Lease")
	flags.StringVar(&o.pod, "pod", "", "name of the operator's own pod, by which it finds its image")
	flags.StringVar(&o.handler, "handler-image", "", "image of the handler (default: that beside the controllers')")
	flags.StringVar(&o.controllers, "controllers-image", "", "image of the controllers (default: that of --pod)")
	flags.BoolVar(&o.secrets, "secrets", false, "let policies name Secrets of the namespace, for which the controllers need a right of their own")
	flags.BoolVar(&o.commands, "allow-commands", false, "let policies have scripts run, and libraries loaded, as root on the nodes (dispatch, dpdk-extra)")
	flags.BoolVar(&o.elect, "leader-elect", true, "act only while holding the Lease "+operatorLease)
	flags.StringVar(&o.healthAddr, "health-probe-bind-address", "0", "address for /healthz and /readyz; 0 turns it off")
	o.log.AddFlags(cmd)
	return cmd
}

func (o *operatorOptions) check() error {
	switch {
	case o.log.Check() != nil:
		return fmt.Errorf("%w: %w", errUsage, o.log.Check())
	case o.mode != distributed && o.mode != centralized:
		return fmt.Errorf("%w: --mode %q: want distributed or centralized", errUsage, o.mode)
	case o.namespace == "":
		return fmt.Errorf("%w: --namespace is empty", errUsage)
	case o.pod == "" && o.controllers == "":
		return fmt.Errorf("%w: --controllers-image is needed outside of a pod", errUsage)
	}
	return nil
}

// operate runs the operator until the context ends or the Lease is lost.
func operate(ctx context.Context, o operatorOptions) error {
	logger := o.log.Logger(os.Stderr)
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	mgr, err := o.manager()
	if err != nil {
		return err
	}
	settings := install.Settings{Namespace: o.namespace, Centralized: o.mode == centralized, Secrets: o.secrets, Commands: o.commands}
	if settings.Images, err = o.images(ctx, mgr.GetAPIReader()); err != nil {
		return err
	}
	if err := install.NewOperator(mgr.GetClient(), mgr.GetAPIReader(), clock.RealClock{}, settings).SetupWithManager(mgr); err != nil {
		return fmt.Errorf("adding the operator: %w", err)
	}
	logger.Info("Starting", "version", version, "mode", o.mode, "namespace", o.namespace, "handler", settings.Images.Handler, "controllers", settings.Images.Controllers)
	if err := watch.Run(ctx, mgr); err != nil {
		return fmt.Errorf("running the operator: %w", err)
	}
	return nil
}

func (o *operatorOptions) manager() (ctrl.Manager, error) {
	config, err := connection(o.kubeconfig)
	if err != nil {
		return nil, err
	}
	config.UserAgent = operatorLease + "/" + version
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building the scheme: %w", err)
		}
	}
	kept, err := install.Cached(o.namespace)
	if err != nil {
		return nil, err
	}
	restores := watch.NewRestores(clock.RealClock{}, &v1.NMState{})
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Cache: restores.Over(kept), HealthProbeBindAddress: o.healthAddr, Metrics: access.Metrics("0", false, clock.RealClock{}),
		LeaderElection: o.elect, LeaderElectionID: operatorLease, LeaderElectionNamespace: o.namespace, LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("preparing the operator: %w", err)
	}
	if err := errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("caches", access.CachesFilled(mgr.GetCache())), mgr.Add(restores)); err != nil {
		return nil, fmt.Errorf("adding the health checks: %w", err)
	}
	return mgr, nil
}

// images are those of the flags, and otherwise that of the operator's own pod and the
// one beside it. How the pod pulls is how the others do.
func (o *operatorOptions) images(ctx context.Context, api client.Reader) (install.Images, error) {
	images := install.Images{Handler: o.handler, Controllers: o.controllers}
	if o.pod != "" {
		pod := &corev1.Pod{}
		if err := api.Get(ctx, client.ObjectKey{Namespace: o.namespace, Name: o.pod}, pod); err != nil {
			return images, fmt.Errorf("reading the operator's own pod: %w", err)
		}
		images.PullSecrets, images.PullPolicy = pod.Spec.ImagePullSecrets, pod.Spec.Containers[0].ImagePullPolicy
		if images.Controllers == "" {
			images.Controllers = pod.Spec.Containers[0].Image
		}
	}
	if images.Handler == "" {
		var err error
		if images.Handler, err = install.HandlerImage(images.Controllers); err != nil {
			return images, fmt.Errorf("%w: %w", errUsage, err)
		}
	}
	return images, nil
}
