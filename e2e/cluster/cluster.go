//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// Options of a cluster. Lab, Bin and Controllers are required.
type Options struct {
	// Lab is passed on; Lab.Handler and Lab.Deploy belong to it.
	Lab lab.Options
	// Controllers is the executable.
	Controllers string
	// ControllersLog is the file for what the controllers print.
	ControllersLog string
	// Mode of the handlers and the controllers: empty or Distributed, or
	// Centralized.
	Mode string
}

// Cluster is a lab with controllers.
type Cluster struct {
	*lab.Lab
	// Client is the administrator's.
	Client client.WithWatch

	root, name string
	opts       Options
}

// Up builds a cluster, after removing what is left of one with the same name.
// When it fails or ctx ends, nothing is left behind.
func Up(ctx context.Context, opts Options) (*Cluster, error) {
	if opts.Lab.Root == "" {
		opts.Lab.Root = lab.DefaultRoot
	}
	c := &Cluster{root: opts.Lab.Root, name: opts.Lab.Name, opts: opts}
	if err := endControllers(ctx, c.root, c.name); err != nil {
		return nil, err
	}
	if opts.Mode == Centralized {
		opts.Lab.HandlerArgs = append(slices.Clone(opts.Lab.HandlerArgs), "--mode", Centralized)
		if opts.Lab.Deploy != "" {
			opts.Lab.Manifests = append(slices.Clone(opts.Lab.Manifests), filepath.Join(opts.Lab.Deploy, centralizedRights))
		}
	}
	var err error
	if c.Lab, err = lab.Up(ctx, opts.Lab); err != nil {
		return nil, err
	}
	if err := c.join(ctx, opts); err != nil {
		return nil, errors.Join(err, Down(context.WithoutCancel(ctx), c.root, c.name))
	}
	return c, nil
}

func (c *Cluster) join(ctx context.Context, opts Options) error {
	if err := c.connect(); err != nil {
		return err
	}
	return c.StartControllers(ctx, opts.Mode)
}

// Open is for a lab that is up, with controllers that somebody else started.
func Open(root, name string) (*Cluster, error) {
	c := &Cluster{root: root, name: name}
	var err error
	if c.Lab, err = lab.Open(root, name); err != nil {
		return nil, err
	}
	return c, c.connect()
}

func (c *Cluster) connect() error {
	config, err := c.RESTConfig()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("preparing the client: %w", err)
		}
	}
	if c.Client, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("connecting to the API server: %w", err)
	}
	return nil
}

// Down ends the controllers and removes the lab of that name. None there is no
// error.
func Down(ctx context.Context, root, name string) error {
	if root == "" {
		root = lab.DefaultRoot
	}
	return errors.Join(endControllers(ctx, root, name), lab.Remove(ctx, root, name))
}

// Down is Down of this cluster.
func (c *Cluster) Down(ctx context.Context) error { return Down(ctx, c.root, c.name) }

// SaveLogs copies the logs of all parts of a cluster into a folder, before Down
// takes them away. What cannot be copied is left out.
func SaveLogs(root, name, folder string) error {
	if root == "" {
		root = lab.DefaultRoot
	}
	from := filepath.Join(root, name)
	logs, err := filepath.Glob(filepath.Join(from, "*", "*.log"))
	nodes, err2 := filepath.Glob(filepath.Join(from, "nodes", "*", "*.log"))
	if err := errors.Join(err, err2); err != nil {
		return fmt.Errorf("looking for logs: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("keeping the logs: %w", err)
	}
	for _, path := range append(logs, nodes...) {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // a part that died in this moment
		}
		short := strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(path, from+"/"), "nodes/"), "/", "-")
		if err := os.WriteFile(filepath.Join(folder, short), raw, 0o644); err != nil {
			return fmt.Errorf("keeping the logs: %w", err)
		}
	}
	return nil
}
