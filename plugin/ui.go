package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/spf13/cobra"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/ui"
)

func (p *plugin) uiCommand() *cobra.Command {
	port, readOnly := 0, true
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Show the fleet, nodes, policies, plans and drift in a browser",
		Long: `ui serves a page on this machine's loopback until it is ended, and prints its
address. It reads the cluster with your own rights and changes nothing, but for one
thing: with --read-only=false a policy that waits for a person has a button that keeps
the change, as kubectl nmstate confirm does. The address has a token in it, since
others who are logged in to this machine could ask, too. The page loads nothing from
anywhere else, and follows the cluster by itself.`,
		Example: `  kubectl nmstate ui
  kubectl nmstate ui --port 8080

  # With the button that keeps a change
  kubectl nmstate ui --read-only=false`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if port < 0 || port > 65535 {
				return fmt.Errorf("%w: --port %d: want 0 to 65535", errUsage, port)
			}
			return p.ui(cmd.Context(), port, readOnly)
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "port on the loopback; 0 for any that is free")
	cmd.Flags().BoolVar(&readOnly, "read-only", true, "show only; false adds the button that keeps a change which waits for a person")
	return cmd
}

func (p *plugin) ui(ctx context.Context, port int, readOnly bool) error {
	api, err := p.connect()
	if err != nil {
		return err
	}
	// Told at once and in one line, and not by a page that stays empty.
	if err := explained("reading the policies", api.List(ctx, &v1.NodeNetworkConfigurationPolicyList{}, client.Limit(1))); err != nil {
		return err
	}
	bell := &bell{ring: make(chan struct{})}
	held, err := p.holdAll(ctx, bell)
	if err != nil {
		return err
	}
	token, key, err := keys()
	if err != nil {
		return err
	}
	viewer := ui.Viewer{Held: held, Live: api, Follow: bell.follow, Credential: token}
	if !readOnly {
		viewer.Writer = api
	}
	handler, err := ui.New(ui.Handler{
		Viewer: func(*http.Request) (ui.Viewer, error) { return viewer, nil },
		Clock:  p.clock, Token: token, Key: key, Pace: time.Second / 2, Cluster: p.clusterName(),
	})
	if err != nil {
		return err
	}
	return ui.Serve(ctx, port, handler, func(address string) {
		fmt.Fprintf(p.Out, "%s?token=%s\n", address, handler.Token)
		fmt.Fprintln(p.ErrOut, "open this address in a browser; Ctrl-C ends it")
	})
}

// keys are a token for the address, and a key for the words of forms.
func keys() (token string, key []byte, err error) {
	made := make([]byte, 48)
	if _, err := rand.Read(made); err != nil {
		return "", nil, fmt.Errorf("making a token: %w", err)
	}
	return hex.EncodeToString(made[:16]), made[16:], nil
}

// clusterName is how the user's configuration calls the cluster.
func (p *plugin) clusterName() string {
	raw, err := p.flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return ""
	}
	name := raw.CurrentContext
	if p.flags.Context != nil && *p.flags.Context != "" {
		name = *p.flags.Context
	}
	return name
}

// bell wakes everybody who waits for the next change.
type bell struct {
	mu   sync.Mutex
	ring chan struct{}
}

func (b *bell) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ring
}

// follow tells of each ring until the context ends, and once at the beginning: what
// changed since the page was made might not change again.
func (b *bell) follow(ctx context.Context, tell func()) error {
	next := b.next()
	for tell(); ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-next:
			next = b.next()
			tell()
		}
	}
}

func (b *bell) tell() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.ring)
	b.ring = make(chan struct{})
}

// holdAll keeps all objects of our kinds at hand, of states only what a list shows.
func (p *plugin) holdAll(ctx context.Context, bell *bell) (client.Reader, error) {
	config, err := p.config()
	if err != nil {
		return nil, err
	}
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	held, err := cache.New(config, cache.Options{
		Scheme: scheme, Mapper: newMapper(), DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{&v1.NodeNetworkState{}: {Transform: small}},
	})
	if err != nil {
		return nil, fmt.Errorf("watching the cluster: %w", err)
	}
	tell := toolscache.ResourceEventHandlerFuncs{AddFunc: func(any) { bell.tell() }, UpdateFunc: func(any, any) { bell.tell() }, DeleteFunc: func(any) { bell.tell() }}
	for _, object := range []client.Object{&v1.NodeNetworkConfigurationPolicy{}, &v1.NodeNetworkConfigurationEnactment{}, &v1.NodeNetworkState{}} {
		informer, err := held.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err == nil {
			_, err = informer.AddEventHandler(tell)
		}
		if err != nil {
			return nil, fmt.Errorf("watching the cluster: %w", err)
		}
	}
	go func() { _ = held.Start(ctx) }() // It ends with the context.
	if !held.WaitForCacheSync(ctx) {
		return nil, errInterrupted
	}
	return held, nil
}

// small leaves out of a state what may have half a megabyte.
func small(object any) (any, error) {
	if state, is := object.(*v1.NodeNetworkState); is {
		state.ManagedFields = nil
		state.Status.CurrentState, state.Spec.DesiredState, state.Spec.Secrets = v1.State{}, v1.State{}, nil
		state.Status.History = nil
		for i := range state.Spec.Sources {
			state.Spec.Sources[i].Paths = nil
		}
	}
	return object, nil
}
