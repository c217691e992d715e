package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// completionPatience is how long a shell waits for names.
const completionPatience = 3 * time.Second

// kind of objects whose names are completed.
type kind int

const (
	policies kind = iota
	nodes
)

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("building the scheme: %w", err)
	}
	return scheme, nil
}

// newMapper knows our kinds, so that no command has to ask the API server for all of its.
func newMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1.GroupVersion})
	for kind, names := range map[string][2]string{
		"NodeNetworkConfigurationPolicy":    {"nodenetworkconfigurationpolicies", "nodenetworkconfigurationpolicy"},
		"NodeNetworkConfigurationEnactment": {"nodenetworkconfigurationenactments", "nodenetworkconfigurationenactment"},
		"NodeNetworkState":                  {"nodenetworkstates", "nodenetworkstate"},
	} {
		mapper.AddSpecific(v1.GroupVersion.WithKind(kind), v1.GroupVersion.WithResource(names[0]), v1.GroupVersion.WithResource(names[1]), meta.RESTScopeRoot)
	}
	nodes := schema.GroupVersion{Version: "v1"}
	mapper.AddSpecific(nodes.WithKind("Node"), nodes.WithResource("nodes"), nodes.WithResource("node"), meta.RESTScopeRoot)
	return mapper
}

func (p *plugin) config() (*rest.Config, error) {
	config, err := p.flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w", err)
	}
	config.UserAgent = "kubectl-nmstate/" + version
	return config, nil
}

func (p *plugin) connectAPI() (client.Client, error) {
	config, err := p.config()
	if err != nil {
		return nil, err
	}
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	api, err := client.New(config, client.Options{Scheme: scheme, Mapper: newMapper()})
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return api, nil
}

// followAPI keeps the policies and enactments at hand, those of one policy where it has
// a name, and tells when something changed.
func (p *plugin) followAPI(ctx context.Context, policy string) (client.Reader, <-chan struct{}, error) {
	config, err := p.config()
	if err != nil {
		return nil, nil, err
	}
	scheme, err := newScheme()
	if err != nil {
		return nil, nil, err
	}
	options := cache.Options{Scheme: scheme, Mapper: newMapper(), DefaultTransform: cache.TransformStripManagedFields()}
	if policy != "" {
		options.ByObject = map[client.Object]cache.ByObject{
			&v1.NodeNetworkConfigurationPolicy{}:    {Field: fields.OneTermEqualSelector("metadata.name", policy)},
			&v1.NodeNetworkConfigurationEnactment{}: {Label: labels.SelectorFromSet(labels.Set{v1.EnactmentPolicyLabel: policy})},
		}
	}
	held, err := cache.New(config, options)
	if err != nil {
		return nil, nil, fmt.Errorf("watching the cluster: %w", err)
	}
	changed := make(chan struct{}, 1)
	tell := func() {
		select {
		case changed <- struct{}{}:
		default: // It is told already.
		}
	}
	for _, object := range []client.Object{&v1.NodeNetworkConfigurationPolicy{}, &v1.NodeNetworkConfigurationEnactment{}} {
		informer, err := held.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, nil, fmt.Errorf("watching the cluster: %w", err)
		}
		handler := toolscache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { tell() }, UpdateFunc: func(any, any) { tell() }, DeleteFunc: func(any) { tell() },
		}
		if _, err := informer.AddEventHandler(handler); err != nil {
			return nil, nil, fmt.Errorf("watching the cluster: %w", err)
		}
	}
	go func() { _ = held.Start(ctx) }() // It ends with the context.
	if !held.WaitForCacheSync(ctx) {
		return nil, nil, context.Cause(ctx)
	}
	return held, changed, nil
}

// explained says what a person can do about an answer of the API server.
func explained(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err) && apierrors.ReasonForError(err) == "NotFound" && noKind(err):
		return fmt.Errorf("%s: the cluster does not know our kinds; install them with: kubectl apply -k deploy", doing)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s: you may not: %w", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// noKind tells that not an object is missing but its kind: then the answer names none.
func noKind(err error) bool {
	status, is := err.(apierrors.APIStatus) //nolint:errorlint // The client returns it as it is.
	return is && (status.Status().Details == nil || status.Status().Details.Name == "")
}

// names are those of the objects in the cluster.
func (p *plugin) names(ctx context.Context, of kind) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	api, err := p.connect()
	if err != nil {
		return nil, err
	}
	var names []string
	switch of {
	case policies:
		var list v1.NodeNetworkConfigurationPolicyList
		err = api.List(ctx, &list)
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
	case nodes:
		var list v1.NodeNetworkStateList
		err = api.List(ctx, &list)
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
	}
	return names, err
}

// completeFlags completes those of kubectl's flags whose values stand in its file.
func (p *plugin) completeFlags(root *cobra.Command) {
	for _, flag := range []string{"cluster", "context", "user"} {
		_ = root.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			config, err := p.flags.ToRawKubeConfigLoader().RawConfig()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			names := map[string][]string{
				"cluster": slices.Sorted(maps.Keys(config.Clusters)),
				"context": slices.Sorted(maps.Keys(config.Contexts)),
				"user":    slices.Sorted(maps.Keys(config.AuthInfos)),
			}
			return names[flag], cobra.ShellCompDirectiveNoFileComp
		})
	}
}
