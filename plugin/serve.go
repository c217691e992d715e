package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/ui"
)

// Bounds of what serve does for strangers: requests at a time, and how long a browser
// follows the cluster before it has to show its token again.
const (
	mostRequests = 128
	longestWatch = 5 * time.Minute
	// pageOfStates is how many states one request reads: each may have half a megabyte.
	pageOfStates = 50
	slowestPace  = 5 * time.Second
)

// serveOptions are the flags of serve.
type serveOptions struct {
	listen, tlsDir string
	readOnly       bool
}

func (p *plugin) serveCommand() *cobra.Command {
	o := serveOptions{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the page to others, each with their own rights",
		Long: `serve is what the Deployment of deploy/components/page runs: the page of
kubectl nmstate ui for a team. It has no rights of its own. Each request has to carry
the token of whoever asks (Authorization: Bearer), as an authenticating proxy passes it
on, and sees what that person may see. Without a token it answers 401 to everything.
Tokens are neither logged nor kept.

It serves TLS with tls.crt and tls.key of --tls-dir, read anew for each connection, or
with a certificate that it makes itself.`,
		Example: `  kubectl nmstate serve --server https://kubernetes.default.svc \
    --certificate-authority /etc/cluster/ca.crt --tls-dir /etc/page`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return p.serve(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.listen, "listen", ":8443", "address and port to serve on")
	cmd.Flags().StringVar(&o.tlsDir, "tls-dir", "", "folder with tls.crt and tls.key; a certificate is made where they are not there")
	cmd.Flags().BoolVar(&o.readOnly, "read-only", true, "show only; false adds the button that keeps a change which waits for a person")
	return cmd
}

func (p *plugin) serve(ctx context.Context, o serveOptions) error {
	config, err := p.config()
	if err != nil {
		return err
	}
	certificate, err := certificateOf(o.tlsDir)
	if err != nil {
		return err
	}
	_, key, err := keys()
	if err != nil {
		return err
	}
	handler, err := ui.New(ui.Handler{Viewer: viewers(config, o.readOnly), Clock: p.clock, Anywhere: true, Key: key, Pace: slowestPace})
	if err != nil {
		return err
	}
	served := ui.Served{Listen: o.listen, Handler: handler, Certificate: certificate, MostRequests: mostRequests}
	return served.Serve(ctx, func(address string) { fmt.Fprintf(p.ErrOut, "serving on %s\n", address) })
}

// certificateOf is a folder's certificate, as it is at each connection, or one that is
// made now.
func certificateOf(folder string) (func(*tls.ClientHelloInfo) (*tls.Certificate, error), error) {
	cert, key, err := certutil.GenerateSelfSignedCertKey("nmstate-page", nil, []string{"localhost"})
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	made, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate that was made: %w", err)
	}
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		if folder == "" {
			return &made, nil
		}
		given, err := tls.LoadX509KeyPair(filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key"))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &made, nil
		case err != nil:
			return nil, fmt.Errorf("reading the certificate of --tls-dir: %w", err)
		}
		return &given, nil
	}, nil
}

// viewers connects for each request anew, with the token that it carries and nothing else.
func viewers(config *rest.Config, readOnly bool) func(*http.Request) (ui.Viewer, error) {
	return func(r *http.Request) (ui.Viewer, error) {
		kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if token = strings.TrimSpace(token); !strings.EqualFold(kind, "Bearer") || token == "" {
			return ui.Viewer{}, ui.ErrNoToken
		}
		own := rest.AnonymousClientConfig(config)
		own.BearerToken, own.UserAgent = token, config.UserAgent
		scheme, err := newScheme()
		if err != nil {
			return ui.Viewer{}, err
		}
		api, err := client.NewWithWatch(own, client.Options{Scheme: scheme, Mapper: newMapper()})
		if err != nil {
			return ui.Viewer{}, fmt.Errorf("connecting to the cluster: %w", err)
		}
		viewer := ui.Viewer{Held: paged{api}, Live: api, Credential: token, Follow: follower(api)}
		if !readOnly {
			viewer.Writer = api
		}
		return viewer, nil
	}
}

// paged reads the states of a large cluster in pieces, and keeps what a list shows.
type paged struct{ client.Reader }

// List reads all of a kind.
func (p paged) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	states, is := list.(*v1.NodeNetworkStateList)
	if !is {
		return p.Reader.List(ctx, list, options...)
	}
	for next := ""; ; {
		var page v1.NodeNetworkStateList
		if err := p.Reader.List(ctx, &page, append(options, client.Limit(pageOfStates), client.Continue(next))...); err != nil {
			return err
		}
		for i := range page.Items {
			if _, err := small(&page.Items[i]); err != nil {
				return err
			}
		}
		states.Items = append(states.Items, page.Items...)
		if next = page.Continue; next == "" {
			states.ListMeta = page.ListMeta
			return nil
		}
	}
}

// follower tells of each change that the viewer may watch. It reads no more of an object
// than its metadata, and ends after a while, since a token does not hold for ever.
func follower(api client.WithWatch) func(context.Context, func()) error {
	return func(ctx context.Context, tell func()) error {
		ctx, cancel := context.WithTimeout(ctx, longestWatch)
		defer cancel()
		ended := make(chan error, 3)
		for _, kind := range []string{"NodeNetworkConfigurationPolicyList", "NodeNetworkConfigurationEnactmentList", "NodeNetworkStateList"} {
			go func() { ended <- followKind(ctx, api, kind, tell) }()
		}
		return <-ended
	}
}

func followKind(ctx context.Context, api client.WithWatch, kind string, tell func()) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(v1.GroupVersion.WithKind(kind))
	if err := api.List(ctx, list, client.Limit(1)); err != nil {
		return fmt.Errorf("following the cluster: %w", err)
	}
	watched, err := api.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	if err != nil {
		return fmt.Errorf("following the cluster: %w", err)
	}
	defer watched.Stop()
	for tell(); ; { // Once at the beginning: what changed since the page was made might not change again.
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case _, open := <-watched.ResultChan():
			if !open {
				return errors.New("following the cluster: the watch has ended")
			}
			tell()
		}
	}
}
