package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

// usageError is a command line that cannot be understood.
type usageError struct{ error }

func main() {
	// Libraries log nothing that a person has to read here.
	ctrl.SetLogger(klog.Background())
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newCommand().ExecuteContext(ctx)
	cancel()
	var usage usageError
	switch {
	case err == nil:
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "control-plane: %v; see control-plane --help\n", err)
		os.Exit(exitUsage)
	default:
		fmt.Fprintf(os.Stderr, "control-plane: %v\n", err)
		os.Exit(exitFailed)
	}
}

// version is stamped by the linker.
var version = "devel"

func newCommand() *cobra.Command {
	var options controlplane.Options
	command := &cobra.Command{
		Use:     "control-plane --dir DIR",
		Short:   "Run a real Kubernetes control plane on this machine",
		Version: version,
		Long: `Runs etcd, kube-apiserver and the garbage collector on 127.0.0.1 until Ctrl-C.

The programs come from KUBEBUILDER_ASSETS, from an earlier build, from envtest's
setup tool, or are built from their Go modules (about 10 minutes, once).

Everything is kept in DIR. The same DIR brings the same objects, port and
kubeconfig back, also after kill -9.

Exit codes: 0 ended by Ctrl-C or SIGTERM, 1 failed, 2 wrong usage.`,
		Example: `  control-plane --dir /tmp/cp
  control-plane --dir /tmp/cp --port 6443 --crds deploy/crds --audit-log /tmp/cp/audit.log
  KUBECONFIG=/tmp/cp/kubeconfig kubectl get namespaces

  control-plane stop-apiserver --dir /tmp/cp     # from another terminal
  control-plane start-apiserver --dir /tmp/cp
  control-plane stop --dir /tmp/cp`,
		Args:          noArguments,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(command *cobra.Command, _ []string) error {
			return serve(command.Context(), options, command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	flags := command.Flags()
	command.PersistentFlags().StringVar(&options.Dir, "dir", "", "folder that keeps the control plane (required)")
	flags.IntVar(&options.Port, "port", 0, "port of the API server on 127.0.0.1 (default: that of the last start, or a free one)")
	flags.StringVar(&options.CRDs, "crds", "", "folder or file of custom resource definitions to install")
	flags.StringVar(&options.AuditLog, "audit-log", "", "file to which every API request is appended")
	command.AddCommand(
		remote("stop", "Stop the control plane that runs in DIR", &options.Dir, (*controlplane.Remote).Stop),
		remote("stop-apiserver", "Stop only its API server", &options.Dir, (*controlplane.Remote).StopAPIServer),
		remote("start-apiserver", "Start its API server again", &options.Dir, (*controlplane.Remote).StartAPIServer),
		programs(),
	)
	return command
}

// noArguments refuses arguments and a missing --dir as wrong usage.
func noArguments(command *cobra.Command, arguments []string) error {
	if len(arguments) > 0 {
		return usageError{fmt.Errorf("unknown argument %q", arguments[0])}
	}
	if dir := command.Flag("dir"); dir.Value.String() == "" {
		return usageError{errors.New("--dir is missing")}
	}
	return nil
}

func remote(use, short string, dir *string, act func(*controlplane.Remote, context.Context) error) *cobra.Command {
	return &cobra.Command{
		Use:   use + " --dir DIR",
		Short: short,
		Args:  noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			running, err := controlplane.Attach(*dir)
			if err != nil {
				return err
			}
			return act(running, command.Context())
		},
	}
}

// serve runs a control plane until a signal ends it.
func serve(ctx context.Context, options controlplane.Options, out, log io.Writer) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, controlplane.SignalStopAPIServer, controlplane.SignalStartAPIServer)

	assets, err := controlplane.Locate(ctx, controlplane.Search{
		KubebuilderAssets: os.Getenv("KUBEBUILDER_ASSETS"),
		Log:               log,
	})
	if err != nil {
		return interrupted(ctx, err)
	}
	options.Assets, options.Log = assets, log
	plane, err := controlplane.Start(ctx, options)
	if err != nil {
		return interrupted(ctx, err)
	}
	defer plane.Stop()
	fmt.Fprintf(out, "KUBECONFIG=%s\n", plane.Kubeconfig())

	go func() {
		for received := range signals {
			if err := obey(ctx, plane, received); err != nil {
				fmt.Fprintf(log, "control plane: %v\n", err)
			}
		}
	}()
	return interrupted(ctx, plane.Wait(ctx))
}

func obey(ctx context.Context, plane *controlplane.ControlPlane, received os.Signal) error {
	if received == controlplane.SignalStopAPIServer {
		return plane.StopAPIServer(ctx)
	}
	return plane.StartAPIServer(ctx)
}

// interrupted is no error where a person ended the command.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
