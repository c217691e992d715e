//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
)

func (l *Lab) controlPlaneDir() string { return filepath.Join(l.dir, roleControlPlane) }

// runControlPlane is the main of the process that holds the control plane. The
// kernel kills its children when it dies.
func runControlPlane(ctx context.Context, dir string) error {
	rec, err := readRecord(filepath.Dir(dir))
	if err != nil {
		return err
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{
		Dir:      dir,
		Assets:   controlplane.Assets{Dir: rec.Assets},
		AuditLog: rec.AuditLog,
		CRDs:     rec.CRDs,
		Log:      os.Stdout,
	})
	if err != nil {
		return err
	}
	defer plane.Stop()
	err = serve(ctx, dir, func(ctx context.Context, req request) response {
		var err error
		switch req.Verb {
		case "wait":
		case "start":
			err = plane.StartAPIServer(ctx)
		case "stop":
			err = plane.StopAPIServer(ctx)
		case "kill":
			plane.KillAPIServer()
		case "backup":
			err = plane.BackUp(ctx)
		case "restore":
			err = plane.Restore(ctx)
		default:
			err = fmt.Errorf("unknown request %q", req.Verb)
		}
		if err != nil {
			return response{Error: err.Error()}
		}
		return response{}
	})
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// startCluster starts the control plane, or takes the given one, and opens the
// way to it at the gateways.
func (l *Lab) startCluster(ctx context.Context) error {
	switch {
	case l.opts.Kubeconfig != "":
		l.rec.Kubeconfig = l.opts.Kubeconfig
	case l.opts.ControlPlane == "none":
		return nil
	default:
		if err := l.startControlPlane(ctx); err != nil {
			return fmt.Errorf("control plane: %w", err)
		}
		l.opts.Progress("control plane up")
	}
	target, err := l.apiTarget(ctx)
	if err != nil {
		return err
	}
	l.rec.APITarget = target
	if err := l.writeRecord(); err != nil {
		return err
	}
	return l.ConnectAPI(ctx)
}

func (l *Lab) startControlPlane(ctx context.Context) error {
	assets, err := controlplane.Locate(ctx, controlplane.Search{
		KubebuilderAssets: l.opts.KubebuilderAssets,
		Log:               progressWriter(l.opts.Progress),
	})
	if err != nil {
		return err
	}
	l.rec.Assets = assets.Dir
	if l.opts.Deploy != "" {
		// From the start, so that the garbage collector knows them.
		l.rec.CRDs = filepath.Join(l.opts.Deploy, "crds")
	}
	if err := l.writeRecord(); err != nil {
		return err
	}
	if err := os.MkdirAll(l.controlPlaneDir(), 0o700); err != nil {
		return fmt.Errorf("making its folder: %w", err)
	}
	// A mount namespace alone: its pid file has to hold the pid that others see.
	started, err := l.spawn(ctx, roleControlPlane, l.controlPlaneDir(), unix.CLONE_NEWNS)
	if err != nil {
		return err
	}
	if err := started.awaitReady(ctx); err != nil {
		return err
	}
	l.rec.Kubeconfig = controlplane.Files{Dir: l.controlPlaneDir()}.Kubeconfig()
	return nil
}

// Kubeconfig is the administrator's kubeconfig, empty without a cluster.
func (l *Lab) Kubeconfig() string { return l.rec.Kubeconfig }

// RESTConfig is the administrator's access to the lab's cluster, from the
// machine and not through the fabric.
func (l *Lab) RESTConfig() (*rest.Config, error) {
	if l.rec.Kubeconfig == "" {
		return nil, errors.New("this lab has no control plane")
	}
	config, err := clientcmd.BuildConfigFromFlags("", l.rec.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS = -1
	return config, nil
}

// apiTarget is what the proxy dials. Names are looked up here, since the thread
// that dials cannot.
func (l *Lab) apiTarget(ctx context.Context) (string, error) {
	config, err := l.RESTConfig()
	if err != nil {
		return "", err
	}
	u, err := url.Parse(config.Host)
	if err != nil {
		return "", fmt.Errorf("reading the API server's address: %w", err)
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	found, err := net.DefaultResolver.LookupHost(ctx, u.Hostname())
	if err != nil {
		return "", fmt.Errorf("looking up the API server: %w", err)
	}
	return net.JoinHostPort(found[0], port), nil
}

// ConnectAPI opens the way to the API server at the gateways, CutAPI closes it:
// connections are reset and new ones refused, while the API server goes on.
func (l *Lab) ConnectAPI(ctx context.Context) error { return l.proxyTo(ctx, l.rec.APITarget) }

// CutAPI is the opposite of ConnectAPI.
func (l *Lab) CutAPI(ctx context.Context) error { return l.proxyTo(ctx, "off") }

func (l *Lab) proxyTo(ctx context.Context, target string) error {
	if _, err := l.ask(ctx, l.fabricDir(), request{Verb: "api", Target: target}); err != nil {
		return fmt.Errorf("switching the way to the API server: %w", err)
	}
	return nil
}

// APIServer carries out start, stop or kill (-9) of the embedded API server, while etcd goes
// on; or it has etcd backed up, or restored from that backup. But for stop and kill it
// returns when the API server is ready.
func (l *Lab) APIServer(ctx context.Context, verb string) error {
	switch verb {
	case "start", "stop", "kill", "backup", "restore":
	default:
		return fmt.Errorf("%q is none of start, stop, kill, backup, restore", verb)
	}
	if _, err := ask(ctx, l.controlPlaneDir(), request{Verb: verb}); err != nil {
		return fmt.Errorf("%s of the API server: %w", verb, err)
	}
	return nil
}

// progressWriter passes lines on.
type progressWriter func(string)

func (w progressWriter) Write(p []byte) (int, error) {
	for line := range splitLines(string(p)) {
		w(line)
	}
	return len(p), nil
}
